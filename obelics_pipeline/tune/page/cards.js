// Documents as cards: what a person needs to see to decide whether to read one.
import { button, element, short, words } from "./element.js";
import { read } from "./reading.js";
import { image } from "./server.js";

export const fate = ({ stage, reason }) => (stage ? `dropped: ${words(reason ?? stage)}` : "kept by the run");

/** A list of documents; `all` is what next and previous go through, `within` tells whether a value is kept now. */
export function cards(items, { all = items, rule, within, note = fate } = {}) {
  if (!items.length) return element("p", { class: "quiet" }, "none");
  return element("ol", { class: "cards" }, items.map((item) => card(item, { all, rule, within, note })));
}

function card(item, { all, rule, within, note }) {
  const { url, language, value, what, sha256, node, mark, tokens, images } = item;
  const stays = within ? within(value) : !item.stage;
  const of = node === undefined ? note(item) : item.node_reason ? `dropped: ${words(item.node_reason)}` : "kept by the run";
  return element(
    "li",
    { class: `card ${stays ? "in" : "out"}`, "data-doc": item.doc_id, click: (event) => event.target.closest("button") ?? read(item, all, rule) },
    element("div", { class: "top" },
      value === undefined ? null : element("b", { class: "score" }, short(value)),
      element("span", {}, language ?? "no language"),
      element("span", { class: of.startsWith("dropped") ? "bad" : "good" }, of),
      mark ? element("span", { class: `mark ${mark}` }, mark) : null,
      element("small", {}, `${short(images)} images · ${short(tokens)} tokens`)),
    sha256 ? element("img", { src: image(sha256), alt: "", loading: "lazy" }) : null,
    what === undefined ? null : element("p", { class: "what", dir: "auto" }, what),
    button(url, () => read(item, all, rule), { class: "url", title: "read it" }),
  );
}

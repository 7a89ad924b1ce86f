// Documents as cards: what a person needs to see to decide whether to read one.
import { button, element, short, words } from "./element.js";
import { markOf, read } from "./reading.js";
import { image } from "./server.js";

const KEPT = "kept by the run";
export const fate = ({ stage, reason }) => (stage ? `dropped: ${words(reason ?? stage)}` : KEPT);
const fateOfNode = ({ node_reason: reason }) => (reason ? `dropped: ${words(reason)}` : KEPT);

/**
 * A list of documents. `all` is what next and previous go through, `by` the level and rule that found them, `within`
 * tells whether a value is kept now, and `note` what is said of a document.
 */
export function cards(items, { all = items, by, within, note = fate } = {}) {
  if (!items.length) return element("p", { class: "quiet" }, "none");
  return element("ol", { class: "cards" }, items.map((item) => card(item, { all, by, within, note })));
}

function card(item, { all, by, within, note }) {
  const { doc_id, url, language, page_type: kind, value, what, sha256, node, tokens, images } = item;
  const open = () => read(item, all, by);
  const stays = within ? within(value) : !item.stage;
  const said = node === undefined ? note(item) : fateOfNode(item);
  const mark = markOf(item);
  const top = element(
    "div",
    { class: "top" },
    value === undefined ? null : element("b", { class: "score" }, short(value)),
    element("span", {}, [language ?? "no language", kind].filter(Boolean).join(" · ")),
    element("span", { class: said.startsWith("dropped") ? "bad" : "good" }, said),
    element("small", {}, `${short(images)} images · ${short(tokens)} tokens`),
    mark ? element("span", { class: `mark ${mark}` }, mark) : null,
  );
  const click = ({ target }) => target.closest("button") ?? open();
  return element(
    "li",
    { class: `card ${stays ? "in" : "out"}`, "data-doc": doc_id, click },
    top,
    sha256 ? element("img", { src: image(sha256), alt: "", loading: "lazy" }) : null,
    what === undefined ? null : element("p", { class: "what", dir: "auto" }, what),
    button(url, open, { class: "url", title: "read it" }),
  );
}

// The pane to read a document in: text and images in place, what was dropped and why, and buttons to mark it.
import { button, element, short, words } from "./element.js";
import { ask, image } from "./server.js";
import { boundOf, scopeFor, sidesOf } from "./settings.js";
import { bench, weigh } from "./workbench.js";

const TAGS = { heading: "h3", quote: "blockquote", code: "pre", table: "pre" };
const pane = document.getElementById("reading");
const KEYS = { g: () => mark("good"), b: () => mark("bad"), u: () => mark(null), j: () => step(1), k: () => step(-1), Escape: close };
let [list, at, rule, item] = [[], 0, null, null];

document.addEventListener("keydown", (event) => {
  if (pane.hidden || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  KEYS[event.key]?.();
});

/** Opens a document of a list; `by` is the rule that it was found by. */
export async function read(chosen, among, by) {
  [list, at, rule] = [unique(among), 0, by ?? null];
  at = list.findIndex(({ doc_id }) => doc_id === chosen.doc_id);
  await open(chosen.node);
}

const unique = (items) => [...new Map(items.map((one) => [one.doc_id, one])).values()];

async function open(node) {
  const wanted = list[at].doc_id;
  const found = await ask("document", { doc_id: wanted, rule: rule?.name ?? null });
  if (found === undefined || list[at].doc_id !== wanted) return;
  item = found;
  show();
  pane.scrollTop = 0;
  if (node !== undefined) lookAt(node);
}

function lookAt(node) {
  const shown = pane.querySelector(`[data-node="${node}"]`);
  shown?.classList.add("sought");
  shown?.scrollIntoView({ block: "center" });
}

export function close() {
  pane.hidden = true;
  showOpen(null);
}

function step(by) {
  const next = at + by;
  if (next < 0 || next >= list.length) return;
  at = next;
  open();
}

async function mark(value) {
  const { doc_id } = item;
  if ((await ask("mark", { doc_id, mark: value })) === undefined) return;
  for (const one of [...list, item]) if (one.doc_id === doc_id) one.mark = value;
  for (const card of document.querySelectorAll(`[data-doc="${doc_id}"] .top`)) {
    card.querySelector(".mark")?.remove();
    if (value) card.append(element("span", { class: `mark ${value}` }, value));
  }
  if (item.doc_id === doc_id) showMarks();
  weigh();
}

function showOpen(doc_id) {
  for (const card of document.querySelectorAll("[data-doc]")) card.classList.toggle("open", card.dataset.doc === doc_id);
}

function showMarks() {
  for (const one of pane.querySelectorAll("[data-mark]")) one.setAttribute("aria-pressed", String(one.dataset.mark === (item.mark ?? "")));
}

function show() {
  const marking = [["good", "Good", "g"], ["bad", "Bad", "b"], ["", "No mark", "u"]].map(([value, label, key]) =>
    button(label, () => mark(value || null), { "data-mark": value, title: `key ${key}` }));
  pane.replaceChildren(
    element("div", { class: "bar-top" },
      ...marking,
      element("span", { class: "gap" }),
      button("‹ Previous", () => step(-1), { title: "key k", disabled: at === 0 }),
      element("small", {}, `${at + 1} of ${list.length}`),
      button("Next ›", () => step(1), { title: "key j", disabled: at === list.length - 1 }),
      button("Close", close, { title: "key Escape" })),
    element("h2", { dir: "auto" }, item.title || "(no title)"),
    element("p", { class: "quiet url" }, item.url),
    element("p", {}, element("b", { class: item.stage ? "bad" : "good" }, item.stage ? `dropped in ${item.stage}: ${words(item.reason ?? "")}` : "kept by the run"),
      element("small", {}, ` · ${item.language ?? "no language"} · ${item.images} images · ${short(item.tokens)} tokens`)),
    scores(),
    element("div", { class: "text" }, item.nodes.map((node, i) => (node.kind === "text" ? text(node, i) : picture(node, i)))),
  );
  pane.hidden = false;
  showOpen(item.doc_id);
  showMarks();
}

function scores() {
  const rows = Object.entries(item.scores).map(([name, value]) => {
    const of = bench.about.document.find((one) => one.name === name);
    const bounds = of ? sidesOf(of).map((side) => [side, boundOf(of, scopeFor(of, item.language), side)]).filter(([, bound]) => bound !== null) : [];
    const out = bounds.some(([side, bound]) => ({ min: value < bound, max: value > bound, below: value >= bound })[side]);
    return element("tr", { class: `${out ? "bad" : ""} ${name === rule?.name ? "sought" : ""}` }, element("th", { scope: "row" }, words(name)),
      element("td", { class: "number" }, short(value)), element("td", {}, bounds.map(([side, bound]) => `${side} ${short(bound)}`).join(", ")));
  });
  return element("details", { class: "scores", open: true }, element("summary", {}, "Scores, and their bounds now"), element("table", {}, rows));
}

const why = ({ reason, of }) => (reason ? element("small", { class: "why" }, words(reason), of ? ` of ${of}` : "") : null);

function text(node, i) {
  if (node.role === "end_of_document") return element("hr");
  const tag = TAGS[node.role] ?? "p";
  const parts = node.parts.map((part) => (part.marked ? element("mark", {}, part.text) : part.text));
  const cut = node.cut ? element("small", {}, ` … and ${short(node.cut)} more characters`) : null;
  return element("div", { class: `node ${node.role} ${node.reason ? "no" : ""}`, "data-node": i }, why(node), element(tag, { dir: "auto" }, parts, cut));
}

function picture(node, i) {
  const { sha256, url, alt, width, height, format } = node;
  const size = width ? `${width} × ${height} ${format ?? ""}` : "";
  const shown = sha256
    ? element("img", { src: image(sha256), alt, width, height, loading: "lazy" })
    : element("div", { class: "unfetched" }, url, element("small", {}, "not fetched"));
  return element("figure", { class: node.reason ? "node no" : "node", "data-node": i }, why(node), shown,
    element("figcaption", { dir: "auto" }, [alt, size].filter(Boolean).join(" · ")));
}

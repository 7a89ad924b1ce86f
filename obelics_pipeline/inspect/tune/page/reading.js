// The pane to read a document in: text and images in place, what was dropped and why, and buttons to mark it.
import { button, element, short, words } from "./element.js";
import { ask, image } from "./server.js";
import { boundOf, boundsText, holds, scopeFor, sidesOf } from "./settings.js";
import { bench, weigh } from "./workbench.js";

const TAGS = { heading: "h3", quote: "blockquote", code: "pre", table: "pre" };
const pane = document.getElementById("reading");
const MARKS = [["good", "Good", "g"], ["bad", "Bad", "b"], ["", "No mark", "u"]]; // mark, label, key
const KEYS = { j: () => step(1), k: () => step(-1), Escape: close };
for (const [value, , key] of MARKS) KEYS[key] = () => mark(value || null);
const marked = new Map(); // doc_id -> what was marked on this page
let [list, at, found_by, item] = [[], 0, {}, null];

export const markOf = ({ doc_id, mark: before }) => (marked.has(doc_id) ? marked.get(doc_id) : before);

document.addEventListener("keydown", (event) => {
  const typing = event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select");
  if (!pane.hidden && !typing) KEYS[event.key]?.();
});

/** Opens a document of a list; `by` is the level and the rule that it was found by. */
export async function read(chosen, among, by) {
  [list, at, found_by] = [unique(among), 0, by ?? {}];
  at = list.findIndex(({ doc_id }) => doc_id === chosen.doc_id);
  await open(chosen.node);
}

const unique = (items) => [...new Map(items.map((one) => [one.doc_id, one])).values()];

async function open(node) {
  const wanted = list[at].doc_id;
  const found = await ask("document", { doc_id: wanted, ...found_by });
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
  const { doc_id } = list[at]; // the one that was asked for, if it is not shown yet
  if ((await ask("mark", { doc_id, mark: value })) === undefined) return;
  marked.set(doc_id, value);
  for (const card of document.querySelectorAll(`[data-doc="${doc_id}"] .top`)) {
    card.querySelector(".mark")?.remove();
    if (value) card.append(element("span", { class: `mark ${value}` }, value));
  }
  showMarks();
  weigh();
}

function showOpen(doc_id) {
  for (const card of document.querySelectorAll("[data-doc]"))
    card.classList.toggle("open", card.dataset.doc === doc_id);
}

function showMarks() {
  const mark_ = markOf(item) ?? "";
  for (const one of pane.querySelectorAll("[data-mark]"))
    one.setAttribute("aria-pressed", String(one.dataset.mark === mark_));
}

function show() {
  const marking = MARKS.map(([value, label, key]) =>
    button(label, () => mark(value || null), { "data-mark": value, title: `key ${key}` }),
  );
  const bar = element(
    "div",
    { class: "bar-top" },
    ...marking,
    element("span", { class: "gap" }),
    button("‹ Previous", () => step(-1), { title: "key k", disabled: at === 0 }),
    element("small", {}, `${at + 1} of ${list.length}`),
    button("Next ›", () => step(1), { title: "key j", disabled: at === list.length - 1 }),
    button("Close", close, { title: "key Escape" }),
  );
  const { title, url, stage, reason, language, page_type: kind, images, tokens, nodes } = item;
  const fate = stage ? `dropped in ${stage}: ${words(reason ?? "")}` : "kept by the run";
  const facts = ` · ${[language ?? "no language", kind].filter(Boolean).join(" · ")} · ${images} images · ${short(tokens)} tokens`;
  const marks = nodes.some(({ parts }) => parts?.some((part) => part.marked));
  const content = element(
    "div",
    {},
    bar,
    element("h2", { dir: "auto" }, title || "(no title)"),
    element("p", { class: "quiet url" }, url),
    element("p", {}, element("b", { class: stage ? "bad" : "good" }, fate), element("small", {}, facts)),
    scores(),
    marks ? counted() : null,
    element("div", { class: "text" }, nodes.map((node, i) => (node.kind === "text" ? text : picture)(node, i))),
  );
  pane.replaceChildren(content);
  pane.hidden = false;
  showOpen(item.doc_id);
  showMarks();
}

const counted = () =>
  element("p", { class: "quiet" }, element("mark", {}, "marked"), `: what counts for ${words(found_by.rule)}`);

function scores() {
  const rows = Object.entries(item.scores).map(([name, value]) => {
    const rule = bench.about.document.find((one) => one.name === name);
    const scope = rule && scopeFor(rule, item.language);
    const bounds = Object.fromEntries(rule ? sidesOf(rule).map((side) => [side, boundOf(rule, scope, side)]) : []);
    const sought = found_by.level === "document" && name === found_by.rule;
    return element(
      "tr",
      { class: `${holds(bounds, value) ? "" : "bad"} ${sought ? "sought" : ""}` },
      element("th", { scope: "row" }, words(name)),
      element("td", { class: "number" }, short(value)),
      element("td", {}, rule ? boundsText(rule, scope) : ""),
    );
  });
  const summary = element("summary", {}, "Scores, and their bounds now");
  return element("details", { class: "scores", open: true }, summary, element("table", {}, rows));
}

const why = ({ reason, duplicate_of: of }) =>
  reason ? element("small", { class: "why" }, `${words(reason)}${of ? ` of ${of}` : ""}`) : null;

function text(node, i) {
  if (node.role === "end_of_document") return element("hr");
  const tag = TAGS[node.role] ?? "p";
  const parts = node.parts.map((part) => (part.marked ? element("mark", {}, part.text) : part.text));
  const cut = node.cut ? element("small", {}, ` … and ${short(node.cut)} more characters`) : null;
  const kind = `node ${node.role} ${node.reason ? "no" : ""}`;
  return element("div", { class: kind, "data-node": i }, why(node), element(tag, { dir: "auto" }, parts, cut));
}

function picture(node, i) {
  const { sha256, url, alt, width, height, format, scores } = node;
  const size = width ? `${width} × ${height} ${format ?? ""}` : "";
  const shown = sha256
    ? element("img", { src: image(sha256), alt, width, height, loading: "lazy" })
    : element("div", { class: "unfetched" }, url, element("small", {}, "not fetched"));
  const measured = Object.entries(scores).map(([name, value]) => `${words(name)} ${short(value)}`);
  const caption = element("figcaption", { dir: "auto" }, [alt, size, ...measured].filter(Boolean).join(" · "));
  return element("figure", { class: node.reason ? "node no" : "node", "data-node": i }, why(node), shown, caption);
}

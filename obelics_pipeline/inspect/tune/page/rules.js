// The rules of a level: a table of what each does, and the chosen one beside it.
import { cards } from "./cards.js";
import { button, element, numberField, percent, show, whole, words } from "./element.js";
import { ruleDetail, UNITS } from "./rule.js";
import { ask, refuse } from "./server.js";
import { boundsText, languagesOf, set, settings, valueOf } from "./settings.js";
import { bench } from "./workbench.js";

const COLUMNS = {
  drops: "dropped by this rule, whatever others do",
  first: "dropped by this rule before any other in the order of the table",
  alone: "dropped by this rule and by no other: what it would give back",
};
const MARKS =
  "of the documents you marked: the share of bad ones among what the rule drops · the share of bad ones that it drops";
const chosenAt = {}; // level -> row, for coming back to a tab

const countsOf = (level) => (level === "document" ? bench.estimate.rules : bench.counts[level]);
const labelOf = ({ name, place }) => words(name === "ratio" ? place.split(".").at(-1) : name);

export function rules(place, level) {
  const list = bench.about[level];
  const detail = element("section", { class: "detail", "aria-label": "Chosen rule" });
  const rows = list.map((rule, i) => ruleRow(labelOf(rule), () => choose(i)));
  const table = rulesTable(level, rows);
  const numbers = level === "image" ? imageNumbers() : null;
  const reasons = element("div", { class: "reasons" });
  const scroll = element("div", { class: "scroll" }, table);
  place.append(element("section", { class: "list" }, scroll, numbers?.node ?? "", reasons), detail);
  let open = null;

  function choose(i) {
    chosenAt[level] = i;
    rows.forEach(({ row, name }, at) => {
      row.classList.toggle("chosen", at === i);
      name.setAttribute("aria-pressed", String(at === i));
    });
    open = ruleDetail(detail, list[i], level);
  }

  async function listed(reason) {
    const found = await ask("listed", { settings, reason });
    if (found === undefined) return;
    open = null;
    const title = reason === null ? "Documents that stay" : `Documents that ${words(reason)} drops`;
    const note = () => (reason === null ? "stays" : `dropped: ${words(reason)}`);
    detail.replaceChildren(element("h2", {}, title), cards(found, { note, within: () => reason === null }));
  }

  function weighed() {
    const counts = countsOf(level);
    if (!counts) return;
    const judged = level === "document" ? bench.estimate.judged : [];
    table.classList.toggle("marked", judged.length > 0);
    rows.forEach((row, i) => showCounts(row, counts[i], judged[i]));
    if (level === "document") reasons.replaceChildren(...whyDropped(listed));
    if (open === null && !detail.firstChild) choose(chosenAt[level] ?? mostDropping(counts));
  }

  function changed() {
    rows.forEach(({ cells, row }, i) => {
      const { place: at, single } = list[i];
      cells.bounds.textContent = allBounds(list[i]);
      const isIt = (changed_) => (single ? changed_ === at : changed_.startsWith(`${at}.`));
      row.classList.toggle("changed", Object.keys(settings).some(isIt));
    });
    numbers?.changed();
    open?.changed();
  }

  changed();
  weighed();
  return { weighed, changed };
}

const mostDropping = (counts) => counts.reduce((best, { drops }, i) => (drops > counts[best].drops ? i : best), 0);

function allBounds(rule) {
  const { length } = languagesOf(rule);
  const own = length ? `${length} language${length > 1 ? "s" : ""}` : "";
  return [boundsText(rule), own].filter(Boolean).join(" · ") || "no bound";
}

function ruleRow(label, choose) {
  const names = ["bounds", ...Object.keys(COLUMNS), "share", "marks"];
  const cells = Object.fromEntries(names.map((name) => [name, element("td", { class: name })]));
  const bar = element("i", { class: "bar" });
  cells.share.append(bar);
  const name = button(label, choose);
  const click = ({ target }) => target.closest("button") ?? choose();
  const row = element("tr", { click }, element("th", { scope: "row" }, name), ...Object.values(cells));
  return { row, name, cells, bar };
}

function showCounts({ row, cells, bar }, counts, judged) {
  for (const name of Object.keys(COLUMNS)) cells[name].textContent = whole(counts[name]);
  const share = counts.measured ? counts.drops / counts.measured : 0;
  bar.style.setProperty("--share", share);
  cells.share.title = `${percent(share)} of ${whole(counts.measured)}`;
  row.classList.toggle("idle", counts.drops === 0);
  cells.marks.textContent = judged ? `${percent(judged.precision.value)} · ${percent(judged.recall.value)}` : "";
}

function rulesTable(level, rows) {
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "rule"),
    element("th", { scope: "col" }, "bounds"),
    ...Object.entries(COLUMNS).map(([name, title]) => element("th", { scope: "col", title, class: "number" }, name)),
    element("th", { scope: "col", title: `share of the ${UNITS[level]} that have this score` }, "share"),
    element("th", { scope: "col", title: MARKS, class: "marks" }, "precision · recall"),
  );
  const body = element("tbody", {}, rows.map(({ row }) => row));
  return element("table", { class: "rules" }, element("thead", {}, head), body);
}

function whyDropped(list) {
  const { reasons, kept } = bench.estimate;
  const item = (label, reason) => element("li", {}, button(label, () => list(reason)));
  const dropped = Object.entries(reasons).map(([reason, count]) => item(`${words(reason)}: ${whole(count)}`, reason));
  const stay = item(`stay: ${whole(kept.documents)}`, null);
  return [element("h2", {}, "Where documents end"), element("ul", {}, stay, ...dropped)];
}

/** What a document must have of images: numbers of the config that are no threshold of a score. */
function imageNumbers() {
  const labels = { min_per_document: "images a document must keep ", max_per_document: "images a document may keep " };
  const fields = Object.keys(labels).map((name) => {
    const at = `images.${name}`;
    return { at, name, field: numberField(valueOf(at), (value) => set(at, value), refuse, { id: name, min: 0, step: 1 }) };
  });
  const node = element(
    "div",
    { class: "fields" },
    ...fields.map(({ name, field }) => element("label", {}, labels[name], field)),
    element("p", { class: "quiet" }, `formats: ${bench.about.limits.formats.join(", ")}`),
  );
  return { node, changed: () => fields.forEach(({ at, field }) => show(field, valueOf(at))) };
}

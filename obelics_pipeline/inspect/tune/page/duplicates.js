// What repeats over the whole corpus: its settings, and what each reason has dropped.
import { button, element, numberField, show, whole } from "./element.js";
import { refuse } from "./server.js";
import { set, valueOf } from "./settings.js";
import { bench, startDryRun } from "./workbench.js";

const LEVELS = ["document", "paragraph", "image"];
const COLUMNS = ["setting", "value", ...LEVELS.map((level) => `${level}s dropped`)];
const HOW =
  "Whether a document is a duplicate depends on all others. Only a dry run shows the effect of a change. An empty " +
  "field means no limit.";

export function duplicates(place) {
  const rows = bench.about.dedup.map(settingRow);
  const told = element("p");
  const head = COLUMNS.map((name) => element("th", { scope: "col" }, name));
  const body = element("tbody", {}, rows.map(({ row }) => row));
  const table = element("table", { class: "duplicates" }, element("thead", {}, element("tr", {}, head)), body);
  place.append(
    element(
      "section",
      { class: "wide" },
      element("h2", {}, "Duplicates and repetitions"),
      element("p", { class: "quiet" }, HOW),
      element("div", { class: "scroll" }, table),
      element("p", { class: "actions" }, button("Dry run", startDryRun), told),
    ),
  );

  function changed() {
    for (const { at, field } of rows) show(field, valueOf(at));
  }

  function weighed() {
    const { estimate, reasons } = bench;
    told.textContent = whose(estimate);
    if (!reasons) return;
    for (const { reason, cells } of rows)
      LEVELS.forEach((level, i) => (cells[i].textContent = whole(reasons[level][reason] ?? 0)));
  }

  weighed();
  return { changed, weighed };
}

function settingRow({ place: at, what, reason }) {
  const field = numberField(valueOf(at), (value) => set(at, value), refuse, { id: at, min: 0, optional: true });
  const cells = LEVELS.map(() => element("td", { class: "number" }));
  const name = element("th", { scope: "row" }, element("label", { for: at }, what), element("small", {}, at));
  return { at, reason, field, cells, row: element("tr", {}, name, element("td", {}, field), ...cells) };
}

function whose({ exact, dry_run }) {
  if (!exact) return "The numbers are the run’s, not of these settings. Make a dry run to see those.";
  return dry_run ? "The numbers are of a dry run with these settings." : "The numbers are the run’s.";
}

// What repeats over the whole corpus: its settings, and what each reason has dropped.
import { button, element, numberField, show, whole } from "./element.js";
import { set, valueOf } from "./settings.js";
import { bench, rehearse } from "./workbench.js";

const LEVELS = ["document", "paragraph", "image"];

export function duplicates(place) {
  const rows = bench.about.dedup.map(({ place: at, what, reason }) => {
    const field = numberField(valueOf(at), (value) => set(at, value), { id: at, min: 0 });
    const cells = LEVELS.map(() => element("td", { class: "number" }));
    const row = element("tr", {}, element("th", { scope: "row" }, element("label", { for: at }, what), element("small", {}, at)), element("td", {}, field), ...cells);
    return { at, reason, field, cells, row };
  });
  const told = element("p");
  place.append(element("section", { class: "wide" }, element("h2", {}, "Duplicates and repetitions"),
    element("p", { class: "quiet" }, "What is a duplicate depends on all other documents, so that only a rehearsal tells what a change does. An empty field: no limit."),
    element("div", { class: "scroll" }, element("table", { class: "duplicates" }, element("thead", {}, element("tr", {},
      ["setting", "value", "documents dropped", "paragraphs dropped", "images dropped"].map((name) => element("th", { scope: "col" }, name)))), element("tbody", {}, rows.map(({ row }) => row)))),
    element("p", { class: "actions" }, button("Rehearse", rehearse), told)));

  function changed() {
    for (const { at, field } of rows) show(field, valueOf(at));
  }

  function weighed() {
    const { estimate, reasons } = bench;
    told.textContent = estimate.exact
      ? estimate.rehearsed ? "The numbers are those of the rehearsal of these settings." : "The numbers are the run’s."
      : "The numbers are the run’s, not those of these settings: rehearse to see them.";
    if (reasons) for (const { reason, cells } of rows) LEVELS.forEach((level, i) => (cells[i].textContent = whole(reasons[level][reason] ?? 0)));
  }

  weighed();
  return { changed, weighed };
}

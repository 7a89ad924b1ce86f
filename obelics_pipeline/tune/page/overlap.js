// How many documents two rules would both drop.
import { element, whole, words } from "./element.js";
import { bench } from "./workbench.js";

export function overlap(place) {
  function weighed() {
    const { rules, overlap: counts } = bench.estimate;
    const some = rules.map((rule, i) => ({ ...rule, i })).filter(({ drops }) => drops > 0);
    const idle = rules.filter(({ drops }) => drops === 0).map(({ name }) => words(name));
    const cell = (row, column) => {
      const count = counts[row.i][column.i];
      const found = element("td", { class: row.i === column.i ? "number own" : "number",
        title: row.i === column.i ? `${words(row.name)} drops ${count}` : `of ${row.drops} that ${words(row.name)} drops, ${words(column.name)} would drop ${count} too` }, count ? whole(count) : "·");
      found.style.setProperty("--share", row.drops ? count / row.drops : 0);
      return found;
    };
    const head = element("tr", {}, element("td"), ...some.map(({ name }) => element("th", { scope: "col" }, element("span", {}, words(name)))), element("th", { scope: "col" }, element("span", {}, "alone")));
    const rows = some.map((row) => element("tr", {}, element("th", { scope: "row" }, words(row.name)), ...some.map((column) => cell(row, column)), element("td", { class: "number alone" }, whole(row.alone))));
    place.replaceChildren(
      element("section", { class: "wide" },
        element("h2", {}, "Documents that two rules would both drop"),
        element("p", { class: "quiet" }, "Each row: of the documents that its rule drops (framed), how many each other rule would drop too; the darker, the larger the share. Alone: what no other rule drops. A rule with little alone could go."),
        some.length ? element("div", { class: "scroll" }, element("table", { class: "overlap" }, element("thead", {}, head), element("tbody", {}, rows))) : element("p", {}, "No rule drops a document."),
        idle.length ? element("p", { class: "quiet" }, `Drop nothing: ${idle.join(", ")}.`) : ""));
  }
  weighed();
  return { weighed };
}

// How many documents two rules would both drop.
import { element, whole, words } from "./element.js";
import { bench } from "./workbench.js";

const HOW =
  "Each row: of the documents that its rule drops (framed), how many each other rule would drop too; the darker, the " +
  "larger the share. Alone: what no other rule drops. A rule with little alone could go.";

export function overlap(place) {
  function weighed() {
    const { rules, overlap: counts } = bench.estimate;
    const dropping = rules.map((rule, i) => ({ ...rule, i })).filter(({ drops }) => drops > 0);
    const idle = rules.filter(({ drops }) => drops === 0).map(({ name }) => words(name));
    place.replaceChildren(
      element(
        "section",
        { class: "wide" },
        element("h2", {}, "Documents that two rules would both drop"),
        element("p", { class: "quiet" }, HOW),
        dropping.length ? matrix(dropping, counts) : element("p", {}, "No rule drops a document."),
        idle.length ? element("p", { class: "quiet" }, `Drop nothing: ${idle.join(", ")}.`) : null,
      ),
    );
  }
  weighed();
  return { weighed };
}

function matrix(rules, counts) {
  const column = (name) => element("th", { scope: "col" }, element("span", {}, words(name)));
  const head = element("tr", {}, element("td"), ...rules.map(({ name }) => column(name)), column("alone"));
  const rows = rules.map((row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, words(row.name)),
      ...rules.map((other) => cell(row, other, counts[row.i][other.i])),
      element("td", { class: "number alone" }, whole(row.alone)),
    ),
  );
  const table = element("table", { class: "overlap" }, element("thead", {}, head), element("tbody", {}, rows));
  return element("div", { class: "scroll" }, table);
}

function cell(row, other, count) {
  const [mine, its] = [words(row.name), words(other.name)];
  const both = `of ${row.drops} that ${mine} drops, ${its} would drop ${count}`;
  const title = row === other ? `${mine} drops ${count}` : both;
  const found = element("td", { class: row === other ? "number own" : "number", title }, count ? whole(count) : "·");
  found.style.setProperty("--share", count / row.drops);
  return found;
}

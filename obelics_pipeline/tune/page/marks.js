// What a person thinks of documents, what the rules make of these, and thresholds that follow.
import { cards } from "./cards.js";
import { button, element, percent, select, short, words } from "./element.js";
import { ask, latest } from "./server.js";
import { placeOf, set, settings, sidesOf } from "./settings.js";
import { bench } from "./workbench.js";

const shareText = ({ found, of, value, interval }) => of ? `${percent(value)} (${found} of ${of}; ${interval.map(percent).join("–")})` : "–";

export function marks(place) {
  const many = element("p");
  const table = element("tbody");
  const list = element("div");
  place.append(
    element("section", { class: "list" }, element("h2", {}, "What the rules make of your marks"), many,
      element("div", { class: "scroll" }, element("table", { class: "judged" }, element("thead", {}, element("tr", {},
        element("th", { scope: "col" }, "rule"),
        element("th", { scope: "col", title: "of the marked documents that it drops, the share of bad ones, with its 95% interval" }, "precision"),
        element("th", { scope: "col", title: "of the bad documents, the share that it drops, with its 95% interval" }, "recall"))), table))),
    element("section", { class: "detail" }, suggestion(), element("h2", {}, "Marked documents"), list));

  const load = latest(async () => {
    const found = await ask("marked");
    if (found === undefined) return;
    const count = (mark) => found.filter((item) => item.mark === mark).length;
    many.textContent = found.length ? `${count("good")} good, ${count("bad")} bad. A rule is to drop the bad ones and no good one.`
      : "None yet. Open a document and mark it good (g) or bad (b); some ten of each tell something.";
    list.replaceChildren(cards(found));
  });

  function weighed() {
    const { rules, judged, marked } = bench.estimate;
    const row = (name, of, attributes) => element("tr", attributes, element("th", { scope: "row" }, name), element("td", {}, shareText(of.precision)), element("td", {}, shareText(of.recall)));
    table.replaceChildren(...judged.map((of, i) => row(words(rules[i].name), of, { class: of.precision.of ? "" : "idle" })), row("all that drops", marked, { class: "sum" }));
    load();
  }

  weighed();
  return { weighed };
}

function suggestion() {
  const rules = bench.about.document;
  const answer = element("p", { role: "status" });
  const rule = select(rules.map(({ name }, i) => [i, words(name)]), rules.length - 1, () => answer.replaceChildren(), { id: "suggest-rule" });
  const side = select([["min", "min: drop what is below"], ["max", "max: drop what is above"]], "max", () => answer.replaceChildren(), { id: "suggest-side" });
  const wanted = select([["precision", "precision on your marks of"], ["tokens", "tokens that stay, at most"]], "precision", (kind) => (number.value = kind === "tokens" ? Math.round(bench.estimate.kept.tokens) : 0.9), { id: "suggest-kind" });
  const number = element("input", { type: "number", step: "any", min: 0, value: 0.9, id: "suggest-value" });

  async function suggest(event) {
    event.preventDefault();
    const of = rules[Number(rule.value)];
    const goal = { precision: null, tokens: null, [wanted.value]: Number(number.value) };
    const found = await ask("suggested", { settings, name: of.name, side: side.value, ...goal });
    if (found === undefined) return;
    if (found === null) return answer.replaceChildren("No threshold does that.");
    const use = sidesOf(of).includes(side.value) ? button("Use it", () => set(placeOf(of, "", side.value), found), { id: "use" }) : null;
    answer.replaceChildren(element("span", {}, `${side.value} of ${words(of.name)}: `, element("b", { id: "suggested" }, short(found)), " ", use));
  }

  return element("form", { submit: suggest }, element("h2", {}, "Suggest a threshold"),
    element("div", { class: "fields" }, element("label", {}, "rule ", rule), element("label", {}, "side ", side), element("label", {}, "wanted ", wanted), number, element("button", {}, "Suggest")), answer);
}

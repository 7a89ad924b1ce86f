// What a person thinks of documents, what the rules make of these, and thresholds that follow.
import { cards } from "./cards.js";
import { button, element, percent, select, short, words } from "./element.js";
import { ask, latest } from "./server.js";
import { placeOf, set, settings, sidesOf } from "./settings.js";
import { bench } from "./workbench.js";

const NONE = "None yet. Open a document and mark it good (g) or bad (b); some ten of each tell something.";
const PRECISION = "of the marked documents that it drops, the share of bad ones, with its 95% interval";
const RECALL = "of the bad documents, the share that it drops, with its 95% interval";

export function marks(place) {
  const many = element("p");
  const body = element("tbody");
  const list = element("div");
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "rule"),
    element("th", { scope: "col", title: PRECISION }, "precision"),
    element("th", { scope: "col", title: RECALL }, "recall"),
  );
  const table = element("table", { class: "judged" }, element("thead", {}, head), body);
  const title = element("h2", {}, "What the rules make of your marks");
  place.append(
    element("section", { class: "list" }, title, many, element("div", { class: "scroll" }, table)),
    element("section", { class: "detail" }, suggestion(), element("h2", {}, "Marked documents"), list),
  );

  const load = latest(async () => {
    const found = await ask("marked");
    if (found === undefined) return;
    const count = (mark) => found.filter((item) => item.mark === mark).length;
    const counts = `${count("good")} good, ${count("bad")} bad. Rules are to drop the bad ones.`;
    many.textContent = found.length ? counts : NONE;
    list.replaceChildren(cards(found));
  });

  function weighed() {
    const { rules, judged, marked } = bench.estimate;
    const rows = judged.map((of, i) => judgedRow(words(rules[i].name), of, of.precision.of ? "" : "idle"));
    body.replaceChildren(...rows, judgedRow("all together", marked, "sum"));
    load();
  }

  weighed();
  return { weighed };
}

function judgedRow(name, { precision, recall }, kind) {
  const cells = [precision, recall].map((share) => element("td", {}, shareText(share)));
  return element("tr", { class: kind }, element("th", { scope: "row" }, name), cells);
}

const shareText = ({ found, of, value, interval }) =>
  of ? `${percent(value)} (${found} of ${of}; ${interval.map(percent).join("–")})` : "–";

/** A form that asks for a threshold. */
function suggestion() {
  const rules = bench.about.document;
  const answer = element("p", { role: "status" });
  const clear = () => answer.replaceChildren();
  const names = rules.map(({ name }, i) => [i, words(name)]);
  const sides = [["min", "min: drop what is below"], ["max", "max: drop what is above"]];
  const goals = [["precision", "precision on your marks of"], ["tokens", "tokens that stay, at most"]];
  const goalTo = (goal) => (number.value = goal === "tokens" ? Math.round(bench.estimate.kept.tokens) : 0.9);
  const rule = select(names, rules.length - 1, clear, { id: "suggest-rule" });
  const side = select(sides, "max", clear, { id: "suggest-side" });
  const goal = select(goals, "precision", goalTo, { id: "suggest-goal" });
  const number = element("input", { type: "number", step: "any", min: 0, value: 0.9, id: "suggest-value" });
  number.setAttribute("aria-label", "wanted value");

  async function suggest(event) {
    event.preventDefault();
    const of = rules[Number(rule.value)];
    const wanted = { precision: null, tokens: null, [goal.value]: Number(number.value) };
    const found = await ask("suggested", { settings, name: of.name, side: side.value, ...wanted });
    if (found === undefined) return;
    if (found === null) return answer.replaceChildren("No threshold does that.");
    const use = () => set(placeOf(of, "", side.value), found);
    answer.replaceChildren(
      `${side.value} of ${words(of.name)}: `,
      element("b", { id: "suggested" }, short(found)),
      " ",
      sidesOf(of).includes(side.value) ? button("Use it", use, { id: "use" }) : "(the config has no such bound)",
    );
  }

  const fields = element(
    "div",
    { class: "fields" },
    element("label", {}, "rule ", rule),
    element("label", {}, "side ", side),
    element("label", {}, "wanted ", goal),
    number,
    element("button", {}, "Suggest"),
  );
  return element("form", { submit: suggest }, element("h2", {}, "Suggest a threshold"), fields, answer);
}

// What the settings keep that others drop, and the other way round.
import { cards } from "./cards.js";
import { button, element, signed, whole, words } from "./element.js";
import { ask, latest } from "./server.js";
import { remember, remembered, settings } from "./settings.js";

export function compare(place) {
  const which = element("p");
  const found = element("div");
  const keep = button("Remember these settings as A", () => remember({ ...settings }), { id: "remember" });
  const own = button("A: the run’s own config", () => remember(null));
  const file = element("input", { id: "config-file", placeholder: "a config file, or default" });
  const ofFile = button("A: this config", async () => {
    const values = await ask("settings_of", { config: file.value.trim() });
    if (values !== undefined) remember(values);
  });
  const title = element("h2", {}, "Compare: A and now");
  const actions = element("p", { class: "actions" }, keep, own, element("label", {}, " config ", file), ofFile);
  place.append(element("section", { class: "wide" }, title, which, actions, found));

  const load = latest(async () => {
    own.disabled = remembered === null;
    which.textContent = `A is ${said(remembered)}; now is what the page is set to.`;
    const answer = await ask("compared", { settings: remembered ?? {}, other: settings });
    if (answer === undefined) return;
    const lists = [listing(answer, "first", "Only A keeps", "now"), listing(answer, "second", "Only now keeps", "A")];
    found.replaceChildren(keptTable(answer.kept), element("div", { class: "two" }, lists));
  });

  load();
  return { changed: load };
}

function said(values) {
  if (values === null) return "the run’s own config";
  const places = Object.keys(values).sort();
  return places.length ? `what was remembered: ${places.map((at) => `${at} ${JSON.stringify(values[at])}`).join(", ")}` : "as the run";
}

function keptTable({ first, second }) {
  const head = ["kept", "A", "now", "change"].map((name) => element("th", { scope: "col" }, name));
  const rows = ["documents", "images", "tokens"].map((thing) => {
    const numbers = [whole(first[thing]), whole(second[thing]), signed(second[thing] - first[thing])];
    const cells = numbers.map((text) => element("td", { class: "number" }, text));
    return element("tr", {}, element("th", { scope: "row" }, thing), cells);
  });
  const body = element("tbody", {}, rows);
  return element("table", { class: "kept" }, element("thead", {}, element("tr", {}, head)), body);
}

function listing({ only, documents }, side, title, other) {
  const note = ({ reason }) => `dropped by ${other}: ${words(reason ?? "not known")}`;
  const shown = documents[side];
  return element(
    "div",
    {},
    element("h3", {}, `${title}: ${whole(only[side])} documents`),
    cards(shown, { within: () => side === "second", note }),
    only[side] > shown.length ? element("p", { class: "quiet" }, `the first ${shown.length} of them`) : null,
  );
}

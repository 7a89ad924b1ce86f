// What the settings keep that others drop, and the other way round.
import { cards } from "./cards.js";
import { button, element, signed, whole, words } from "./element.js";
import { ask, latest } from "./server.js";
import { remember, remembered, settings } from "./settings.js";

export function compare(place) {
  const found = element("div");
  const which = element("p");
  const own = button("compare with the run’s own config", () => remember(null));
  place.append(element("section", { class: "wide" }, element("h2", {}, "Compare: A and now"), which,
    element("p", { class: "actions" }, button("Remember these settings as A", () => remember({ ...settings }), { id: "remember" }), own), found));

  const load = latest(async () => {
    const count = Object.keys(remembered ?? {}).length;
    which.textContent = remembered ? `A: remembered settings (${count ? `${count} changed` : "nothing changed"}). Second: the settings now.` : "A: the run’s own config. Second: the settings now.";
    own.disabled = remembered === null;
    const answer = await ask("compared", { settings: remembered ?? {}, other: settings });
    if (answer === undefined) return;
    const { kept, only, documents } = answer;
    const rows = ["documents", "images", "tokens"].map((thing) => element("tr", {}, element("th", { scope: "row" }, thing),
      ...[kept.first, kept.second].map((of) => element("td", { class: "number" }, whole(of[thing]))), element("td", { class: "number" }, signed(kept.second[thing] - kept.first[thing]))));
    const listing = (side, title, other) => element("div", {}, element("h3", {}, `${title}: ${whole(only[side])} documents`),
      cards(documents[side], { within: () => side === "second", note: ({ reason }) => `dropped by ${other}: ${words(reason ?? "not known")}` }),
      only[side] > documents[side].length ? element("p", { class: "quiet" }, `the first ${documents[side].length} of them`) : null);
    found.replaceChildren(
      element("table", { class: "kept" }, element("thead", {}, element("tr", {}, ["kept", "A", "now", "change"].map((name) => element("th", { scope: "col" }, name)))), element("tbody", {}, rows)),
      element("div", { class: "two" }, listing("first", "Only A keeps", "now"), listing("second", "Only now keeps", "A")));
  });

  load();
  return { changed: load };
}

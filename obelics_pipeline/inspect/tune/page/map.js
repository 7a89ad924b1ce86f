// The map: all documents as points, near each other where their words are alike; and what is in a region of it.
import { cards, fate } from "./cards.js";
import { byName, byScore, whenTheme } from "./colors.js";
import { button, element, percent, select, short, whole, words } from "./element.js";
import { Plane } from "./plane.js";
import { read } from "./reading.js";
import { ask, latest } from "./server.js";
import { boundOf, set, settings, sidesOf } from "./settings.js";
import { bench } from "./workbench.js";

const POLL = 500; // ms
const NAMES = ["reason", "language", "page_type", "mark"]; // colours that are no scores
const SAID = { reason: "why dropped, now", language: "language", page_type: "kind of page", mark: "your marks" };
const STEPS = { documents: "reading documents", words: "counting words", vectors: "comparing", neighbours: "finding neighbours", layout: "laying out" };
let points = null; // of the run, once they are known; they do not change
let [chosen, view, region] = ["reason", null, null]; // for coming back to the tab
let repaint = () => {};
whenTheme(() => repaint());

export function map(place) {
  const stage = element("section", { class: "stage" });
  place.append(stage);
  follow(place, stage);
  return { changed: () => repaint("settings"), weighed: () => repaint("weighed") };
}

/** Shows the map, or how far it is, or that there is none. */
async function follow(place, stage, state) {
  state ??= points ? { there: true } : await ask("map_state");
  if (state?.there) points ??= await ask("map_points");
  if (!place.isConnected || state === undefined) return;
  if (state.there) return points && lay(place, stage);
  if (!state.working) {
    const make = async () => follow(place, stage, await ask("make_map"));
    const problem = state.problem ? element("p", { class: "bad", role: "alert" }, state.problem) : null;
    return stage.replaceChildren(element("h2", {}, "The map"), element("p", {}, "Lays the documents out so that what has the same words stands together: regions of junk can be seen, and dropped."), problem,
      element("p", {}, button("Make the map", make, { id: "make-map" }), element("small", {}, ` of ${whole(state.documents)} documents; 100,000 take some minutes, and it is kept in the run’s folder`)));
  }
  const bar = element("progress", { "aria-label": "making the map", max: state.total || 1 });
  if (state.total) bar.value = state.done;
  stage.replaceChildren(element("h2", {}, "Making the map"), element("p", { role: "status", id: "map-progress" }, `${STEPS[state.step] ?? state.step}${state.total ? ` ${whole(state.done)} of ${whole(state.total)}` : ""}`), bar);
  await new Promise((resolve) => setTimeout(resolve, POLL));
  if (place.isConnected) follow(place, stage);
}

const ruleOf = (color) => (NAMES.includes(color) ? null : (bench.about.document.find(({ name }) => name === color) ?? null));
const boundsNow = (rule) => (rule ? sidesOf(rule).map((side) => [side, boundOf(rule, "", side)]).filter(([, value]) => value !== null) : []);

function lay(place, stage) {
  const legend = element("div", { id: "legend" });
  const tip = element("div", { class: "tip", role: "status", hidden: true });
  const side = element("section", { class: "side", "aria-label": "Chosen region" });
  const seen = new Map(); // row -> card
  let answer = null; // what the points are coloured by, as the server tells it

  const cardOf = async (row) => {
    if (!seen.has(row)) {
      const found = await ask("map_document", { row });
      if (found) seen.set(row, found);
    }
    return seen.get(row);
  };

  let wanted = -1;
  const tell = latest(async () => {
    const i = wanted;
    const card = i < 0 ? undefined : await cardOf(points.rows[i]);
    if (card === undefined || i !== wanted) return;
    const value = answer?.values?.[i];
    const score = answer?.values ? `${words(chosen)}: ${value === null ? "not measured" : short(value)}` : null;
    tip.replaceChildren(element("span", { class: "url" }, card.url), element("small", {}, [score, card.language ?? "no language", card.page_type, fate(card), card.mark].filter(Boolean).join(" · ")));
    tip.hidden = false;
  });

  const plane = new Plane(points, {
    hovered(i, left, top) {
      wanted = i;
      tip.hidden = true;
      if (i < 0) return;
      tip.style.left = `${Math.min(left + 14, Math.max(plane.width - 330, 0))}px`;
      tip.style.top = `${top > plane.height - 90 ? top - 76 : top + 16}px`;
      tell();
    },
    async clicked(i) {
      const card = await cardOf(points.rows[i]);
      if (!card) return;
      const among = region?.shown?.some(({ doc_id }) => doc_id === card.doc_id) ? region.shown : [card];
      read(card, among, ruleOf(chosen) && { rule: chosen, level: "document" });
    },
    enclosed: (corners) => choose(corners),
  });
  if (view) plane.view = view;
  plane.node.append(tip);

  function paint() {
    view = plane.view;
    if (!answer) return;
    const { colors, order, legend: shown } = answer.values ? byScore(answer.values, boundsNow(ruleOf(chosen))) : byName(answer, chosen);
    plane.color(colors, order);
    legend.replaceChildren(shown);
  }

  const load = latest(async () => {
    const color = chosen;
    const found = await ask("map_color", { color, settings });
    if (found === undefined || color !== chosen) return;
    answer = found;
    paint();
  });

  let weighed = bench.estimate;
  repaint = (what) => {
    if (!plane.node.isConnected) return (repaint = () => {});
    if (what !== "weighed") return paint(); // bounds moved, or the light changed
    if (weighed === bench.estimate) return; // only a dry run's progress
    weighed = bench.estimate;
    if (chosen === "reason" || chosen === "mark") load();
  };

  async function choose(corners) {
    region = { corners };
    plane.enclose(corners);
    side.replaceChildren(element("p", { class: "quiet" }, "counting …"));
    const found = await ask("region", { corners });
    if (found === undefined || region?.corners !== corners) return;
    Object.assign(region, found);
    showRegion();
  }

  function forget() {
    region = null;
    plane.enclose([]);
    showRegion();
  }

  function showRegion() {
    if (!region) return side.replaceChildren(
      element("h2", {}, "A region"),
      element("p", { class: "quiet" }, "Hold Shift and draw round some points, or press Lasso. Drag moves the map, the wheel zooms; keys: arrows, +, −, 0. A click reads a document."));
    side.replaceChildren(...regionParts(region, forget));
  }

  const lasso = button("Lasso", () => {
    plane.lassoing = !plane.lassoing;
    lasso.setAttribute("aria-pressed", String(plane.lassoing));
    plane.node.classList.toggle("lassoing", plane.lassoing);
  }, { id: "lasso", "aria-pressed": "false", title: "or hold Shift and drag" });
  const choices = points.colors.map((name) => [name, SAID[name] ?? words(name)]);
  const color = select(choices, chosen, (name) => {
    chosen = name;
    load();
  }, { id: "color" });
  const few = points.of - points.rows.length - points.wordless;
  const left = [points.wordless ? `${whole(points.wordless)} without words are not on it` : "", few > 0 ? `${whole(few)} more are left out: it is a fair sample` : ""].filter(Boolean).join("; ");
  stage.replaceChildren(
    element("div", { class: "controls" }, element("label", {}, "colour ", color), lasso, button("Choose what is in sight", () => choose(plane.sight()), { id: "sight" }),
      button("+", () => plane.zoom(1.5), { "aria-label": "zoom in" }), button("−", () => plane.zoom(1 / 1.5), { "aria-label": "zoom out" }), button("Show all", () => plane.fit())),
    plane.node, legend,
    element("p", { class: "quiet" }, `${whole(points.rows.length)} documents${left ? `; ${left}` : ""}. Names are words that a region has and others have not.`));
  place.append(side);
  plane.over.addEventListener("pointerup", () => (view = plane.view));
  plane.enclose(region?.corners ?? []);
  showRegion();
  load();
}

function regionParts(of, forget) {
  const close = button("Forget it", forget);
  if (!of.documents) return [element("h2", {}, "A region"), element("p", {}, "No document is inside."), close];
  const rules = element("div", { id: "region-rules" }, element("p", { class: "quiet" }, "looking for rules …"));
  findRules(of, rules);
  const sites = of.sites.map(({ site, inside, all }) => element("tr", {}, element("th", { scope: "row" }, site), element("td", { class: "number" }, whole(inside)), element("td", { class: "number" }, whole(all))));
  return [
    element("h2", {}, `${whole(of.documents)} documents`, element("small", {}, ` · ${whole(of.kept)} of them kept by the run `), close),
    element("h3", {}, "Rules that would drop them"), rules,
    element("h3", {}, "Texts for a classifier"), trainingSet(of),
    element("details", { open: of.sites.length < 6 }, element("summary", {}, `Sites: ${of.sites[0].site} most`),
      element("table", { class: "sites" }, element("thead", {}, element("tr", {}, ["site", "inside", "on the map"].map((name, i) => element("th", { scope: "col", class: i ? "number" : null }, name)))), element("tbody", {}, sites))),
    element("h3", {}, of.documents > of.shown.length ? `${of.shown.length} of its documents` : "Its documents"), cards(of.shown),
  ];
}

async function findRules(of, place) {
  of.rules ??= (await ask("region_rules", { corners: of.corners })) ?? undefined;
  if (of.rules === undefined) return place.replaceChildren(element("p", { class: "quiet" }, "not found"));
  if (!of.rules.length) return place.replaceChildren(element("p", { class: "quiet" }, of.kept ? "No score tells these documents from the others." : "None is needed: the run drops them all."));
  const use = (values) => {
    for (const [at, value] of Object.entries(values)) set(at, value);
  };
  const rows = of.rules.map((rule) => element("tr", {},
    element("th", { scope: "row" }, rule.lines.map(lineOf)),
    ...[rule.precision, rule.recall, rule.rest_kept].map((share) => element("td", { class: "number" }, percent(share))),
    element("td", {}, rule.settings ? button("Use it", () => use(rule.settings)) : element("small", {}, "not in the run’s config"))));
  place.replaceChildren(element("table", { class: "found" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "rule"),
    element("th", { scope: "col", class: "number", title: "of what it drops, the share that is of the region" }, "precision"),
    element("th", { scope: "col", class: "number", title: "of the region, the share that it drops" }, "recall"),
    element("th", { scope: "col", class: "number", title: "of all other documents, the share that stays" }, "rest stays"), element("td"))), element("tbody", {}, rows)),
  element("p", { class: "quiet" }, "Of documents that the run keeps. A low precision: it drops much else too."));
}

/** A line of a config, broken where it may be; most scores are of one section, which is left out. */
function lineOf(line) {
  const [name, bounds] = line.replace(/^filters\.document\./, "").split(": {");
  return element("code", { title: line }, name.replaceAll("_", "_\u200b"), ": ", element("span", {}, `{${bounds}`));
}

function trainingSet({ corners }) {
  const folder = element("input", { id: "set-folder", value: "training-set", size: 20, spellcheck: "false", "aria-label": "folder", title: `in ${bench.about.save_folders.join(" or ")}` });
  const done = element("p", { class: "quiet", role: "status", id: "set-done" });
  return element("form", {
    submit: async (event) => {
      event.preventDefault();
      done.textContent = "writing …";
      const found = await ask("training_set", { corners, folder: folder.value });
      done.textContent = found ? `Written: ${whole(found.texts[0])} texts of the region, ${whole(found.texts[1])} of the rest. Next: obelics fit classifier --positive ${found.rest} --negative ${found.region} --output region.ftz` : "";
    },
  }, element("div", { class: "fields" }, folder, element("button", { id: "save-set" }, "Save as training set…")), done);
}

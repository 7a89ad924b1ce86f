// One rule: the distribution of its score, its bounds, those of single languages, and what lies at the line.
import { cards } from "./cards.js";
import { button, element, numberField, select, short, show, whole, words } from "./element.js";
import { histogram } from "./histogram.js";
import { ask, latest, refuse } from "./server.js";
import {
  boundOf, boundsText, holds, languagesOf, placeOf, scopeFor, set, setLanguage, sidesOf, takeLanguage,
} from "./settings.js";
import { bench } from "./workbench.js";

export const UNITS = { document: "documents", paragraph: "paragraphs", image: "images" };
const WHOLE = /(_count|_side|_codes)$/; // scores that are whole numbers
const REST = 150; // ms that a bound rests before documents on either side of it are asked for
const NO_BOUND = "No bound: the rule drops nothing here. Add one to see what lies on either side of it.";

/** Fills a place with a rule; returns what shows new settings there. */
export function ruleDetail(place, rule, level) {
  const sides = sidesOf(rule);
  const view = { language: firstLanguage(rule), pageType: "", site: "", log: null };
  const [plot, legend, fields, languages, near] = ["plot-place", "legend", "fields", "languages", "near"].map((name) =>
    element("div", { class: name }),
  );
  const controls = filterControls(view, refilter);
  let data, chart, last, asked, pause;

  const scope = () => scopeFor(rule, view.language);
  const bounds = () => Object.fromEntries(sides.map((side) => [side, boundOf(rule, scope(), side)]));
  const some = () => ({ language: view.language || null, page_type: view.pageType || null, site: view.site || null });
  const filter = () => ({ level, name: rule.name, ...some() });
  const about = ` ${rule.place}${rule.roles ? ` · of ${rule.roles.join(", ")}` : ""}`;
  const title = element("h2", {}, words(rule.name), element("small", {}, about));
  place.replaceChildren(title, controls.node, plot, legend, fields, languages, near);

  function refilter(values) {
    Object.assign(view, values);
    controls.show(view);
    load();
    changed();
  }

  const load = latest(async () => {
    const found = await ask("histogram", { ...filter(), log: view.log });
    data = found;
    chart = null;
    if (found === undefined) return plot.replaceChildren(element("p", { class: "quiet" }, "nothing was measured"));
    controls.show({ ...view, log: data.log });
    changed();
  });

  function changed() {
    showFields();
    if (!rule.single && level !== "image") showLanguages();
    if (!data) return;
    const now = bounds();
    const drawn = sides.filter((side) => now[side] !== null).join();
    if (chart?.drawn === drawn && (plot.contains(document.activeElement) || chart.reaches(now))) chart.show(now);
    else draw(now);
    clearTimeout(pause);
    pause = setTimeout(loadNear, REST);
  }

  function draw(now) {
    const focused = plot.contains(document.activeElement) ? document.activeElement.dataset.side : null;
    const isWhole = WHOLE.test(rule.name);
    chart = histogram({ data, bounds: now, whole: isWhole, name: rule.name, unit: UNITS[level], moved });
    plot.replaceChildren(chart.node);
    if (focused) plot.querySelector(`[data-side=${focused}]`)?.focus();
    const of = data.all.reduce((sum, count) => sum + count, 0);
    const without = data.without ? `, ${whole(data.without)} without this score` : "";
    legend.replaceChildren(
      element("span", { class: "key kept" }, "within, and kept by the run"),
      element("span", { class: "key lost" }, "within, dropped by the run"),
      element("span", { class: "key outside" }, "outside: this rule drops it"),
      element("span", { class: "quiet" }, `${whole(of)} ${UNITS[level]}${without}`),
    );
  }

  function moved(side, value) {
    last = side;
    set(placeOf(rule, scope(), side), value);
  }

  function showFields() {
    const now = bounds();
    const of = scope() ? ` in ${scope()}` : languagesOf(rule).length ? " in all other languages" : "";
    const there = sides.filter((side) => now[side] !== null);
    const showValue = (side) => show(fields.querySelector(`#bound-${side}`), now[side]);
    if (same(fields, [of, there])) return there.forEach(showValue);
    const field = (side) =>
      now[side] === null
        ? button(`+ ${side}`, () => data && moved(side, endOf(side)))
        : element(
            "label",
            {},
            `${side} `,
            numberField(now[side], (value) => moved(side, value), refuse, { id: `bound-${side}` }),
            rule.single ? null : button("×", () => moved(side, null), { "aria-label": `no ${side}` }),
          );
    fields.replaceChildren(element("span", { class: "quiet" }, `keeps${of}:`), ...sides.map(field));
  }

  /** Where a new bound begins: at the end of the values, where it drops next to nothing. */
  function endOf(side) {
    const [round, end] = side === "min" ? [Math.ceil, data.edges[0]] : [Math.floor, data.edges.at(-1)];
    return WHOLE.test(rule.name) ? round(end) : Number(end.toPrecision(4));
  }

  function showLanguages() {
    const own = languagesOf(rule);
    const now = own.map((language) => boundsText(rule, language));
    if (languages.contains(document.activeElement) && languages.dataset.own === own.join()) return;
    if (same(languages, [own, now, view.language])) return;
    languages.dataset.own = own.join();
    const others = bench.about.languages.map(({ name }) => name).filter((name) => name && !own.includes(name));
    const choices = [["", "+ bounds of their own for …"], ...others.map((name) => [name, name])];
    const add = (language) => {
      setLanguage(rule, language, bounds());
      refilter({ language });
    };
    languages.replaceChildren(
      element("h3", {}, own.length ? "Bounds by language" : ""),
      element("ul", {}, own.map(languageItem)),
      others.length ? select(choices, "", add, { "aria-label": "bounds for a language" }) : "",
    );
  }

  function languageItem(language) {
    const there = sides.filter((side) => boundOf(rule, language, side) !== null);
    const field = (side) => {
      const change = (value) => set(placeOf(rule, language, side), value);
      const named = { "aria-label": `${side} in ${language}` };
      return element("label", {}, ` ${side} `, numberField(boundOf(rule, language, side), change, refuse, named));
    };
    const take = () => takeLanguage(rule, language);
    return element(
      "li",
      { class: language === view.language ? "chosen" : "" },
      button(language, () => refilter({ language }), { title: "show this language" }),
      there.length ? there.map(field) : element("span", { class: "quiet" }, " drops nothing "),
      button("×", take, { "aria-label": `no bounds in ${language}`, title: "drop nothing in this language" }),
    );
  }

  const loadNear = latest(async () => {
    const now = bounds();
    const side = now[last] != null ? last : sides.find((name) => now[name] !== null);
    if (!side) {
      asked = null;
      return near.replaceChildren(element("p", { class: "quiet" }, NO_BOUND));
    }
    const question = { ...filter(), value: now[side] };
    if (asked === JSON.stringify(question)) return;
    const found = await ask("near", question);
    if (found === undefined) return;
    asked = JSON.stringify(question);
    const all = Object.values(found).flat();
    const options = { all, by: { rule: rule.name, level }, within: (value) => holds(now, value) };
    const column = ([name, items]) =>
      element("div", {}, element("h4", {}, `${name} ${short(now[side])}`), cards(items, options));
    near.replaceChildren(
      element("h3", {}, `Just on either side of ${side} ${short(now[side])}`),
      element("div", { class: "two" }, Object.entries(found).map(column)),
    );
  });

  load();
  changed();
  return { changed };
}

/** Whether a place shows this already; else it is noted that it will. */
function same(place, values) {
  const shape = JSON.stringify(values);
  if (place.dataset.shape === shape) return true;
  place.dataset.shape = shape;
  return false;
}

/** Where all bounds of a rule are by language, that of most documents: else its plot would show none. */
function firstLanguage(rule) {
  if (boundsText(rule)) return "";
  const own = languagesOf(rule).filter((language) => boundsText(rule, language));
  return bench.about.languages.find(({ name }) => own.includes(name))?.name ?? "";
}

function filterControls(view, refilter) {
  const log = element("input", { type: "checkbox", id: "log", change: () => refilter({ log: log.checked }) });
  const site = element("input", { id: "site", list: "sites", placeholder: "any, or .org" });
  site.addEventListener("change", () => refilter({ site: site.value.trim() }));
  const choices = (column) => [["", "all"], ...column.map(({ name, documents }) => [name, `${name} (${whole(documents)})`])];
  const change = (value) => refilter({ language: value });
  const language = select(choices(bench.about.languages), view.language, change, { id: "language" });
  const narrow = (value) => refilter({ pageType: value });
  const pageType = select(choices(bench.about.page_types), view.pageType, narrow, { id: "page-type" });
  const node = element(
    "div",
    { class: "controls" },
    element("label", {}, "language ", language),
    bench.about.page_types.length ? element("label", {}, "kind of page ", pageType) : null,
    element("label", {}, "site ", site),
    element("datalist", { id: "sites" }, bench.about.sites.map(({ name }) => element("option", { value: name }))),
    element("label", {}, log, " log scale"),
  );
  const showValues = (values) => {
    language.value = values.language;
    if (values.log !== null) log.checked = values.log;
  };
  return { node, show: showValues };
}

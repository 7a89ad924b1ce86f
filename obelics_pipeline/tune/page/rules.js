// The rules of a level: a table of what each does, and the chosen one with its distribution and bounds.
import { cards } from "./cards.js";
import { button, element, numberField, percent, select, short, show, whole, words } from "./element.js";
import { histogram } from "./histogram.js";
import { ask, latest } from "./server.js";
import { boundOf, languagesOf, placeOf, scopeFor, set, setLanguage, settings, sidesOf, unset, valueOf } from "./settings.js";
import { bench } from "./workbench.js";

const UNITS = { document: "documents", paragraph: "paragraphs", image: "images" };
const COLUMNS = [
  ["drops", "dropped by this rule, whatever others do"],
  ["first", "dropped by this rule before any other in the order of the table"],
  ["alone", "dropped by this rule and by no other: what it would give back"],
];
const REST = 150; // ms that a bound rests before documents on either side of it are asked for
const WHOLE = /(_count|_side)$/; // scores that are whole numbers
const chosenAt = {}; // level -> row, for coming back to a tab

const countsOf = (level) => (level === "document" ? bench.estimate.rules : bench.counts[level]);
const written = (rule, scope = "") =>
  sidesOf(rule)
    .map((side) => [side, boundOf(rule, scope, side)])
    .filter(([, value]) => value !== null)
    .map(([side, value]) => `${side} ${short(value)}`)
    .join(", ");

function boundsText(rule) {
  const languages = languagesOf(rule).length;
  const own = languages ? `${languages} language${languages > 1 ? "s" : ""}` : "";
  return [written(rule), own].filter(Boolean).join(" · ") || "no bound";
}

export function rules(place, level) {
  const list = bench.about[level];
  const detail = element("section", { class: "detail", "aria-label": "Chosen rule" });
  const body = element("tbody");
  const judged = () => (level === "document" ? bench.estimate.judged : []);
  const rows = list.map((rule, i) => {
    const cells = Object.fromEntries(["bounds", "drops", "first", "alone", "share", "marks"].map((name) => [name, element("td", { class: name })]));
    const meter = element("i", { class: "bar" });
    cells.share.append(meter);
    const open = button(rule.name === "ratio" ? rule.place.split(".")[1].replace("_", " ") : words(rule.name), () => choose(i));
    body.append(element("tr", { click: ({ target }) => target.closest("button") ?? choose(i) }, element("th", { scope: "row" }, open), ...Object.values(cells)));
    return { cells, meter, row: body.lastElementChild, open };
  });
  const reasons = element("div", { class: "reasons" });
  const table = element(
    "table",
    { class: "rules" },
    element("thead", {}, element("tr", {}, element("th", {}, "rule"), element("th", {}, "keeps from … to"),
      ...COLUMNS.map(([name, title]) => element("th", { title, class: "number" }, name)),
      element("th", { title: `share of the ${UNITS[level]} that have this score` }, "share"), element("th", { class: "marks", title: "of the documents you marked: the share of bad ones among what the rule drops · the share of bad ones that it drops" }, "precision · recall"))),
    body,
  );
  place.append(
    element("section", { class: "list" }, element("div", { class: "scroll" }, table), level === "image" ? imageNumbers() : null, reasons),
    detail,
  );
  let open = null;

  function choose(i) {
    chosenAt[level] = i;
    rows.forEach(({ row, open: its }, at) => {
      row.classList.toggle("chosen", at === i);
      its.setAttribute("aria-pressed", String(at === i));
    });
    open = ruleDetail(detail, list[i], level);
  }

  function weighed() {
    const counts = countsOf(level);
    if (!counts) return;
    table.classList.toggle("marked", judged().length > 0);
    rows.forEach(({ cells, meter, row }, i) => {
      const { measured, drops } = counts[i];
      for (const [name] of COLUMNS) cells[name].textContent = whole(counts[i][name]);
      const share = measured ? drops / measured : 0;
      meter.style.setProperty("--share", share);
      cells.share.title = `${percent(share)} of ${whole(measured)}`;
      row.classList.toggle("idle", drops === 0);
      const { precision, recall } = judged()[i] ?? {};
      cells.marks.textContent = precision ? `${percent(precision.value)} · ${percent(recall.value)}` : "";
    });
    if (level === "document") reasons.replaceChildren(...whyDropped(detail, () => (open = null)));
    if (open === null && !detail.firstChild) choose(chosenAt[level] ?? mostDropping(counts));
  }

  function changed() {
    rows.forEach(({ cells, row }, i) => {
      cells.bounds.textContent = boundsText(list[i]);
      const start = list[i].single ? list[i].place : `${list[i].place}.`;
      row.classList.toggle("changed", Object.keys(settings).some((at) => at.startsWith(start)));
    });
    open?.changed();
  }

  changed();
  weighed();
  return { weighed, changed };
}

const mostDropping = (counts) => counts.reduce((best, { drops }, i) => (drops > counts[best].drops ? i : best), 0);

function whyDropped(detail, left) {
  const { reasons, kept } = bench.estimate;
  const listing = (reason, label) =>
    button(label, async () => {
      const found = await ask("listed", { settings, reason });
      if (found === undefined) return;
      left();
      const title = reason === null ? "Documents that stay" : `Documents that ${words(reason)} drops`;
      detail.replaceChildren(element("h2", {}, title), cards(found, { note: () => (reason === null ? "stays" : `drops: ${words(reason)}`) }));
    });
  return [
    element("h2", {}, "Where documents end"),
    element("ul", {}, element("li", {}, listing(null, `stay: ${whole(kept.documents)}`)),
      ...Object.entries(reasons).map(([reason, count]) => element("li", {}, listing(reason, `${words(reason)}: ${whole(count)}`)))),
  ];
}

function imageNumbers() {
  const field = (name, label) => {
    const at = `images.${name}`;
    return element("label", {}, label, numberField(valueOf(at), (value) => set(at, value), { id: name, min: 0, step: 1 }));
  };
  return element("div", { class: "fields" },
    field("min_per_document", "images a document must keep "), field("max_per_document", "images a document may keep "),
    element("p", { class: "quiet" }, `formats: ${bench.about.limits.formats.join(", ")}`));
}

/** The chosen rule: distribution, bounds, bounds by language, and what lies at the line. */
function ruleDetail(place, rule, level) {
  const sides = sidesOf(rule);
  const view = { language: firstLanguage(rule), site: "", log: null };
  const plot = element("div", { class: "plot-place" });
  const legend = element("p", { class: "legend" });
  const fields = element("div", { class: "fields" });
  const languages = element("div", { class: "languages" });
  const near = element("div", { class: "near" });
  const log = element("input", { type: "checkbox", id: "log", change: () => refilter({ log: log.checked }) });
  const siteField = element("input", { id: "site", list: "sites", placeholder: "any, or .org", change: () => refilter({ site: siteField.value.trim() }) });
  const languageField = select(
    [["", "all"], ...bench.about.languages.map(({ name, documents }) => [name, `${name} (${whole(documents)})`])],
    view.language, (language) => refilter({ language }), { id: "language" });
  let data, chart, side, lastNear, pause;

  const scope = () => scopeFor(rule, view.language);
  const bounds = () => Object.fromEntries(sides.map((name) => [name, boundOf(rule, scope(), name)]));
  const filter = () => ({ level, name: rule.name, language: view.language || null, site: view.site || null });

  place.replaceChildren(
    element("h2", {}, words(rule.name), element("small", {}, ` ${rule.place}${rule.roles ? ` · of ${rule.roles.join(", ")}` : ""}`)),
    element("div", { class: "controls" },
      element("label", {}, "language ", languageField), element("label", {}, "site ", siteField),
      element("datalist", { id: "sites" }, bench.about.sites.map(({ name }) => element("option", { value: name }))),
      element("label", {}, log, " log scale")),
    plot, legend, fields, languages, near);

  function refilter(values) {
    Object.assign(view, values);
    load();
    changed();
  }

  const load = latest(async () => {
    const found = await ask("histogram", { ...filter(), log: view.log });
    if (found === undefined) return plot.replaceChildren(element("p", { class: "quiet" }, "nothing was measured"));
    data = found;
    chart = null;
    log.checked = data.log;
    changed();
  });

  function changed() {
    showFields();
    showLanguages();
    if (!data) return;
    const now = bounds();
    const drawn = sides.filter((name) => now[name] !== null).join();
    const dragging = plot.contains(document.activeElement);
    if (chart?.drawn === drawn && (dragging || fits(now))) chart.show(now);
    else draw(now);
    clearTimeout(pause);
    pause = setTimeout(loadNear, REST);
  }

  const fits = (now) => Object.values(now).every((value) => value === null || (value >= chart.low && value <= chart.high));

  function draw(now) {
    const focused = plot.contains(document.activeElement) ? document.activeElement.dataset.side : null;
    chart = histogram({ data, bounds: now, whole: WHOLE.test(rule.name), name: rule.name, unit: UNITS[level], moved });
    plot.replaceChildren(chart.node);
    if (focused) plot.querySelector(`[data-side=${focused}]`)?.focus();
    const of = data.all.reduce((sum, count) => sum + count, 0);
    legend.replaceChildren(
      element("span", { class: "key kept" }, "within, and kept by the run"), element("span", { class: "key lost" }, "within, dropped by the run"),
      element("span", { class: "key outside" }, "outside: this rule drops it"),
      element("span", { class: "quiet" }, `${whole(of)} ${UNITS[level]}${data.without ? `, ${whole(data.without)} without this score` : ""}`));
  }

  function moved(name, value) {
    side = name;
    set(placeOf(rule, scope(), name), value);
  }

  function showFields() {
    const now = bounds();
    const of = scope() ? ` in ${scope()}` : languagesOf(rule).length ? " in all other languages" : "";
    const shape = JSON.stringify([of, sides.map((name) => now[name] === null)]);
    if (fields.dataset.shape === shape) return sides.forEach((name) => now[name] !== null && show(fields.querySelector(`#bound-${name}`), now[name]));
    fields.dataset.shape = shape;
    fields.replaceChildren(element("span", { class: "quiet" }, `keeps${of}:`), ...sides.map((name) =>
      now[name] === null ? button(`+ ${name}`, () => data && moved(name, startOf(name)), { title: `a bound: ${name}` })
        : element("label", {}, `${name} `, numberField(now[name], (value) => moved(name, value), { id: `bound-${name}` }),
          rule.single ? null : button("×", () => moved(name, null), { "aria-label": `no ${name}` }))));
  }

  const startOf = (name) => {
    const end = name === "min" ? data.edges[0] : data.edges.at(-1);
    return WHOLE.test(rule.name) ? (name === "min" ? Math.ceil(end) : Math.floor(end)) : Number(end.toPrecision(4));
  };

  function showLanguages() {
    if (rule.single) return;
    const own = languagesOf(rule);
    const others = bench.about.languages.map(({ name }) => name).filter((name) => name && !own.includes(name));
    const shape = JSON.stringify([own, own.map((name) => written(rule, name)), view.language]);
    if (languages.dataset.shape === shape || languages.contains(document.activeElement) && languages.dataset.of === own.join()) return;
    [languages.dataset.shape, languages.dataset.of] = [shape, own.join()];
    const add = others.length ? select([["", "+ bounds of their own for …"], ...others.map((name) => [name, name])], "", (language) => {
      setLanguage(rule, language, bounds());
      languageField.value = language;
      refilter({ language });
    }, { "aria-label": "bounds for a language" }) : null;
    languages.replaceChildren(element("div", {},
      own.length ? element("h3", {}, "Bounds by language") : null,
      element("ul", {}, own.map((language) => element("li", { class: language === view.language ? "chosen" : "" },
        button(language, () => { languageField.value = language; refilter({ language }); }, { title: "show this language" }),
        ...sides.map((name) => [name, boundOf(rule, language, name)]).filter(([, value]) => value !== null).map(([name, value]) =>
          element("label", {}, ` ${name} `, numberField(value, (next) => set(placeOf(rule, language, name), next), { "aria-label": `${name} in ${language}` }))),
        written(rule, language) ? null : element("span", { class: "quiet" }, " drops nothing "),
        button("×", () => dropLanguage(language), { "aria-label": `no bounds in ${language}`, title: "drop nothing in this language" })))),
      add));
  }

  function dropLanguage(language) {
    if (language in (rule.languages ?? {})) return setLanguage(rule, language, null);
    for (const at of Object.keys(settings)) if (at.startsWith(`${rule.place}.languages.${language}`)) unset(at);
  }

  const loadNear = latest(async () => {
    const now = bounds();
    const of = now[side] != null ? side : sides.find((name) => now[name] !== null);
    if (!of) return near.replaceChildren(element("p", { class: "quiet" }, "No bound: the rule drops nothing here. Add one to see what lies on either side of it."));
    const asked = { ...filter(), value: now[of] };
    const key = JSON.stringify(asked);
    if (key === lastNear) return;
    const found = await ask("near", asked);
    if (found === undefined) return;
    lastNear = key;
    const all = [...found.below, ...found["at or above"]];
    const within = (value) => sides.every((name) => now[name] === null || { min: value >= now.min, max: value <= now.max, below: value < now.below }[name]);
    near.replaceChildren(element("h3", {}, `Just on either side of ${of} ${short(now[of])}`),
      element("div", { class: "two" }, ["below", "at or above"].map((name) => element("div", {}, element("h4", {}, `${name} ${short(now[of])}`),
        cards(found[name], { all, rule, within })))));
  });

  load();
  changed();
  return { changed };
}

/** Where all bounds of a rule are by language, that of most documents: else its plot would show none. */
function firstLanguage(rule) {
  if (written(rule)) return "";
  return bench.about.languages.find(({ name }) => languagesOf(rule).includes(name) && written(rule, name))?.name ?? "";
}

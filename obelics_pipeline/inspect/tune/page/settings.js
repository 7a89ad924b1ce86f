// The whole state of the page's config: places that differ from the run's config, and their values.
import { short } from "./element.js";
import { forgetErrors } from "./server.js";

export const SIDES = ["min", "max", "below"];
const listeners = [];
const kept = fromAddress();
let originals = new Map(); // place -> value in the run's config

export let settings = kept.settings; // place -> value
export let remembered = kept.remembered; // settings to compare with, null: the run's own

function fromAddress() {
  const nothing = { settings: {}, remembered: null };
  try {
    return { ...nothing, ...JSON.parse(decodeURIComponent(location.hash.slice(1))) };
  } catch {
    return nothing;
  }
}

function changed() {
  history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify({ settings, remembered }))}`);
  forgetErrors();
  for (const listener of listeners) listener();
}

export const whenChanged = (listener) => listeners.push(listener);

/** What the run's config has at the places that can be moved. */
export function readOriginals(about) {
  const rules = [...about.document, ...about.paragraph, ...about.image];
  originals = new Map(rules.flatMap((rule) => scopesOf(rule).flatMap((scope) => boundsOf(rule, scope))));
  for (const { place, value } of about.dedup) originals.set(place, value);
  for (const name of ["min_per_document", "max_per_document"]) originals.set(`images.${name}`, about.limits[name]);
}

const scopesOf = (rule) => ["", ...Object.keys(rule.languages ?? {})];
const boundsOf = (rule, scope) => {
  const bounds = scope ? rule.languages[scope] : rule;
  if (bounds === null) return [[languagePlace(rule, scope), null]];
  return sidesOf(rule).map((side) => [placeOf(rule, scope, side), bounds[side] ?? null]);
};
const languagePlace = (rule, language) => `${rule.place}.languages.${language}`;

/** The sides that a rule can be bounded on; a single one is a number of the config, not a section of bounds. */
export const sidesOf = (rule) =>
  !rule.single ? SIDES : rule.place === "language.min_score" ? ["min"] : SIDES.filter((side) => side in rule);

/** Where a config has a bound of a rule; `scope` is a language, "" for all that have none of their own. */
export const placeOf = (rule, scope, side) =>
  rule.single ? rule.place : `${scope ? languagePlace(rule, scope) : rule.place}.${side}`;

export const original = (place) => originals.get(place) ?? null;
export const valueOf = (place) => (place in settings ? settings[place] : original(place));
export const boundOf = (rule, scope, side) =>
  sidesOf(rule).includes(side) && !(scope && languagePlace(rule, scope) in settings)
    ? valueOf(placeOf(rule, scope, side))
    : null;

/** Languages with bounds of their own, in the run's config or by a setting. */
export function languagesOf(rule) {
  const start = `${rule.place}.languages.`;
  const places = Object.keys(settings).filter((place) => place.startsWith(start));
  const added = places.map((place) => place.slice(start.length).split(".")[0]);
  return [...new Set([...Object.keys(rule.languages ?? {}), ...added])];
}

export const holds = ({ min, max, below }, value) =>
  !(min != null && value < min) && !(max != null && value > max) && !(below != null && value >= below);

export const boundsText = (rule, scope = "") =>
  sidesOf(rule)
    .map((side) => [side, boundOf(rule, scope, side)])
    .filter(([, value]) => value !== null)
    .map(([side, value]) => `${side} ${short(value)}`)
    .join(", ");

/** The bounds that hold for a language: its own, or those of all others. */
export const scopeFor = (rule, language) => (language && languagesOf(rule).includes(language) ? language : "");

export function set(place, value) {
  for (const above of Object.keys(settings)) if (place.startsWith(`${above}.`)) delete settings[above];
  if (originals.has(place) && value === originals.get(place)) delete settings[place];
  else settings[place] = value;
  changed();
}

/** Bounds of a rule for one language, by side; null: the rule decides nothing there. */
export function setLanguage(rule, language, bounds) {
  forget(rule, language);
  if (bounds === null) return set(languagePlace(rule, language), null);
  for (const [side, value] of Object.entries(bounds)) settings[placeOf(rule, language, side)] = value;
  changed();
}

/** A language that the run's config has bounds for has none; one that was added is as all others again. */
export function takeLanguage(rule, language) {
  if (language in rule.languages) return setLanguage(rule, language, null);
  forget(rule, language);
  changed();
}

function forget(rule, language) {
  const own = languagePlace(rule, language);
  for (const place of Object.keys(settings)) if (place === own || place.startsWith(`${own}.`)) delete settings[place];
}

export function unset(place) {
  delete settings[place];
  changed();
}

export function undoAll() {
  settings = {};
  changed();
}

export function remember(values) {
  remembered = values;
  changed();
}

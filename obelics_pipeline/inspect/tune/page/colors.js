// What the points of the map are coloured by: names, or a score with its bounds; and a legend that says so.
// Categories are of Okabe and Ito (2008), scores of viridis, or blue for what stays and orange for what a bound drops:
// each can be told apart by people who do not see red or green, on a light ground and on a dark one.
import { element, percent, short, svg, whole, words } from "./element.js";

const NAMED = {
  light: ["#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a4fa3"],
  dark: ["#f0763b", "#2bbf93", "#e08fc0", "#f0e442", "#a98bf0", "#b98a2e"],
};
const GROUND = {
  light: { kept: "#0072b2", nothing: "#c3c7cd", others: "#6d727a" },
  dark: { kept: "#4a9fd8", nothing: "#4d525b", others: "#a7adb8" },
};
const MARKS = { good: "kept", bad: 0 };
const RAMPS = {
  light: { all: ["#440154", "#3b528b", "#21918c", "#5ec962", "#c8d51f"], stays: ["#9cc9e8", "#0072b2", "#08306b"], drops: ["#f6b06b", "#d55e00", "#7f2704"] },
  dark: { all: ["#6a4c93", "#5b7fc7", "#2ea79f", "#6ed46f", "#fde725"], stays: ["#2f6f9f", "#56b4e9", "#d6efff"], drops: ["#9c4a12", "#f0763b", "#ffd9b8"] },
};
const SHADES = 256;
const MOST = 6; // names with a colour of their own
const BAR = { width: 260, height: 12, top: 16 };

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => (dark.matches ? "dark" : "light");
export const whenTheme = (listener) => dark.addEventListener("change", listener);

const parts = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
const packed = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0; // as a canvas has it
const text = (color) => `#${[0, 8, 16].map((shift) => ((color >>> shift) & 255).toString(16).padStart(2, "0")).join("")}`;

/** Colors, the order to draw them in (what says nothing first, below the others), and a legend. */
function painted(colors, nothing, legend) {
  const places = [...colors.keys()];
  const order = Uint32Array.from([...places.filter((i) => colors[i] === nothing), ...places.filter((i) => colors[i] !== nothing)]);
  return { colors, order, legend };
}

/** By names; `kind` is reason, language, page_type or mark. */
export function byName({ names, codes }, kind) {
  const [named, ground] = [NAMED[theme()], GROUND[theme()]];
  const counts = new Array(names.length + 1).fill(0);
  for (const code of codes) counts[code + 1]++;
  const most = names.map((_, i) => i).filter((i) => counts[i + 1]).sort((a, b) => counts[b + 1] - counts[a + 1]);
  const without = kind === "reason" ? ground.kept : ground.nothing;
  const own = (i, rank) => (kind === "mark" ? ground[MARKS[names[i]]] ?? named[MARKS[names[i]]] : rank < MOST ? named[rank] : ground.others);
  const color = new Uint32Array(names.length + 1);
  color[0] = packed(parts(without));
  most.forEach((i, rank) => (color[i + 1] = packed(parts(own(i, rank)))));
  const shown = most.slice(0, kind === "mark" ? most.length : MOST).map((i) => [words(names[i]), color[i + 1], counts[i + 1]]);
  const rest = most.length > shown.length ? [[`${most.length - shown.length} others`, packed(parts(ground.others)), most.slice(shown.length).reduce((sum, i) => sum + counts[i + 1], 0)]] : [];
  const nameless = { reason: "stays", language: "no language", page_type: "not told", mark: "not marked" }[kind];
  const keys = [...(counts[0] ? [[nameless, color[0], counts[0]]] : []), ...shown, ...rest];
  return painted(Uint32Array.from(codes, (code) => color[code + 1]), packed(parts(kind === "reason" ? ground.kept : ground.nothing)), element("ul", { class: "legend names" }, keys.map(key)));
}

function key([label, color, count]) {
  const sign = element("i", { class: "swatch" });
  sign.style.background = text(color);
  return element("li", {}, sign, `${label} `, element("small", {}, whole(count)));
}

/** By a score. Colours are spread by rank, so that a few high values do not hide the rest; `bounds` as [side, value]. */
export function byScore(values, bounds) {
  const nothing = packed(parts(GROUND[theme()].nothing));
  const sorted = Float64Array.from(values.filter((value) => value !== null)).sort();
  if (!sorted.length) return painted(new Uint32Array(values.length).fill(nothing), nothing, element("p", { class: "quiet legend" }, "No document has this score."));
  const shade = shading(sorted, bounds);
  const out = values.filter((value) => value !== null && violates(value, bounds)).length;
  const legend = element("div", { class: "legend score" }, bar(sorted, bounds, shade),
    element("small", {}, bounds.length ? `blue stays, orange: ${whole(out)} (${percent(out / sorted.length)}) that ${bounds.map(([side, value]) => `${side} ${short(value)}`).join(", ")} drops; ` : "", "spread by rank",
      sorted.length < values.length ? `; grey: ${whole(values.length - sorted.length)} without this score` : ""));
  return painted(Uint32Array.from(values, (value) => (value === null ? nothing : shade(value))), nothing, legend);
}

const violates = (value, bounds) => bounds.some(([side, bound]) => ({ min: value < bound, max: value > bound, below: value >= bound })[side]);

function shading(sorted, bounds) {
  const ramps = Object.fromEntries(Object.entries(RAMPS[theme()]).map(([name, stops]) => [name, ramp(stops)]));
  if (!bounds.length) return (value) => ramps.all[Math.round(rank(sorted, value) * (SHADES - 1))];
  const at = bounds.map(([, bound]) => rank(sorted, bound));
  const lowest = bounds[0][0] === "min" ? at[0] : 0;
  const highest = Math.min(1, ...bounds.flatMap(([side], i) => (side === "min" ? [] : [at[i]])));
  const reach = { stays: Math.max(highest - lowest, 0.02) / (bounds.length > 1 ? 2 : 1), below: Math.max(lowest, 0.02), above: Math.max(1 - highest, 0.02) };
  return (value) => {
    const place = rank(sorted, value);
    const out = violates(value, bounds);
    const far = out ? (place < lowest ? (lowest - place) / reach.below : (place - highest) / reach.above) : Math.min(...at.map((bound) => Math.abs(place - bound))) / reach.stays;
    return ramps[out ? "drops" : "stays"][Math.round(Math.min(Math.max(far, 0), 1) * (SHADES - 1))];
  };
}

function ramp(stops) {
  const colors = stops.map(parts);
  return Uint32Array.from({ length: SHADES }, (_, i) => {
    const at = (i / (SHADES - 1)) * (stops.length - 1);
    const from = Math.min(Math.floor(at), stops.length - 2);
    return packed(colors[from].map((one, channel) => Math.round(one + (colors[from + 1][channel] - one) * (at - from))));
  });
}

/** The share of values that lie below one, equal ones half. */
function rank(sorted, value) {
  const below = (test) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (test(sorted[middle])) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return (below((one) => one < value) + below((one) => one <= value)) / 2 / sorted.length;
}

function bar(sorted, bounds, shade) {
  const { width, height, top } = BAR;
  const at = (share) => sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)];
  const columns = Array.from({ length: width / 4 }, (_, i) => svg("rect", { x: i * 4, y: top, width: 4, height, fill: text(shade(at((i + 0.5) / (width / 4)))) }));
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => svg("text", { x: share * width, y: top + height + 13, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle" }, short(at(share))));
  const lines = bounds.map(([side, value]) => {
    const place = Math.min(Math.max(rank(sorted, value), 0.004), 0.996) * width;
    return svg("g", { class: "line" }, svg("path", { d: `M${place} ${top - 4}v${height + 8}` }),
      svg("text", { x: place, y: top - 6, "text-anchor": place < 50 ? "start" : place > width - 50 ? "end" : "middle" }, `${side} ${short(value)}`));
  });
  return svg("svg", { viewBox: `0 0 ${width} ${top + height + 16}`, width, class: "scale", role: "img", "aria-label": `from ${short(sorted[0])} to ${short(sorted.at(-1))}` }, columns, ticks, lines);
}

// The distribution of a score as bars, with a line for each bound that can be dragged, or moved with the arrow keys.
import { element, short, svg, words } from "./element.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [720, 250, 46, 14, 34, 38];
const INNER = { width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };
const KEYS = { ArrowLeft: -0.25, ArrowDown: -0.25, ArrowRight: 0.25, ArrowUp: 0.25, PageDown: -4, PageUp: 4 }; // bars
let drawn = 0; // ids of clip paths

/** Where values lie: the bars are equally wide, whatever scale they were cut by. */
export class Scale {
  constructor({ edges, log }, bounds, whole) {
    this.cuts = [...edges];
    this.whole = whole;
    this.log = log;
    this.single = edges[1] - edges[0] === 1 && edges[0] % 1 !== 0; // a bar for each whole number
    const step = edges.at(-1) - edges.at(-2);
    const low = edges[0] - (edges[1] - edges[0]);
    const first = Math.min(...bounds, edges[0] >= 0 ? Math.max(low, 0) : low);
    const last = Math.max(...bounds, edges.at(-1) + step);
    this.before = first < edges[0] ? 1 : 0; // room for a bound below all values
    if (this.before) this.cuts.unshift(first);
    this.cuts.push(last);
  }

  get slots() {
    return this.cuts.length - 1;
  }

  /** In bars from the left end. */
  position(value) {
    const { cuts, slots } = this;
    if (value <= cuts[0]) return 0;
    if (value >= cuts[slots]) return slots;
    const i = cuts.findIndex((_, at) => value < cuts[at + 1]);
    const [from, to] = [cuts[i], cuts[i + 1]];
    return i + (this.log && from > 0 ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from));
  }

  /** The value at a place, rounded to what a person can tell apart there. */
  value(position) {
    const at = Math.min(Math.max(position, 0), this.slots);
    const i = Math.min(Math.floor(at), this.slots - 1);
    const [from, to, part] = [this.cuts[i], this.cuts[i + 1], at - i];
    const found = this.log && from > 0 ? from * (to / from) ** part : from + (to - from) * part;
    const step = this.step(i);
    return Number((Math.round(found / step) * step).toPrecision(12));
  }

  step(slot) {
    const width = this.cuts[slot + 1] - this.cuts[slot];
    const step = 10 ** (Math.floor(Math.log10(width || 1)) - 1);
    return this.whole ? Math.max(1, step) : step;
  }

  ticks() {
    const { cuts, before } = this;
    const [low, high] = [cuts[before], cuts[this.slots - 1]];
    const found = [];
    if (this.log) {
      const least = low || cuts[before + 1];
      const digits = high / least > 30 ? [1, 2, 5] : [1, 2, 3, 4, 5, 6, 8];
      for (let e = Math.floor(Math.log10(least)); e <= Math.log10(high); e++)
        for (const digit of digits) found.push(Number((digit * 10 ** e).toPrecision(3)));
    } else {
      const raw = (high - low) / 8;
      const unit = 10 ** Math.floor(Math.log10(raw));
      const step = unit * [1, 2, 5, 10].find((times) => times * unit >= raw);
      for (let at = Math.ceil(low / step); at * step <= high; at++) found.push(Number((at * step).toPrecision(6)));
    }
    const within = found.filter((value) => value >= low && value <= high);
    const every = Math.ceil(within.length / 10);
    return within.filter((_, i) => i % every === 0);
  }
}

/** A plot of `data` (see the question histogram); `moved(side, value)` is told while a bound moves. */
export function histogram({ data, bounds, whole, name, unit, moved }) {
  const set = Object.entries(bounds).filter(([, value]) => value !== null);
  const scale = new Scale(data, set.map(([, value]) => value), whole);
  const shift = { min: -0.5, max: 0.5, below: -0.5 };
  const at = (side, value) => x(scale.position(value + (scale.single ? shift[side] : 0)));
  const x = (position) => LEFT + (position / scale.slots) * INNER.width;
  const top = Math.max(1, ...data.all);
  const y = (count) => TOP + INNER.height * (1 - count / top);

  const axis = words(name) + (data.log ? " (log scale)" : "");
  const id = `within-${++drawn}`;
  const within = svg("rect", { y: 0, height: HEIGHT });
  const plot = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "histogram", role: "group", "aria-label": `how ${words(name)} lies` },
    svg("clipPath", { id }, within),
    ...[0, top / 2, top].filter((count) => Number.isInteger(count)).map((count) => countTick(count, y(count))),
    bars("outside", data.all),
    svg("g", { "clip-path": `url(#${id})` }, bars("lost", data.all), bars("kept", data.kept)),
    svg("path", { class: "axis", d: `M${LEFT} ${TOP + INNER.height}h${INNER.width}` }),
    ...scale.ticks().map((value) => valueTick(value, x(scale.position(value)))),
    svg("text", { class: "label", x: LEFT + INNER.width / 2, y: HEIGHT - 4 }, axis),
    svg("text", { class: "label", transform: `translate(10 ${TOP + INNER.height / 2}) rotate(-90)` }, unit),
  );

  function bars(kind, counts) {
    const d = counts.map((count, i) => {
      const [from, to] = [x(i + scale.before), x(i + 1 + scale.before)];
      const height = count && Math.max(1.5, TOP + INNER.height - y(count)); // even one can be seen
      return count ? `M${from} ${TOP + INNER.height}v${-height}h${Math.max(to - from - 0.6, 0.4)}v${height}z` : "";
    });
    return svg("path", { class: kind, d: d.join("") });
  }

  const lines = Object.fromEntries(set.map(([side]) => [side, line(side)]));
  plot.append(...Object.values(lines));

  function line(side) {
    const found = svg(
      "g",
      {
        class: "bound",
        role: "slider",
        tabindex: 0,
        "aria-label": `${side} of ${words(name)}`,
        "aria-valuemin": scale.cuts[0],
        "aria-valuemax": scale.cuts.at(-1),
        "data-side": side,
        keydown: (event) => pressed(event, side),
        pointerdown: (event) => {
          found.setPointerCapture(event.pointerId);
          found.focus();
          event.preventDefault();
        },
        pointermove: ({ pointerId, clientX }) => {
          if (found.hasPointerCapture(pointerId)) move(side, valueAt(clientX, side));
        },
      },
      svg("rect", { class: "grip", x: -9, y: 0, width: 18, height: TOP + INNER.height }),
      svg("path", { d: `M0 2V${TOP + INNER.height}` }),
      svg("text", { y: side === "min" ? 12 : 26 }),
    );
    return found;
  }

  function valueAt(clientX, side) {
    const box = plot.getBoundingClientRect();
    const position = ((((clientX - box.left) / box.width) * WIDTH - LEFT) / INNER.width) * scale.slots;
    return scale.single ? Math.round(scale.value(position) - shift[side]) : scale.value(position);
  }

  function pressed(event, side) {
    const value = bounds[side];
    let next;
    if (event.key === "Home") next = scale.cuts[0];
    else if (event.key === "End") next = scale.cuts.at(-1);
    else if (event.key in KEYS) {
      const by = KEYS[event.key];
      const position = scale.position(value) + by;
      next = scale.value(position);
      const step = scale.single ? 1 : scale.step(Math.min(Math.max(Math.floor(position), 0), scale.slots - 1));
      if ((next - value) * by <= 0 || scale.single) next = Number((value + Math.sign(by) * step).toPrecision(12));
    } else return;
    event.preventDefault();
    move(side, next);
  }

  function move(side, value) {
    if (value !== bounds[side]) moved(side, value);
  }

  /** Shows other values of the bounds that are drawn. */
  function show(values) {
    Object.assign(bounds, values);
    const ends = { min: LEFT, max: WIDTH - RIGHT, below: WIDTH - RIGHT };
    for (const [side, found] of Object.entries(lines)) {
      const place = (ends[side] = at(side, bounds[side]));
      found.setAttribute("transform", `translate(${place} 0)`);
      found.setAttribute("aria-valuenow", bounds[side]);
      const text = found.lastElementChild;
      text.textContent = `${side} ${short(bounds[side])}`;
      const left = side === "min" ? place > LEFT + 80 : place > WIDTH - 90; // of the line, where there is room
      text.setAttribute("text-anchor", left ? "end" : "start");
      text.setAttribute("x", left ? -5 : 5);
    }
    const end = Math.min(ends.max, ends.below);
    within.setAttribute("x", ends.min);
    within.setAttribute("width", Math.max(0, end - ends.min));
  }

  show(bounds);
  const reaches = (values) =>
    Object.values(values).every((value) => value === null || (value >= scale.cuts[0] && value <= scale.cuts.at(-1)));
  return { node: element("div", { class: "plot" }, plot), show, reaches, drawn: set.map(([side]) => side).join() };
}

const countTick = (count, at) =>
  svg(
    "g",
    { class: "tick" },
    svg("path", { d: `M${LEFT} ${at}h${INNER.width}` }),
    svg("text", { x: LEFT - 5, y: at + 4, "text-anchor": "end" }, short(count)),
  );

const valueTick = (value, at) =>
  svg(
    "g",
    { class: "tick" },
    svg("path", { d: `M${at} ${TOP + INNER.height}v4` }),
    svg("text", { x: at, y: TOP + INNER.height + 16, "text-anchor": "middle" }, short(value)),
  );

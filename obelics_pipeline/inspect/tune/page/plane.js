// A plane of points on a canvas: a view that is moved over them, names of regions, and a line drawn round some of them.
import { element } from "./element.js";

const ROOM = 0.92; // of the canvas that all points take up at first
const PAN = 60; // CSS pixels, of an arrow key
const ZOOM = 1.3; // of + and -
const FARTHEST = 0.5; // of the first scale
const CLOSEST = 400;
const NEAR = 12; // CSS pixels between the pointer and the point that it is on
const SLIP = 4; // that the pointer may move in a click
const CORNERS = 300; // of a region, at most
const FONT = "600 12px system-ui, sans-serif";
const ROW = 15; // CSS pixels that a name is high

export class Plane {
  /** `listeners`: hovered(i or -1, x, y), clicked(i), enclosed(corners), all of points by their place in `x` and `y`. */
  constructor({ x, y, labels }, listeners) {
    [this.x, this.y] = [Float64Array.from(x), Float64Array.from(y)];
    this.labels = [...labels].sort((a, b) => b.documents - a.documents);
    this.listeners = listeners;
    this.colors = new Uint32Array(x.length).fill(0xff888888);
    this.order = Uint32Array.from(this.colors.keys());
    [this.corners, this.hovered, this.lassoing] = [[], -1, false];
    this.dots = element("canvas", { "aria-hidden": "true" });
    this.over = element("canvas", { tabindex: 0, role: "application", "aria-label": `map of ${x.length} documents: arrow keys move it, + and - zoom, 0 shows all`,
      pointerdown: (event) => this.pressed(event), pointermove: (event) => this.moved(event), pointerup: (event) => this.released(event),
      pointercancel: () => this.dropped(), pointerleave: () => this.hover(-1), keydown: (event) => this.typed(event) });
    this.over.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.node = element("div", { class: "plane" }, this.dots, this.over);
    this.first = this.around();
    new ResizeObserver(() => this.resize()).observe(this.node);
  }

  /** The middle and the extent of all points. */
  around() {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.x.length; i++) {
      left = Math.min(left, this.x[i]);
      right = Math.max(right, this.x[i]);
      low = Math.min(low, this.y[i]);
      high = Math.max(high, this.y[i]);
    }
    if (left > right) return { x: 0, y: 0, width: 1, height: 1 };
    return { x: (left + right) / 2, y: (low + high) / 2, width: right - left || 1, height: high - low || 1 };
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.node;
    if (!width || !height) return;
    this.ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.dots, this.over]) [canvas.width, canvas.height] = [width * this.ratio, height * this.ratio].map(Math.round);
    [this.width, this.height] = [width, height];
    this.whole = ROOM * Math.min(width / this.first.width, height / this.first.height); // CSS pixels per unit
    this.image = null;
    if (this.view && !this.fitted) this.look(this.view);
    else this.fit();
  }

  fit() {
    this.look({ x: this.first.x, y: this.first.y, scale: this.whole });
    this.fitted = true;
  }

  /** Shows another part: its middle, and CSS pixels per unit. */
  look({ x, y, scale }) {
    this.view = { x, y, scale: Math.min(Math.max(scale, this.whole * FARTHEST), this.whole * CLOSEST) };
    this.fitted = false;
    this.hover(-1);
    this.draw(true);
  }

  color(colors, order) {
    [this.colors, this.order] = [colors, order];
    this.draw(true);
  }

  enclose(corners) {
    this.corners = corners;
    this.draw();
  }

  /** Draws once before the next frame, the points only where they changed. */
  draw(dots = false) {
    this.stale ||= dots;
    if (this.waiting || !this.view) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (this.stale) this.drawDots();
      this.stale = false;
      this.drawOver();
    });
  }

  across = (x) => (x - this.view.x) * this.view.scale + this.width / 2;
  down = (y) => (this.view.y - y) * this.view.scale + this.height / 2;
  at = (left, top) => [this.view.x + (left - this.width / 2) / this.view.scale, this.view.y - (top - this.height / 2) / this.view.scale];

  /** Pixel by pixel: of 100,000 points a canvas's own shapes would take ten times as long. */
  drawDots() {
    const { x, y, colors, order, ratio, view } = this;
    const { width, height } = this.dots;
    const context = this.dots.getContext("2d");
    this.image ??= context.createImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer).fill(0);
    const stamp = disk(this.radius() * ratio);
    const edge = stamp.reach + 1;
    const [scale, left, top] = [view.scale * ratio, width / 2 - view.x * view.scale * ratio, height / 2 + view.y * view.scale * ratio];
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      const [px, py] = [Math.round(x[i] * scale + left), Math.round(top - y[i] * scale)];
      if (px < edge || py < edge || px >= width - edge || py >= height - edge) continue;
      const middle = py * width + px;
      for (let s = 0; s < stamp.cover.length; s++) {
        const place = middle + stamp.dy[s] * width + stamp.dx[s];
        pixels[place] = stamp.cover[s] === 255 ? colors[i] : blend(pixels[place], colors[i], stamp.cover[s]);
      }
    }
    context.putImageData(this.image, 0, 0);
    this.over.dataset.view = JSON.stringify(view);
  }

  /** Of a point, in CSS pixels: smaller where there are many, larger as one looks closer. */
  radius() {
    const room = Math.sqrt((this.width * this.height) / Math.max(this.x.length, 1));
    return Math.min(Math.max(0.14 * room, 0.8) * (this.view.scale / this.whole) ** 0.4, 6);
  }

  drawOver() {
    const context = this.over.getContext("2d");
    const style = getComputedStyle(this.node);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.drawLabels(context, style);
    const outline = this.drawn ?? this.corners;
    if (outline.length) {
      context.beginPath();
      outline.forEach(([x, y]) => context.lineTo(this.across(x), this.down(y)));
      context.closePath();
      context.fillStyle = "#8883";
      context.fill("evenodd");
      Object.assign(context, { strokeStyle: style.color, lineWidth: 1.5 });
      context.setLineDash([6, 4]);
      context.stroke();
      context.setLineDash([]);
    }
    if (this.hovered >= 0) {
      context.beginPath();
      context.arc(this.across(this.x[this.hovered]), this.down(this.y[this.hovered]), this.radius() + 4, 0, 2 * Math.PI);
      Object.assign(context, { strokeStyle: style.color, lineWidth: 2 });
      context.stroke();
    }
  }

  /** Names that have room, those of the largest regions first; the closer one looks, the more there are. */
  drawLabels(context, style) {
    Object.assign(context, { font: FONT, textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 4, strokeStyle: style.backgroundColor, fillStyle: style.color });
    const taken = [];
    const many = this.view.scale > this.whole * 2 ? 5 : 3;
    for (const { x, y, words } of this.labels) {
      const [left, top, text] = [this.across(x), this.down(y), words.slice(0, many).join(" ")];
      if (left < 0 || top < ROW || left > this.width || top > this.height - ROW) continue;
      const half = context.measureText(text).width / 2 + 6;
      const middle = Math.min(Math.max(left, half), this.width - half);
      if (taken.some((other) => Math.abs(other.middle - middle) < other.half + half && Math.abs(other.top - top) < ROW + 2)) continue;
      taken.push({ middle, top, half });
      context.globalAlpha = 0.7; // points under a name can still be guessed
      context.strokeText(text, middle, top);
      context.globalAlpha = 1;
      context.fillText(text, middle, top);
    }
  }

  /** The point nearest to a place on the canvas; -1 where none is near. */
  nearest(left, top) {
    const [x, y] = this.at(left, top);
    let [found, least] = [-1, ((NEAR + this.radius()) / this.view.scale) ** 2];
    for (let i = 0; i < this.x.length; i++) {
      const apart = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (apart < least) [found, least] = [i, apart];
    }
    return found;
  }

  hover(i, left, top) {
    if (i === this.hovered) return;
    this.hovered = i;
    this.listeners.hovered(i, left, top);
    this.draw();
  }

  pressed(event) {
    if (event.button !== 0) return;
    this.over.setPointerCapture(event.pointerId);
    const { offsetX: left, offsetY: top } = event;
    this.held = { left, top, view: this.view, slipped: false };
    if (event.shiftKey || this.lassoing) this.drawn = [this.at(left, top)];
  }

  moved({ offsetX: left, offsetY: top }) {
    const { held } = this;
    if (!held) return this.hover(this.nearest(left, top), left, top);
    held.slipped ||= Math.hypot(left - held.left, top - held.top) > SLIP;
    if (!held.slipped) return;
    if (this.drawn) {
      this.drawn.push(this.at(left, top));
      this.hover(-1);
      return this.draw();
    }
    const { x, y, scale } = held.view;
    this.look({ x: x - (left - held.left) / scale, y: y + (top - held.top) / scale, scale });
  }

  released({ offsetX: left, offsetY: top }) {
    const { held, drawn } = this;
    this.dropped();
    if (!held) return;
    if (!held.slipped) {
      const found = this.nearest(left, top);
      if (found >= 0) this.listeners.clicked(found);
    } else if (drawn) {
      const every = Math.ceil(drawn.length / CORNERS);
      this.corners = drawn.filter((_, i) => i % every === 0);
      if (this.corners.length > 2) this.listeners.enclosed(this.corners);
    }
  }

  dropped() {
    [this.held, this.drawn] = [null, null];
    this.draw();
  }

  wheeled(event) {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.04 : 0.0015)), event.offsetX, event.offsetY);
  }

  /** What is under a place of the canvas stays there. */
  zoom(by, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.at(left, top);
    this.look({ ...this.view, scale: this.view.scale * by });
    const [nowX, nowY] = this.at(left, top);
    this.look({ ...this.view, x: this.view.x + x - nowX, y: this.view.y + y - nowY });
  }

  typed(event) {
    const { x, y, scale } = this.view;
    const step = PAN / scale;
    const acts = {
      ArrowLeft: () => this.look({ x: x - step, y, scale }),
      ArrowRight: () => this.look({ x: x + step, y, scale }),
      ArrowUp: () => this.look({ x, y: y + step, scale }),
      ArrowDown: () => this.look({ x, y: y - step, scale }),
      "+": () => this.zoom(ZOOM),
      "=": () => this.zoom(ZOOM),
      "-": () => this.zoom(1 / ZOOM),
      0: () => this.fit(),
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  }

  /** The corners of what is in sight. */
  sight() {
    return [[0, 0], [this.width, 0], [this.width, this.height], [0, this.height]].map(([left, top]) => this.at(left, top));
  }
}

/** A round dot as pixels from its middle, and how much of each it covers (of 255). */
function disk(radius) {
  const found = { dx: [], dy: [], cover: [], reach: Math.ceil(radius) };
  for (let dy = -found.reach; dy <= found.reach; dy++)
    for (let dx = -found.reach; dx <= found.reach; dx++) {
      const cover = Math.round(255 * Math.min(Math.max(radius + 0.5 - Math.hypot(dx, dy), 0), 1));
      if (cover === 0) continue;
      found.dx.push(dx);
      found.dy.push(dy);
      found.cover.push(cover);
    }
  return found;
}

/** A color over another, both as alpha, blue, green and red from the highest byte. */
function blend(under, over, cover) {
  const alpha = under >>> 24;
  if (alpha === 0) return ((over & 0xffffff) | (cover << 24)) >>> 0;
  let found = Math.max(alpha, cover) << 24;
  for (const shift of [0, 8, 16]) {
    const [a, b] = [(under >>> shift) & 255, (over >>> shift) & 255];
    found |= (a + (((b - a) * cover) >> 8)) << shift;
  }
  return found >>> 0;
}

// Elements of the page. What comes from the web is only ever a text node or an attribute's value.
const SVG = "http://www.w3.org/2000/svg";

export const element = (tag, attributes, ...children) => made(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => made(document.createElementNS(SVG, tag), attributes, children);

function made(found, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {}))
    if (typeof value === "function") found.addEventListener(name, value);
    else if (typeof value === "boolean") found.toggleAttribute(name, value);
    else if (value != null) found.setAttribute(name, value);
  found.append(...children.flat().filter((child) => child != null));
  return found;
}

export const button = (label, click, attributes) => element("button", { type: "button", ...attributes, click }, label);

export const option = (value, label, chosen) => element("option", { value, selected: value === chosen }, label);

/** A choice between texts; each is [value, label]. */
export const select = (choices, chosen, change, attributes) =>
  element(
    "select",
    { ...attributes, change: ({ target }) => change(target.value) },
    choices.map(([value, label]) => option(value, label, chosen)),
  );

/**
 * A field for a number. What is no number is told to `refused`, and the value stays as it was: a browser gives such a
 * field as empty. Nothing written is null where `optional`, and else no number.
 */
export const numberField = (value, change, refused, { optional = false, ...attributes } = {}) => {
  const field = element("input", { type: "number", step: "any", value: value ?? "", ...attributes });
  let last = field.value;
  field.addEventListener("focus", () => (last = field.value));
  field.addEventListener("change", () => {
    const empty = field.value === "";
    const isNumber = !field.validity.badInput && Number.isFinite(Number(field.value));
    if (!isNumber || (empty && !optional)) {
      field.value = last;
      const name = field.getAttribute("aria-label") ?? field.id;
      return refused(`${name}: must be a number${optional ? ", or nothing for no limit" : "; × takes a bound away"}`);
    }
    last = field.value;
    change(empty ? null : Number(field.value));
  });
  return field;
};

/** Shows another value in a field, but not while someone writes in it. */
export function show(field, value) {
  if (field !== document.activeElement) field.value = value ?? "";
}

export const whole = (number) => Math.round(number).toLocaleString("en");
export const short = (number) =>
  number == null ? "" : Math.abs(number) >= 1000 ? whole(number) : String(Number(number.toPrecision(3)));
export const percent = (share) => (share == null ? "–" : `${Math.round(share * 100)}%`);
export const signed = (number) => "−±+"[Math.sign(Math.round(number)) + 1] + whole(Math.abs(number));
export const words = (name) => name.replaceAll("_", " ");

// Creates elements from a tag, properties and children. Text is inserted as text, never as markup.

/** An element: `make("p", { class: "note", onclick: work }, "text", otherElement, null)`. */
export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** An SVG element, in the same way. */
export function draw(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** The element with an id. */
export const named = (id) => document.getElementById(id);

/** Replace the children of an element. */
export function show(element, ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** An id for display: characters that would reorder, hide or break the surrounding text are shown as �. */
export const plain = (id) =>
  String(id).replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    "\ufffd",
  );

/** A count with separators and a noun: `counted(2, "copy", "copies")`. */
export function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A similarity, rounded down: only 1 is shown as 1, and no value below a threshold is shown as the threshold. */
export const likeness = (value) => (Math.floor(1000 * value + 1e-9) / 1000).toFixed(3);

/** A human-readable size in bytes. */
export function bytes(number) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (number >= 1000 && at < units.length - 1) {
    number /= 1000;
    at += 1;
  }
  return `${at ? number.toPrecision(3) : number} ${units[at]}`;
}

/** A similarity as a number and a bar. */
export function bar(value, name = "similarity") {
  return make(
    "span",
    { class: "likeness" },
    make("span", { class: "number" }, likeness(value)),
    make("span", {
      class: "track",
      role: "img",
      "aria-label": `${name} ${likeness(value)}`,
      "--share": value,
    }),
  );
}

/** Whether JavaScript represents an id exactly: it rounds numbers above 2^53, which could then be another id. */
export const exact = (id) => typeof id !== "number" || Number.isSafeInteger(id);

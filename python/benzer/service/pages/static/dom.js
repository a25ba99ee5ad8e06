// How does a script make elements? From a tag, properties and children; texts are texts, never markup.

/** An element: `make("p", { class: "note", onclick: work }, "text", otherElement, null)`. */
export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** An element of SVG, in the same way. */
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

/** The element of an id. */
export const named = (id) => document.getElementById(id);

/** Put children into an element in the place of those it has. */
export function show(element, ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** An id as people read it: what would turn, hide or break the letters around it is shown as �. */
export const plain = (id) =>
  String(id).replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    "\ufffd",
  );

/** A count with separators, and its noun: `counted(2, "copy", "copies")`. */
export function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A similarity, rounded down: only a true 1 reads as 1, and none below a threshold as it. */
export const likeness = (value) => (Math.floor(1000 * value + 1e-9) / 1000).toFixed(3);

/** A size in bytes, for people. */
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

/** Whether an id is the one that was sent: a browser rounds numbers beyond 2^53, which would then name another. */
export const exact = (id) => typeof id !== "number" || Number.isSafeInteger(id);

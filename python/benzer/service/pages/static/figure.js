// Figures as SVG elements; a style sheet sets the colours.
//
// A figure is as wide as its container, in pixels, so that its text has the size of the text around it on any screen.
// It has a title and a description for screen readers.

import { draw, make, show } from "./dom.js";

const EDGES = { left: 52, right: 14, top: 16, bottom: 44 };
let figures = 0;

/** The plot area of a figure: where its axes begin and end. */
export function plane(width, height) {
  const { left, right, top, bottom } = EDGES;
  return { width, height, start: left, end: width - right, top, floor: height - bottom };
}

/** An SVG element with coordinates rounded to two decimals. */
export function svg(tag, properties = {}, ...inside) {
  const rounded = ([name, value]) => [
    name,
    typeof value === "number" ? Math.round(value * 100) / 100 : value,
  ];
  return draw(tag, Object.fromEntries(Object.entries(properties).map(rounded)), ...inside);
}

/**
 * A figure in a container. `content(box)` returns { parts: [elements], description }. It is called again when the
 * width of the container changes, and by the returned `redraw`.
 */
export function figure(host, { title, height = 260, content }) {
  figures += 1;
  const names = [`figure-${figures}-title`, `figure-${figures}-desc`];
  const drawing = svg("svg", { class: "chart", role: "img", "aria-labelledby": names.join(" ") });
  show(host, drawing);
  let width = 0;
  const redraw = () => {
    if (width < 1) return;
    const { parts, description } = content(plane(width, height));
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    show(drawing, svg("title", { id: names[0] }, title), svg("desc", { id: names[1] }, description), parts);
  };
  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now === width) return;
    width = now;
    redraw();
  }).observe(host);
  return { drawing, redraw };
}

/** The axes of a figure: marks are pairs of a position and a label. */
export function frame(box, across, up, xLabel, yLabel) {
  const middle = (box.top + box.floor) / 2;
  return [
    ...up.flatMap(([at, word]) => [
      svg("line", { class: "grid", x1: box.start, x2: box.end, y1: at, y2: at }),
      svg("text", { class: "end", x: box.start - 7, y: at + 4 }, word),
    ]),
    ...across.map(([at, word]) => svg("text", { class: "middle", x: at, y: box.floor + 18 }, word)),
    svg("line", { class: "axis", x1: box.start, x2: box.end, y1: box.floor, y2: box.floor }),
    svg("text", { class: "middle label", x: (box.start + box.end) / 2, y: box.height - 6 }, xLabel),
    svg("text", { class: "middle label", x: 12, y: middle, transform: `rotate(-90 12 ${middle})` }, yLabel),
  ];
}

/** A line through points, as a path attribute. */
export function path(points) {
  return points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
}

/** The numbers of a figure as a table; the first number of each row is its header. */
export function table(host, headings, rows) {
  const row = ([first, ...rest]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, first),
      rest.map((value) => make("td", {}, value)),
    );
  show(
    host,
    make(
      "table",
      {},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          headings.map((heading) => make("th", { scope: "col" }, heading)),
        ),
      ),
      make("tbody", {}, rows.map(row)),
    ),
  );
}

/** The x position of a pointer on a figure, from 0 to 1; null outside the axis. */
export function pointed(drawing, event, box) {
  const bounds = drawing.getBoundingClientRect();
  const x = ((event.clientX - bounds.left) / bounds.width) * box.width;
  const at = (x - box.start) / (box.end - box.start);
  return at < -0.02 || at > 1.02 ? null : Math.min(Math.max(at, 0), 1);
}

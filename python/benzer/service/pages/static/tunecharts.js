// The charts of the Tune page: the S-curve and the histogram of a collection, over the same axis.

import { figure, frame, path, plane, pointed, svg, table } from "./figure.js";
import { curve, probability } from "./curve.js";
import { about, ratio, setting, short } from "./numbers.js";
import { linear, logarithmic, powers, ticks } from "./scale.js";

const TENTHS = [0, 0.2, 0.4, 0.6, 0.8, 1];

/**
 * The S-curve in a container. `told()` returns the state to draw: { bands, rows, threshold, recall, reading }.
 * moved: called with a threshold when the pointer is dragged on the figure.
 */
export function sCurve(host, told, moved) {
  const drawn = figure(host, {
    title: "Probability that a pair is found, by similarity",
    height: 280,
    content(box) {
      const { bands, rows, threshold, reading } = told();
      const across = linear([0, 1], [box.start, box.end]);
      const up = linear([0, 1], [box.floor, box.top]);
      const chance = probability(threshold, bands, rows);
      const points = curve(bands, rows, 201).map(([s, p]) => [across(s), up(p)]);
      return {
        description: `The S-curve of ${bands} bands of ${rows} rows. A pair at the threshold ${setting(threshold)} is found with probability ${ratio(chance)}.`,
        parts: [
          above(box, across(threshold)),
          frame(
            box,
            TENTHS.map((at) => [across(at), String(at)]),
            TENTHS.map((at) => [up(at), String(at)]),
            "similarity of a pair",
            "probability of being found",
          ),
          svg("path", { class: "line", d: path(points) }),
          cut(box, across(threshold)),
          svg("circle", { class: "mark", cx: across(threshold), cy: up(chance), r: 5 }),
          word(box, across(threshold), up(chance), ratio(chance)),
          read(box, across(reading), up(probability(reading, bands, rows))),
        ],
      };
    },
  });
  return dragged(drawn, host, 280, moved);
}

/** The numbers of the curve: one row per 0.05 of similarity, and the threshold. */
export function curveTable(host, { bands, rows, threshold }) {
  const places = [...new Set([...Array.from({ length: 20 }, (_, at) => (at + 1) / 20), threshold])].sort(
    (a, b) => a - b,
  );
  table(
    host,
    ["similarity", "probability", "found of 1,000 pairs"],
    places.map((at) => {
      const chance = probability(at, bands, rows);
      return [setting(at), ratio(chance, 4), Math.floor(1000 * chance).toLocaleString("en")];
    }),
  );
}

/** The histogram in a container; `told()` returns the state of `sCurve` and { histogram, logarithm }. */
export function histogram(host, told, moved) {
  const drawn = figure(host, {
    title: "Number of pairs of the collection by similarity",
    height: 280,
    content(box) {
      const {
        histogram: { edges, counts },
        threshold,
        logarithm,
        reading,
      } = told();
      const most = Math.max(...counts, 1);
      const marks = logarithm ? powers(most).filter((at) => at !== 1) : ticks(most);
      const across = linear([0, 1], [box.start, box.end]);
      const up = logarithm
        ? logarithmic(most, [box.floor, box.top])
        : linear([0, Math.max(most, marks.at(-1))], [box.floor, box.top]);
      return {
        description: `A histogram of the estimated number of pairs by similarity, with the threshold at ${setting(threshold)}. The table below has all numbers.`,
        parts: [
          above(box, across(threshold)),
          frame(
            box,
            TENTHS.map((at) => [across(at), String(at)]),
            marks.map((at) => [up(at), short(at)]),
            "similarity of a pair",
            "estimated pairs",
          ),
          counts.flatMap((count, at) =>
            count > 0 ? bars(box, across, up, [edges[at], edges[at + 1], count], told()) : [],
          ),
          cut(box, across(threshold)),
          read(box, across(reading), null),
        ],
      };
    },
  });
  return dragged(drawn, host, 280, moved);
}

/** One bin: found pairs in front of missed pairs; a bin that contains the threshold is divided there. */
function bars(box, across, up, [low, high, count], { threshold, bands, rows }) {
  const parts =
    low < threshold && threshold < high
      ? [
          [low, threshold],
          [threshold, high],
        ]
      : [[low, high]];
  return parts.flatMap(([from, to]) => {
    const met = count * probability((from + to) / 2, bands, rows);
    const [behind, front] = from >= threshold - 1e-9 ? ["missed", "found"] : ["passed", "compared"];
    const wide = across(to) - across(from);
    const gap = wide > 5 ? 0.5 : 0; // on either side; thin bars have no gap
    const [x, width] = [across(from) + gap, Math.max(wide - 2 * gap, 0.5)];
    const bar = (look, number) => {
      const top = Math.min(up(number), box.floor - 1);
      return svg("rect", { class: `bar ${look}`, x, y: top, width, height: box.floor - top });
    };
    return [bar(behind, count), met >= 0.5 ? bar(front, met) : null];
  });
}

/** The numbers of the histogram: all bins with pairs. */
export function histogramTable(host, { histogram: { edges, counts }, bands, rows, threshold }) {
  const filled = counts
    .map((count, at) => [edges[at], edges[at + 1], count])
    .filter(([, , count]) => count > 0);
  table(
    host,
    ["similarity", "pairs (estimate)", "candidates (estimate)", ""],
    filled.map(([low, high, count]) => [
      `${setting(low)} to ${setting(high)}`,
      about(count),
      about(count * probability((low + high) / 2, bands, rows)),
      low >= threshold - 1e-9 ? "above" : high <= threshold + 1e-9 ? "below" : "contains the threshold",
    ]),
  );
}

const above = (box, at) =>
  svg("rect", {
    class: "above",
    x: at,
    y: box.top,
    width: Math.max(box.end - at, 0),
    height: box.floor - box.top,
  });
const cut = (box, at) => svg("line", { class: "threshold", x1: at, x2: at, y1: box.top - 6, y2: box.floor });

/** The value at the threshold, on the side of the mark with enough space. */
function word(box, x, y, text) {
  const left = x - box.start > 70;
  return svg(
    "text",
    {
      class: left ? "value end" : "value",
      x: left ? x - 10 : x + 10,
      y: Math.min(Math.max(y + 4, box.top + 12), box.floor - 8),
    },
    text,
  );
}

function read(box, x, y) {
  return [
    svg("line", { class: "reading", x1: x, x2: x, y1: box.top, y2: box.floor }),
    y === null ? null : svg("circle", { class: "reading", cx: x, cy: y, r: 3.5 }),
  ];
}

/** A figure with a threshold that can be dragged, and values shown at the pointer; keyboard users have the sliders. */
function dragged(drawn, host, height, moved) {
  const { drawing } = drawn;
  const at = (event, pressed) => {
    const place = pointed(drawing, event, plane(host.clientWidth, height));
    if (place !== null) moved(place, pressed);
  };
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return; // a touch may start a scroll
    drawing.setPointerCapture(event.pointerId);
    event.preventDefault();
    at(event, true);
  });
  drawing.addEventListener("pointermove", (event) => at(event, event.buttons === 1));
  return drawn;
}

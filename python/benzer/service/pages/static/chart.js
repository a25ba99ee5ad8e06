// Bar chart of counts: an SVG with a logarithmic axis and the value above each bar.

import { draw } from "./dom.js";

const WIDTH = 480,
  HEIGHT = 230,
  LEFT = 46,
  RIGHT = 8,
  TOP = 22,
  BOTTOM = 44;

/** The number of buckets of each size: pairs [size, count], grouped by powers of two. */
export function sizes(histogram) {
  const bins = new Map();
  for (const [size, count] of histogram) {
    const power = Math.ceil(Math.log2(size));
    bins.set(power, (bins.get(power) ?? 0) + count);
  }
  const powers = [...bins.keys()].sort((a, b) => a - b);
  const labels = (power) => (power < 2 ? `${2 ** power}` : `${2 ** (power - 1) + 1}–${short(2 ** power)}`);
  return columns(
    powers.map((power) => ({ label: labels(power), mark: short(2 ** power), count: bins.get(power) })),
    "maximum documents in a bucket",
    "Number of buckets by number of documents",
  );
}

const short = (number) =>
  number >= 1e6
    ? `${+(number / 1e6).toPrecision(3)}M`
    : number >= 1e4
      ? `${+(number / 1e3).toPrecision(3)}k`
      : String(number);

function columns(bars, name, title) {
  const top = Math.max(1, Math.ceil(Math.log10(Math.max(...bars.map(({ count }) => count)) + 1)));
  const up = (count) =>
    HEIGHT - BOTTOM - (count < 1 ? 0 : 0.12 + (0.88 * Math.log10(count)) / top) * (HEIGHT - TOP - BOTTOM);
  const wide = (WIDTH - LEFT - RIGHT) / bars.length,
    floor = HEIGHT - BOTTOM;
  const grid = Array.from({ length: top + 1 }, (_, power) => 10 ** power).map((at) => [
    draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: up(at), y2: up(at) }),
    draw("text", { class: "end", x: LEFT - 6, y: up(at) + 4 }, short(at)),
  ]);
  const thick = Math.min(0.8 * wide, 64);
  const drawn = bars.map(({ label, mark, count }, at) => [
    draw(
      "rect",
      {
        class: "bar near",
        x: LEFT + (at + 0.5) * wide - thick / 2,
        width: thick,
        y: up(count),
        height: floor - up(count),
      },
      draw("title", {}, `${label}: ${count.toLocaleString("en")}`),
    ),
    draw("text", { class: "middle", x: LEFT + (at + 0.5) * wide, y: up(count) - 5 }, short(count)),
    draw("text", { class: "middle", x: LEFT + (at + 0.5) * wide, y: floor + 17 }, mark),
  ]);
  const said = bars.map(({ label, count }) => `${label}: ${count.toLocaleString("en")}`).join(", ");
  return draw(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}. ${said}` },
    grid,
    drawn,
    draw("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: floor, y2: floor }),
    draw("text", { class: "middle label", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6 }, name),
  );
}

// Sentences and tables of the Tune page, updated on every move.

import { binAt, divided, expected, probability } from "./curve.js";
import { bytes, make, show } from "./dom.js";
import { about, duration, ratio, setting, share } from "./numbers.js";

const strong = (text) => make("strong", { class: "number" }, text);

/** The guaranteed probability at the threshold. */
export function showPromise(host, { bands, rows, threshold }) {
  show(
    host,
    "A pair at ",
    strong(setting(threshold)),
    " is found with probability ",
    strong(ratio(probability(threshold, bands, rows))),
    `, by ${bands} ${bands === 1 ? "band" : "bands"} of ${rows} ${rows === 1 ? "row" : "rows"}; more similar pairs with a higher probability.`,
  );
}

/** The expected result for this collection. */
export function showHistogramNote(host, { histogram, threshold, bands, rows, read, documents, prices }) {
  const { above } = divided(histogram, threshold);
  const { found, compared } = expected(histogram, threshold, bands, rows);
  const source =
    read < documents && !prices.length
      ? `Estimated for all ${documents.toLocaleString("en")} documents from a random sample of ${read.toLocaleString("en")}`
      : `Estimated. Identical documents count once`;
  show(
    host,
    "About ",
    strong(about(above)),
    ` ${Math.round(above) === 1 ? "pair is" : "pairs are"} at least ${setting(threshold)} similar`,
    above >= 0.5 ? ["; ", strong(ratio(Math.min(found / above, 1))), " of them would be found"] : null,
    `, with about ${about(Math.max(compared - found, 0))} comparisons without a match. ${source}.`,
  );
}

/** The values of the charts at one similarity. */
export function showReading(host, { reading, bands, rows, histogram }) {
  const chance = ratio(probability(reading, bands, rows));
  const bin = histogram ? binAt(histogram, reading) : null;
  show(
    host,
    `${setting(reading)}: found with probability ${chance}`,
    bin
      ? `; ${bin.count > 0 ? `about ${about(bin.count)}` : "no"} pairs from ${setting(bin.low)} to ${setting(bin.high)}`
      : null,
  );
}

/** The cost of the bands and, if a collection is chosen, of a run over it, as tiles. */
export function showCost(host, { bands, rows, cost, prices, threshold }) {
  const price = prices?.find((one) => Math.abs(one.threshold - threshold) < 1e-9);
  show(
    host,
    tile(`${bands} × ${rows}`, "bands × rows"),
    cost
      ? [
          tile(cost.hashes.toLocaleString("en"), "hashes per signature"),
          tile(bytes(cost.bytes_per_document), "of band keys per document"),
          tile(duration(cost.seconds_per_million), "core time to sketch a million documents"),
        ]
      : null,
    price
      ? [
          tile(about(price.removed), `documents removed (${between(price)})`),
          tile(about(price.candidates), "pairs compared"),
        ]
      : null,
  );
}

/** The confidence interval of the removed documents. */
const between = ({ low, high }) => `${low.toLocaleString("en")} to ${high.toLocaleString("en")}`;

const tile = (figure, name) =>
  make("div", { class: "tile" }, make("dt", {}, name), make("dd", { class: "figure" }, figure));

/** The table of costs by threshold; clicking a threshold selects it. */
export function showPrices(host, { prices, documents, contents, sampled, confidence, plan, threshold }, chosen) {
  host.hidden = !prices;
  if (host.hidden) return;
  const cheapest = `Cheapest method at ${setting(threshold)}: ${plan.reason}.`;
  if (!prices.length) {
    show(host.querySelector(".scroll"));
    show(
      host.querySelector(".note"),
      `This index is too large to estimate the number of removed documents here. Export it and run benzer dedupe --dry-run. ${cheapest}`,
    );
    return;
  }
  const row = (price) => {
    const here = Math.abs(price.threshold - threshold) < 1e-9;
    return make(
      "tr",
      { class: here ? "here" : null },
      make(
        "th",
        { scope: "row" },
        make(
          "button",
          {
            type: "button",
            class: "small",
            onclick: () => chosen(price.threshold),
            "aria-pressed": String(here),
            "aria-label": `Set the threshold to ${setting(price.threshold)}`,
          },
          setting(price.threshold),
        ),
      ),
      make("td", { class: "count" }, about(price.removed)),
      make("td", { class: "count" }, share(price.removed, documents)),
      make("td", { class: "count" }, between(price)),
      make("td", { class: "count" }, about(price.pairs)),
      make("td", { class: "count" }, about(price.candidates)),
      make("td", { class: "count" }, price.bands === null ? price.method : `${price.bands} × ${price.rows}`),
      make("td", { class: "count" }, duration(price.seconds)),
    );
  };
  const headings = ["threshold", "removed", "share", "interval", "pairs", "compared", "bands", "core time"];
  show(
    host.querySelector(".scroll"),
    make(
      "table",
      {},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          headings.map((one, at) => make("th", { scope: "col", class: at ? "count" : null }, one)),
        ),
      ),
      make("tbody", {}, prices.map(row)),
    ),
  );
  show(
    host.querySelector(".note"),
    `For all ${documents.toLocaleString("en")} documents, estimated from ${sampled.toLocaleString("en")} of ${contents.toLocaleString("en")} different ones, as in benzer dedupe --dry-run. The number of removed documents is in the interval with ${Math.round(100 * confidence)} % confidence. ${cheapest}`,
  );
}

// The S-curve of bands, and the expected matches of a collection whose similarities are known.

/** The probability that a pair of this Jaccard similarity is found: 1 - (1 - s^rows)^bands. */
export function probability(similarity, bands, rows) {
  return 1 - Math.pow(1 - Math.pow(similarity, rows), bands);
}

/** Evenly spaced similarities from 0 to 1 with their probabilities. */
export function curve(bands, rows, points = 101) {
  return Array.from({ length: points }, (_, at) => {
    const similarity = at / (points - 1);
    return [similarity, probability(similarity, bands, rows)];
  });
}

/**
 * The number of pairs at or above the threshold, and below it, in a histogram {edges, counts}. The bin that contains
 * the threshold is divided by width.
 */
export function divided(histogram, threshold) {
  let above = 0;
  let below = 0;
  histogram.counts.forEach((count, at) => {
    const [low, high] = [histogram.edges[at], histogram.edges[at + 1]];
    const share = Math.min(Math.max((high - threshold) / (high - low), 0), 1);
    above += count * share;
    below += count * (1 - share);
  });
  return { above, below };
}

/**
 * The expected number of pairs found at or above the threshold, and of all pairs compared. Each bin counts with the
 * probability at its middle.
 */
export function expected(histogram, threshold, bands, rows) {
  let found = 0;
  let compared = 0;
  histogram.counts.forEach((count, at) => {
    const [low, high] = [histogram.edges[at], histogram.edges[at + 1]];
    const share = Math.min(Math.max((high - threshold) / (high - low), 0), 1);
    const middle = (Math.max(low, Math.min(threshold, high)) + high) / 2;
    found += count * share * probability(middle, bands, rows);
    compared += count * probability((low + high) / 2, bands, rows);
  });
  return { found, compared };
}

/** The bin of a histogram that contains a similarity: its edges, count and number. */
export function binAt(histogram, similarity) {
  const last = histogram.counts.length - 1;
  let at = histogram.edges.findIndex((edge) => edge > similarity) - 1;
  if (at < 0) at = similarity < histogram.edges[0] ? 0 : last;
  return { low: histogram.edges[at], high: histogram.edges[at + 1], count: histogram.counts[at], at };
}

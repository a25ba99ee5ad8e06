// Where on a chart does a number lie, and which numbers stand at its edge?

/** A number of [from, to] as a place of [start, end]. */
export function linear([from, to], [start, end]) {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

/** Counts from 0 up, by the logarithm of one more than they are: 0 lies at the start, and 1 above it. */
export function logarithmic(most, [start, end]) {
  const span = Math.log1p(most) || 1;
  return (count) => start + (Math.log1p(count) / span) * (end - start);
}

/** Round numbers from 0 to at least `most`, in at most five steps. */
export function ticks(most, steps = 5) {
  if (!(most > 0)) return [0, 1];
  const raw = most / steps;
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = Math.max([1, 2, 5, 10].find((one) => one * power >= raw - 1e-12) * power, most >= 1 ? 1 : 0);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) =>
    Number((at * step).toPrecision(12)),
  );
}

/** Powers of ten up to `most`, thinned out to at most six, with 0 before them. */
export function powers(most) {
  const last = Math.max(Math.floor(Math.log10(Math.max(most, 1))), 0);
  const step = Math.max(Math.ceil((last + 1) / 6), 1);
  const found = [0];
  for (let power = 0; power <= last; power += step) found.push(Math.pow(10, power));
  return found;
}

/** Whether counts are so unequal that only a logarithm shows the small ones. */
export function unequal(counts) {
  const some = counts.filter((count) => count > 0);
  if (some.length < 2) return false;
  return Math.max(...some) > 50 * [...some].sort((a, b) => a - b)[Math.floor(some.length / 2)];
}

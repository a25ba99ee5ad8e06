// Scales of charts: positions of numbers and tick marks.

/** Map a number in [from, to] to a position in [start, end]. */
export function linear([from, to], [start, end]) {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

/** Map counts to positions by log(1 + count), so that 0 is at the start. */
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

/** 0 and at most six powers of ten up to `most`. */
export function powers(most) {
  const last = Math.max(Math.floor(Math.log10(Math.max(most, 1))), 0);
  const step = Math.max(Math.ceil((last + 1) / 6), 1);
  const found = [0];
  for (let power = 0; power <= last; power += step) found.push(Math.pow(10, power));
  return found;
}

/** Whether counts differ so much that the small ones are visible only on a logarithmic scale. */
export function unequal(counts) {
  const some = counts.filter((count) => count > 0);
  if (some.length < 2) return false;
  return Math.max(...some) > 50 * [...some].sort((a, b) => a - b)[Math.floor(some.length / 2)];
}

// Number formats, the same as in the report and the terminal.

const NARROW = "\u202f";

/** An estimate, rounded to two significant digits. */
export function about(number) {
  if (number < 1) return number > 0 ? "less than 1" : "0";
  const power = Math.pow(10, Math.max(Math.floor(Math.log10(number)) - 1, 0));
  return (Math.round(number / power) * power).toLocaleString("en");
}

/** A short count for the axis of a chart. */
export function short(number) {
  for (const [size, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ]) {
    if (number >= size) return `${Number((number / size).toPrecision(3))}${letter}`;
  }
  return `${Number(number.toPrecision(3))}`;
}

/** A probability; only 1 is shown as 1. */
export function ratio(value, digits = 3) {
  const top = 1 - Math.pow(10, -digits);
  return (value < 1 ? Math.min(Number(value.toFixed(digits)), top) : value).toFixed(digits);
}

/** A threshold or recall with all its digits, at least two decimals. */
export function setting(value) {
  return Number(value.toFixed(2)) === value ? value.toFixed(2) : String(Number(value.toPrecision(6)));
}

/** A part of a whole in per cent; only the whole is shown as 100, only nothing as 0. */
export function share(part, whole) {
  if (!whole) return "–";
  let rounded = Number(((100 * part) / whole).toFixed(1));
  if (part > 0 && part < whole) rounded = Math.min(Math.max(rounded, 0.1), 99.9);
  return `${rounded}${NARROW}%`;
}

/** A duration. */
export function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

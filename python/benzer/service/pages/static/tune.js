// The Tune page: every move of a slider redraws what is known and requests the rest.

import { address, ask, attempt, forget, isStale, ofIndex, report, say } from "./api.js";
import { dial, settled } from "./dials.js";
import { named, show } from "./dom.js";
import { showExamples } from "./examples.js";
import { sizeOf } from "./recipe.js";
import { showRecipe } from "./recipes.js";
import { setting } from "./numbers.js";
import { unequal } from "./scale.js";
import { curveTable, histogram, histogramTable, sCurve } from "./tunecharts.js";
import { showCost, showHistogramNote, showPrices, showPromise, showReading } from "./tunewords.js";

const WAIT = 50,
  LOOK = 350; // milliseconds after the last move: for the bands, and for the sample of the collection
const MOST_TEXTS = 2000,
  EXAMPLES = 5;

const known = new Map(); // responses for a collection, by the settings that its similarities depend on
const threshold = dial("threshold", moved),
  recall = dial("recall", moved),
  size = dial("size", moved);
const reader = dial("reader", readAt);
let tuned = { bands: 10, rows: 6 };
let settings = null; // of the chosen index
let field = null; // its first text field, whose shingles are tuned

const index = () => named("index").value;
const unit = () => document.querySelector("input[name=unit]:checked").value;
const recipe = () => JSON.stringify([index(), unit(), size.value]);
const found = () => known.get(recipe());
const told = () => ({
  bands: tuned.bands,
  rows: tuned.rows,
  threshold: threshold.value,
  recall: recall.value,
  reading: reader.value,
  histogram: found()?.histogram,
  logarithm: named("logarithm").checked,
});

const curve = sCurve(named("curve"), told, pointed);
let bars = null;

/** A slider has moved: draw what is known, then request the rest. */
function moved() {
  draw();
  askBands();
  look();
}

/** The pointer is on a figure: show the values there; while it is pressed, set the threshold there. */
function pointed(similarity, pressed) {
  const place = Math.round(similarity * 100) / 100;
  reader.set(place);
  if (pressed) {
    threshold.set(place);
    moved();
  } else readAt();
}

function readAt() {
  curve.redraw();
  bars?.redraw();
  showReading(named("read"), told());
}

function draw() {
  const now = told();
  showPromise(named("promise"), now);
  curve.redraw();
  if (named("curve-table").parentElement.open) curveTable(named("curve-table"), now);
  named("collection").hidden = !now.histogram;
  if (now.histogram) {
    bars ??= histogram(named("histogram"), told, pointed);
    bars.redraw();
    showHistogramNote(named("histogram-note"), { ...now, ...found() });
    if (named("histogram-table").parentElement.open) histogramTable(named("histogram-table"), now);
  }
  showReading(named("read"), now);
  showCost(named("cost"), { ...now, cost: tuned.cost, prices: found()?.prices });
  showPrices(named("prices"), { ...now, ...found() }, (at) => {
    threshold.set(at);
    moved();
  });
  showRecipe({ threshold: now.threshold, recall: now.recall, schema: schema() }, isOwn() ? index() : "");
  for (const button of steps)
    button.textContent = `${button.dataset.step < 0 ? "Lower" : "Raise"} to ${setting(stepped(button))}`;
  remember();
}

const steps = document.querySelectorAll("[data-step]");
const stepped = (button) =>
  Math.min(Math.max(Math.round(100 * threshold.value + 100 * button.dataset.step) / 100, 0.05), 1);

/** The schema of the page: that of the index with the tuned shingles. */
function schema() {
  const tunedText = { type: "text", unit: unit(), shingle_size: size.value };
  if (!settings) return { text: tunedText };
  if (field === null || isOwn()) return settings.schema;
  const { punctuation, stop_words, ...kept } = settings.schema[field];
  const ofUnit = unit() === kept.unit ? { punctuation, stop_words } : {};
  return { ...settings.schema, [field]: { ...kept, ...ofUnit, ...tunedText } };
}

/** Whether the page uses the schema of the index unchanged. */
function isOwn() {
  if (!settings) return false;
  const own = settings.schema[field];
  return field === null || (own.unit === unit() && sizeOf(own) === size.value);
}

/** Store the settings in the address of the page, so that it can be shared. */
function remember() {
  const asked = {
    index: index(),
    threshold: threshold.value,
    recall: recall.value,
    unit: unit(),
    size: size.value,
  };
  history.replaceState(null, "", address("/tune", asked));
  named("twin").href = address("/v1/tune", { threshold: threshold.value, recall: recall.value });
}

const askBands = settled(async () => {
  try {
    const query = { threshold: threshold.value, recall: recall.value };
    tuned = await ask("/v1/tune", { query, slot: "bands" });
    draw();
    say(`${tuned.bands} bands of ${tuned.rows} rows at threshold ${setting(threshold.value)}`);
  } catch (error) {
    if (!isStale(error)) report(error);
  }
}, WAIT);

const look = settled(async () => {
  if (!index()) return;
  const asked = recipe();
  const answer = await attempt(
    () => ask(ofIndex(index(), "tune"), { method: "POST", json: question(), slot: "look" }),
    named("examples"),
  );
  if (answer === undefined) return;
  known.set(asked, answer);
  if (asked !== recipe()) return;
  tuned = answer.tune; // some field types, such as images, use other bands than texts
  const first = named("examples").hidden;
  named("examples").hidden = false;
  const at = setting(threshold.value);
  show(named("above-title"), `Just above ${at}: removed`);
  show(named("below-title"), `Just below ${at}: kept`);
  showExamples(named("above"), answer.above, `The sample has no pair with a similarity of ${at} or more.`);
  showExamples(named("below"), answer.below, `The sample has no similar pair below ${at}.`);
  if (first) named("logarithm").checked = unequal(answer.histogram.counts);
  draw();
}, LOOK);

/** The body of the request. */
function question() {
  const body = { threshold: threshold.value, recall: recall.value, sample: MOST_TEXTS, examples: EXAMPLES };
  return isOwn() ? body : { ...body, fields: { [field]: schema()[field] } };
}

/** Another collection was chosen: set the sliders to its settings and request a sample. */
async function choose(own = true) {
  forget("look");
  settings = field = null;
  named("examples").hidden = true;
  if (index()) {
    const name = index();
    const told = await attempt(() => ask(ofIndex(name), { slot: "index" }));
    if (told === undefined || name !== index()) return;
    settings = told.settings;
    field = Object.keys(settings.schema).find((one) => settings.schema[one].type === "text") ?? null;
    if (own) take(settings);
  }
  named("shingles").hidden = Boolean(settings) && field === null;
  moved();
}

function take({ threshold: cut, recall: promised, schema }) {
  threshold.set(cut);
  recall.set(promised);
  if (field === null) return;
  document.querySelector(`input[name=unit][value=${schema[field].unit ?? "word"}]`).checked = true;
  size.set(sizeOf(schema[field]));
}

/** Read the settings in the address of the page. */
function start() {
  const asked = new URLSearchParams(location.search);
  const name = asked.get("index");
  if ([...named("index").options].some((one) => one.value === name)) named("index").value = name;
  else if (name === null && named("index").options.length > 1) named("index").selectedIndex = 1;
  for (const [key, to] of [
    ["threshold", threshold],
    ["recall", recall],
    ["size", size],
  ]) {
    if (Number(asked.get(key))) to.set(Number(asked.get(key)));
  }
  if (asked.get("unit") === "char") document.querySelector("input[name=unit][value=char]").checked = true;
  choose(!asked.has("threshold"));
}

named("index").addEventListener("change", () => choose());
named("logarithm").addEventListener("change", draw);
for (const one of document.getElementsByName("unit")) {
  one.addEventListener("change", () => {
    size.set(sizeOf({ unit: unit() }));
    moved();
  });
}
for (const id of ["curve-table", "histogram-table"]) named(id).parentElement.addEventListener("toggle", draw);
for (const button of steps)
  button.addEventListener("click", () => {
    threshold.set(stepped(button));
    moved();
  });
named("settings").addEventListener("submit", (event) => event.preventDefault());
start();

// How is a threshold found by looking? Every move of a slider redraws at once what is known, and asks for the rest.

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
  LOOK = 350; // milliseconds after the last move: for the bands, and for a look at the collection
const MOST_TEXTS = 2000,
  EXAMPLES = 5;

const known = new Map(); // what a collection answered, by its recipe: its similarities depend on nothing else
const threshold = dial("threshold", moved),
  recall = dial("recall", moved),
  size = dial("size", moved);
const reader = dial("reader", readAt);
let tuned = { bands: 10, rows: 6 };
let settings = null; // of the chosen index
let field = null; // its first text, whose shingles are tuned

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

/** A slider has moved: draw what is known, then ask for what is not. */
function moved() {
  draw();
  askBands();
  look();
}

/** The pointer is on a figure: it reads there, and cuts there while it is pressed. */
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
    button.textContent = `${button.dataset.step < 0 ? "Lower" : "Raise"} it to ${setting(stepped(button))}`;
  remember();
}

const steps = document.querySelectorAll("[data-step]");
const stepped = (button) =>
  Math.min(Math.max(Math.round(100 * threshold.value + 100 * button.dataset.step) / 100, 0.05), 1);

/** The fields as the page has them read: those of the index, but for the shingles that are tuned. */
function schema() {
  const tunedText = { type: "text", unit: unit(), shingle_size: size.value };
  if (!settings) return { text: tunedText };
  if (field === null || isOwn()) return settings.schema;
  const { punctuation, stop_words, ...kept } = settings.schema[field];
  const ofUnit = unit() === kept.unit ? { punctuation, stop_words } : {};
  return { ...settings.schema, [field]: { ...kept, ...ofUnit, ...tunedText } };
}

/** Whether the index reads its documents in just this way. */
function isOwn() {
  if (!settings) return false;
  const own = settings.schema[field];
  return field === null || (own.unit === unit() && sizeOf(own) === size.value);
}

/** The address of the page says what it shows, so that it can be handed on. */
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
  tuned = answer.tune; // of some fields, as pictures, the bands are others than of texts
  const first = named("examples").hidden;
  named("examples").hidden = false;
  const at = setting(threshold.value);
  show(named("above-title"), `Just above ${at}: these go`);
  show(named("below-title"), `Just below ${at}: these stay`);
  showExamples(named("above"), answer.above, `No pair of the sample is that similar, from ${at} up.`);
  showExamples(named("below"), answer.below, `No pair of the sample is alike, and less than ${at} similar.`);
  if (first) named("logarithm").checked = unequal(answer.histogram.counts);
  draw();
}, LOOK);

/** What the collection is asked. */
function question() {
  const body = { threshold: threshold.value, recall: recall.value, sample: MOST_TEXTS, examples: EXAMPLES };
  return isOwn() ? body : { ...body, fields: { [field]: schema()[field] } };
}

/** Another collection: take its settings for the sliders, and look at it. */
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

/** What the address of the page asks for. */
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

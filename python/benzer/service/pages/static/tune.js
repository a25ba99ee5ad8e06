// The Tune page: every move of a slider requests the charts and texts, which the service renders.

import { address, ask, attempt, forget, isStale, load, named, ofIndex, report, swap } from "./api.js";
import { dial, settled } from "./controls.js";
import "./evidence.js";

const WAIT = 50,
  LOOK = 350; // milliseconds after the last move: for the bands, and for the sample of the collection
const MOST_TEXTS = 2000,
  EXAMPLES = 5;
const SIZES = { word: 3, char: 5 };

const threshold = dial("threshold", moved),
  recall = dial("recall", moved),
  size = dial("size", moved);
const reader = dial("reader", read);
let settings = null; // of the chosen index
let field = null; // its first text field, whose shingles are tuned

const index = () => named("index").value;
const unit = () => document.querySelector("input[name=unit]:checked").value;
const sizeOf = ({ unit: of = "word", shingle_size: number }) => number ?? SIZES[of];
const query = () => ({
  index: index(),
  threshold: threshold.value,
  recall: recall.value,
  unit: unit(),
  size: size.value,
});

/** A slider has moved. The address of the page can be shared. */
function moved() {
  history.replaceState(null, "", address("/tune", query()));
  named("twin").href = address("/v1/tune", { threshold: threshold.value, recall: recall.value });
  curve();
  look();
}

/** The curve follows a slider at once. */
const curve = settled(async () => {
  try {
    const parts = await load("/tune", { query: query(), slot: "bands" });
    swap(parts);
    read();
  } catch (error) {
    if (!isStale(error)) report(error);
  }
}, WAIT);

const look = settled(async () => {
  if (!index()) return;
  const options = { method: "POST", json: question(), slot: "look" };
  const parts = await attempt(() => load(ofIndex(index(), "tune"), options), named("examples"));
  if (parts === undefined) return;
  const first = named("examples").hidden;
  swap(parts);
  for (const id of ["collection", "examples", "prices"]) named(id).hidden = false;
  if (first) named("logarithm").checked = "unequal" in named("histogram").dataset;
  scale();
  read();
}, LOOK);

/** Whether the page uses the schema of the index unchanged. */
function isOwn() {
  const own = settings?.schema[field];
  return !own || ((own.unit ?? "word") === unit() && sizeOf(own) === size.value);
}

/** The body of the request: the text field of the index with the tuned shingles. */
function question() {
  const body = { threshold: threshold.value, recall: recall.value, sample: MOST_TEXTS, examples: EXAMPLES };
  if (isOwn()) return body;
  const { punctuation, stop_words, ...kept } = settings.schema[field];
  const ofUnit = unit() === kept.unit ? { punctuation, stop_words } : {};
  return { ...body, fields: { [field]: { ...kept, ...ofUnit, unit: unit(), shingle_size: size.value } } };
}

/** Draw the histogram on the chosen scale. */
function scale() {
  const host = named("histogram");
  host.querySelector("svg")?.remove();
  const name = named("logarithm").checked ? "logarithmic" : "linear";
  const chosen = host.querySelector(`template[data-scale=${name}]`);
  if (chosen) host.append(chosen.content.cloneNode(true));
  read();
}

/** Show the values of the charts at one similarity. */
function read() {
  const told = named("readings").children[Math.round(reader.value * 100)];
  if (!told) return;
  named("read").textContent = told.textContent;
  for (const line of document.querySelectorAll("line.reading"))
    for (const end of ["x1", "x2"]) line.setAttribute(end, told.dataset.x);
  for (const dot of document.querySelectorAll("circle.reading")) {
    dot.setAttribute("cx", told.dataset.x);
    dot.setAttribute("cy", told.dataset.y);
  }
}

/** The pointer is on a chart: show the values there; while it is pressed, set the threshold there. */
function pointed(event) {
  const { left, width } = event.target.closest("svg.chart").getBoundingClientRect();
  const ends = named("curve").dataset;
  const place = ((event.clientX - left) / width - ends.left) / (ends.right - ends.left);
  if (place < -0.02 || place > 1.02) return;
  reader.set(Math.round(place * 100) / 100);
  read();
  if (event.buttons !== 1) return;
  threshold.set(reader.value);
  moved();
}

for (const host of document.querySelectorAll(".charts")) {
  host.addEventListener("pointerdown", (event) => {
    const chart = event.target.closest("svg.chart");
    if (!chart || event.button !== 0 || event.pointerType === "touch") return; // a touch may start a scroll
    event.preventDefault();
    pointed(event);
  });
  host.addEventListener("pointermove", (event) => {
    if (event.target.closest("svg.chart")) pointed(event);
  });
}

/** Another collection was chosen: set the sliders to its settings and request a sample. */
async function choose(own = true) {
  forget("look");
  settings = field = null;
  for (const id of ["collection", "examples", "prices"]) named(id).hidden = true;
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
  for (const [key, to] of Object.entries({ threshold, recall, size })) {
    if (Number(asked.get(key))) to.set(Number(asked.get(key)));
  }
  if (asked.get("unit") === "char") document.querySelector("input[name=unit][value=char]").checked = true;
  choose(!asked.has("threshold"));
}

named("index").addEventListener("change", () => choose());
named("logarithm").addEventListener("change", scale);
for (const one of document.getElementsByName("unit"))
  one.addEventListener("change", () => {
    size.set(SIZES[unit()]);
    moved();
  });
named("main").addEventListener("click", ({ target }) => {
  if (!target.dataset.to) return;
  threshold.set(Number(target.dataset.to));
  moved();
});
named("settings").addEventListener("submit", (event) => event.preventDefault());
start();

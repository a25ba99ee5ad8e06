// The search page: searches an index for documents similar to a text, an image or a stored document.

import { Failure, address, ask, attempt, clear, documentOf, forget, ofIndex, report, say } from "./api.js";
import { byCurl, heading, nearestHeading, nothing, welcome } from "./answers.js";
import { counted, make, named, plain, show } from "./dom.js";
import { documentControls, takeFiles } from "./fields.js";
import { matchList } from "./matches.js";

const SHAREABLE = 1500; // characters of a text that still fit into an address
const kept = new Map(); // queries by the number in the browser history
const form = named("question"),
  results = named("results");
let known = null; // the chosen index: { name, settings, controls }
let threshold = 0; // the exact value: the slider shows it only in steps
let number = Date.now(); // larger than the number of any entry of an earlier visit
let shown = []; // addresses of images shown with the matches
let ready = null; // resolves when the first index is chosen: files may be dropped before that

async function start() {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      submit();
    }
  });
  named("index").addEventListener("change", () => attempt(() => choose(named("index").value)));
  named("threshold").addEventListener("input", () => setThreshold(Number(named("threshold").value)));
  named("clear").addEventListener("click", emptied);
  named("file").addEventListener("change", () => {
    if (named("file").files.length) taken([...named("file").files]);
    named("file").value = "";
  });
  takeFiles(taken);
  addEventListener("popstate", (event) => attempt(() => restore(kept.get(event.state?.number)), results));
  ready = attempt(() => restore(), results);
  await ready;
}

/** Choose an index and show the controls of its fields. Input in fields of the same name is kept. */
async function choose(name) {
  const information = await ask(ofIndex(name), { slot: "index" });
  const typed = known ? await known.controls.contents() : {};
  const { settings } = information;
  known = { name, settings, controls: documentControls(settings.schema) };
  named("index").value = name;
  named("twin").href = ofIndex(name);
  named("about").textContent = counted(information.documents, "document");
  show(named("fields"), known.controls.element);
  const texts = Object.values(settings.schema).some(({ type }) => type === "text");
  document.querySelector("label[for=file]").hidden = named("file").hidden = !texts;
  known.controls.fill(typed);
  setThreshold(settings.threshold);
  if (!results.hasChildNodes() || results.querySelector(".welcome")) show(results, welcome({ ...information, texts }));
}

function setThreshold(value) {
  threshold = value;
  named("threshold").value = value;
  thresholdShown();
}

function thresholdShown() {
  const own = known.settings.threshold;
  named("threshold-shown").textContent = threshold.toFixed(Math.max(2, String(threshold).length - 2));
  named("threshold-hint").textContent =
    threshold < own
      ? `Below ${own}, the threshold of the index, some matches can be missed. The similarities shown are exact.`
      : "";
}

/** Accept files that were dropped, pasted or chosen, and search for the first. */
async function taken(files) {
  await ready;
  if (!known) return;
  const wrong = await attempt(() => known.controls.take(files[0]));
  if (wrong) report(new Failure(0, { message: wrong }));
  if (wrong !== null) return; // undefined: an error was shown
  named("id").value = "";
  if (files.length > 1) say(`${files.length} files: searching for the first`);
  await submit();
}

/** Search for the content of the form and add the query to the history. */
async function submit(given = null) {
  if (!known || !form.reportValidity()) return;
  const id = given ?? named("id").value.trim();
  const fields = id !== "" ? null : await known.controls.contents();
  if (id === "" && !Object.keys(fields).length) {
    named("fields").querySelector("textarea, input")?.focus();
    say("The query is empty: paste a text first");
    return;
  }
  const asked = questionOf(id === "" ? null : id, fields);
  number += 1;
  kept.set(number, asked);
  history.pushState({ number }, "", addressOf(asked));
  await attempt(() => answer(asked), results);
}

function questionOf(id, fields) {
  const images = Object.keys(known.settings.schema).filter((name) => known.settings.schema[name].type === "image");
  return {
    index: known.name,
    id,
    fields,
    limit: Number(named("limit").value),
    threshold: threshold === known.settings.threshold ? null : threshold,
    files: Object.fromEntries(images.map((name) => [name, known.controls.picture(name)]).filter(([, file]) => file)),
  };
}

/** The address of a query for sharing: with a short text or an id; otherwise with the index only. */
function addressOf({ index, id, fields, limit, threshold }) {
  const [first] = Object.keys(known.settings.schema);
  const text = fields && Object.keys(fields).length === 1 && typeof fields[first] === "string" ? fields[first] : "";
  return address("/", {
    index,
    id,
    number: typeof id === "number" ? 1 : null,
    q: text.length <= SHAREABLE ? text : "",
    threshold,
    limit: limit === 10 ? null : limit,
  });
}

/** Run the query of an address or of a history entry. */
async function restore(entry) {
  forget("similar");
  const query = new URLSearchParams(location.search);
  const names = [...named("index").options].map((option) => option.value);
  const name = entry?.index ?? query.get("index") ?? names[0];
  if (!names.includes(name)) {
    report(new Failure(0, { message: `index “${name}” does not exist: choose one from the list` }));
    await choose(names[0]);
    return;
  }
  show(results);
  await choose(name);
  const [first] = Object.keys(known.settings.schema);
  const asked = entry ?? {
    index: name,
    id: query.get("number") && query.get("id") ? Number(query.get("id")) : query.get("id"),
    fields: query.get("q") ? { [first]: query.get("q") } : null,
    files: {},
    limit: within(query.get("limit"), 1, 1000) ?? 10,
    threshold: within(query.get("threshold"), 0, 1),
  };
  named("id").value = asked.id ?? "";
  known.controls.fill({ ...(asked.fields ?? {}), ...asked.files });
  named("limit").value = asked.limit;
  if (asked.threshold !== null) setThreshold(asked.threshold);
  if (asked.id !== null || asked.fields) await answer(asked);
}

/** A number in an address; null if it is not a number or out of bounds. */
function within(text, least, most) {
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  return value >= least && value <= most ? value : null;
}

const sideOf = ({ id, fields }) => (id !== null ? { id } : { fields });

/** The same query with the stored id: when typed, the number 7 and the text "7" look the same. */
async function resolved(asked) {
  if (typeof asked.id !== "string") return asked;
  const { id } = await documentOf(asked.index, asked.id, "similar");
  return { ...asked, id };
}

async function answer(given) {
  const asked = await resolved(given);
  const path = ofIndex(asked.index, "similar");
  const body = { ...sideOf(asked), limit: asked.limit, threshold: asked.threshold, contents: true };
  const begun = performance.now();
  const { matches } = await ask(path, { method: "POST", json: body, slot: "similar" });
  const least = asked.threshold ?? known.settings.threshold;
  const found = matches.length ? counted(matches.length, "document") : "No documents";
  show(
    results,
    heading(found, least, asked.id, (performance.now() - begun) / 1000),
    matches.length ? listed(matches, asked) : nothing(least, looser, () => attempt(() => nearest(asked), results)),
    byCurl(path, body),
  );
  say(`${found} found with a similarity of at least ${least}`);
}

function looser(least) {
  setThreshold(least);
  return submit();
}

function listed(matches, asked) {
  shown.forEach((one) => URL.revokeObjectURL(one));
  const pictures = Object.fromEntries(
    Object.entries(asked.files).map(([name, file]) => [name, URL.createObjectURL(file)]),
  );
  shown = Object.values(pictures);
  const question = {
    index: asked.index,
    side: sideOf(asked),
    title: asked.id === null ? "Query" : plain(asked.id),
    picture: (name) =>
      pictures[name] ??
      (asked.id !== null && known.settings.schema[name]?.type === "image"
        ? address(ofIndex(asked.index, "thumbnail"), { id: asked.id, field: name })
        : null),
  };
  return matchList(matches, question, moreLike);
}

/** Search for documents similar to a stored document. */
function moreLike(id) {
  known.controls.clear();
  named("id").value = id;
  scrollTo({ top: 0 });
  return submit(id);
}

async function nearest(asked) {
  const path = ofIndex(asked.index, "nearest");
  const body = { ...sideOf(asked), limit: asked.limit, contents: true };
  const told = await ask(path, { method: "POST", json: body, slot: "similar" });
  const none = make("p", { class: "empty" }, "No document has anything in common with the query.");
  show(results, nearestHeading(told), told.matches.length ? listed(told.matches, asked) : none, byCurl(path, body));
  say(`${counted(told.matches.length, "nearest document")}`);
}

function emptied() {
  known?.controls.clear();
  named("id").value = "";
  forget("similar");
  clear();
  show(results);
  history.pushState({}, "", address("/", { index: known?.name }));
  attempt(() => choose(known.name));
  named("fields").querySelector("textarea, input")?.focus();
}

if (form) start();

// The search page: searches an index for documents similar to a text, an image or a stored document.

import {
  Failure, address, announce, ask, attempt, clear, documentOf, forget, load, named, ofIndex, report, say, show,
  swap,
} from "./api.js"; // prettier-ignore
import "./evidence.js";
import { documentControls, takeFiles } from "./fields.js";

const SHAREABLE = 1500; // characters of a text that still fit into an address
const kept = new Map(); // queries by the number in the browser history
const form = named("question"),
  results = named("results");
let known = null; // the chosen index: { name, settings, controls }
let threshold = 0; // the exact value: the slider shows it only in steps
let number = Date.now(); // larger than the number of any entry of an earlier visit
let current = null; // the query of the shown result
let pictures = {}; // addresses of its images by field
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
  results.addEventListener("click", ({ target }) => {
    const match = target.closest(".match");
    if ("open" in target.dataset) toggle(target, match);
    else if ("similar" in target.dataset) moreLike(JSON.parse(match.dataset.id));
    else if ("least" in target.dataset) looser(Number(target.dataset.least));
    else if ("nearest" in target.dataset) attempt(nearest, results);
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
  swap(await load(ofIndex(name), { slot: "about" }));
  const { settings } = information;
  known = { name, settings, controls: documentControls(settings.schema) };
  named("index").value = name;
  named("twin").href = ofIndex(name);
  show(named("fields"), known.controls.element);
  const texts = Object.values(settings.schema).some(({ type }) => type === "text");
  document.querySelector("label[for=file]").hidden = named("file").hidden = !texts;
  known.controls.fill(typed);
  setThreshold(settings.threshold);
  if (!results.hasChildNodes() || results.querySelector(".welcome"))
    show(results, named(information.documents ? "welcome" : "welcome-empty").content.cloneNode(true));
}

function setThreshold(value) {
  threshold = value;
  named("threshold").value = value;
  named("threshold-shown").textContent = value;
  named("threshold-hint").hidden = value >= known.settings.threshold;
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
  current = await resolved(given);
  await search("similar", { threshold: current.threshold });
}

const nearest = () => search("nearest", {});

/** Show the matches of the current query, as the service renders them. */
async function search(way, more) {
  const json = { ...sideOf(current), limit: current.limit, contents: true, ...more };
  const found = await load(ofIndex(current.index, way), { method: "POST", json, slot: "similar" });
  Object.values(pictures).forEach((one) => URL.revokeObjectURL(one));
  pictures = Object.fromEntries(
    Object.entries(current.files).map(([name, file]) => [name, URL.createObjectURL(file)]),
  );
  announce(found);
  show(results, found);
}

function looser(least) {
  setThreshold(least);
  return submit();
}

/** Open or close a match: it is compared with the query. */
async function toggle(button, match) {
  const opened = match.querySelector(".opened");
  const open = opened.hidden;
  opened.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
  if (!open || opened.hasChildNodes()) return;
  const json = { index: current.index, a: sideOf(current), b: { id: JSON.parse(match.dataset.id) }, evidence: true };
  const told = await attempt(() => load("/v1/compare", { method: "POST", json }), opened);
  if (told === undefined) {
    opened.hidden = true;
    button.setAttribute("aria-expanded", "false");
    return;
  }
  for (const image of told.querySelectorAll("[data-query]")) {
    const address = pictures[image.dataset.query];
    if (address) image.src = address;
    image.hidden = !address;
    image.nextElementSibling.hidden = Boolean(address);
  }
  announce(told);
  show(opened, told);
}

/** Search for documents similar to a stored document. */
function moreLike(id) {
  known.controls.clear();
  named("id").value = id;
  scrollTo({ top: 0 });
  return submit(id);
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

// The page of duplicate jobs: a form that starts a job, and the list of jobs, updated while one runs.

import { Failure, address, ask, attempt, load, make, named, ofIndex, report, say, show, upload } from "./api.js";
import { dial, follow } from "./controls.js";
import { takeFiles } from "./fields.js";
import { columnsOf, isTable, linesOf, prepared } from "./files.js";

const threshold = dial("threshold", tuning),
  recall = dial("recall", tuning);
const where = () => document.querySelector("input[name=where]:checked").value;
const against = () => [...document.querySelectorAll("input[name=against]:checked")].map((one) => one.value);
let choice = 0;
let files = [];
let recipe = null; // the shingle settings in the address of the page

function tuning() {
  named("to-tune").href = address("/tune", {
    index: where() === "index" ? named("index").value : null,
    threshold: threshold.value,
    recall: recall.value,
  });
}

function chosen() {
  named("of-index").hidden = where() !== "index";
  named("of-files").hidden = where() !== "files";
  tuning();
}

/** Another index was chosen: fill its threshold and recall into the form. */
async function indexChosen() {
  const name = named("index").value;
  if (where() !== "index" || !name) return;
  const told = await attempt(() => ask(ofIndex(name), { slot: "index" }));
  if (told === undefined || name !== named("index").value) return;
  threshold.set(told.settings.threshold);
  recall.set(told.settings.recall);
  tuning();
}

/** One of the chosen files: how it is read, or why it is rejected. */
function chosenShown({ file, failed, ...known }) {
  const read = isTable(known) ? `${known.content}, one document per row` : "one document";
  const said = failed?.startsWith(`${file.name} `) ? failed.slice(file.name.length + 1) : (failed ?? read);
  return make("li", {}, make("bdi", {}, file.name), " ", make("span", { class: "note" }, said));
}

/** Recognize the chosen files. Files that cannot be read are listed with the reason and not sent. */
async function filesChosen(taken) {
  const mine = (choice += 1);
  files = [];
  named("submit").disabled = true;
  named("chosen").setAttribute("aria-busy", "true");
  const results = [];
  for (const file of taken) {
    try {
      results.push(await prepared(file));
    } catch (error) {
      results.push({ file, failed: error.message });
    }
    if (mine !== choice) return; // other files were chosen meanwhile
  }
  named("submit").disabled = false;
  named("chosen").removeAttribute("aria-busy");
  files = results.filter(({ failed }) => failed === undefined);
  show(named("chosen"), results.map(chosenShown));
  const refused = results.filter(({ failed }) => failed !== undefined);
  if (refused.length) report(new Failure(0, { message: refused.map(({ failed }) => failed).join("; ") }));
  const columns = await columnsOf(files);
  named("columns").hidden = columns.length === 0;
  const options = (usual, none) => [
    none ? make("option", { value: "" }, none) : null,
    columns.map((name) => make("option", { selected: name === usual }, name)),
  ];
  const text =
    ["text", "fields", "content", "body"].find((name) => columns.includes(name)) ??
    columns.find((name) => name !== "id");
  show(named("id-column"), options("id", columns.includes("id") ? null : "none (use line numbers)"));
  show(named("text-column"), options(text, null));
}

async function begin() {
  const asked = {
    threshold: threshold.value,
    recall: recall.value,
    keep: named("keep").value,
    measure: named("measure").checked,
  };
  if (where() === "index")
    return ask("/v1/duplicates", { method: "POST", json: { ...asked, index: named("index").value } });
  const older = against();
  const fields = await target(older);
  const body = await linesOf(files, {
    id: named("id-column").value,
    text: named("text-column").value,
    field: fields.name,
  });
  const query = { ...asked, on_error: "skip", against: older.join(","), fields: fields.sent };
  const sent = (done, total) => {
    named("sending").textContent = `${Math.floor((100 * done) / total)} % sent`;
  };
  return upload("/v1/duplicates", body, { type: "application/x-ndjson", query, sent });
}

/** The name and the settings of the text field: those of the older indexes, or the shingles in the address. */
async function target(older) {
  if (older.length) {
    const { settings } = await ask(ofIndex(older[0]));
    const name = Object.keys(settings.schema).find((one) => settings.schema[one].type === "text");
    return { name: name ?? "text", sent: null };
  }
  return {
    name: "text",
    sent: recipe && JSON.stringify({ text: { type: "text", unit: recipe.unit, shingle_size: recipe.size } }),
  };
}

async function submitted(event) {
  event.preventDefault();
  if (where() === "files" && !files.length) {
    named("files").focus();
    return report(new Error("no file was chosen: choose at least one"));
  }
  named("submit").disabled = true;
  const job = await attempt(begin, named("start"));
  named("submit").disabled = false;
  named("sending").textContent = "";
  if (job) location.href = `/duplicates/${encodeURIComponent(job.id)}`;
}

let told = "";
const jobs = follow(async () => {
  try {
    const list = await load("/v1/duplicates", { slot: "jobs" });
    for (const time of list.querySelectorAll("time")) time.textContent = new Date(time.dateTime).toLocaleString();
    const running = list.querySelector("[data-running]") !== null;
    const now = [...list.children].map((one) => one.outerText ?? one.textContent).join();
    if (now !== told) keepFocus(() => show(named("jobs"), [...list.children]));
    told = now;
    named("jobs").removeAttribute("aria-busy");
    return running;
  } catch (error) {
    report(error);
    return false;
  }
});

/** Redraw the list and keep the keyboard focus. */
function keepFocus(work) {
  const label = document.activeElement?.closest("#jobs [aria-label]")?.getAttribute("aria-label");
  work();
  if (label)
    [...named("jobs").querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === label)?.focus();
}

named("jobs").addEventListener("click", async ({ target }) => {
  const { act } = target.dataset;
  if (!act) return;
  const path = `/v1/duplicates/${encodeURIComponent(target.closest("[data-job]").dataset.job)}`;
  const [method, place, done] = act === "delete" ? ["DELETE", path, "deleted"] : ["POST", `${path}/cancel`, "cancelled"];
  await attempt(() => ask(place, { method }));
  say(done);
  jobs.wake();
});

function start() {
  const asked = new URLSearchParams(location.search);
  const name = asked.get("index");
  if ([...named("index").options].some((one) => one.value === name)) named("index").value = name;
  if (asked.get("unit"))
    recipe = { unit: asked.get("unit") === "char" ? "char" : "word", size: Number(asked.get("size")) || 3 };
  chosen();
  if (asked.has("threshold")) {
    threshold.set(Number(asked.get("threshold")) || 0.8);
    recall.set(Number(asked.get("recall")) || 0.95);
    tuning();
  } else indexChosen();
}

for (const one of document.getElementsByName("where"))
  one.addEventListener("change", () => {
    chosen();
    indexChosen();
  });
named("index").addEventListener("change", indexChosen);
named("files").addEventListener("change", () => filesChosen([...named("files").files]));
takeFiles((taken) => {
  document.querySelector("input[name=where][value=files]").checked = true;
  chosen();
  filesChosen(taken);
});
named("start").addEventListener("submit", submitted);
start();

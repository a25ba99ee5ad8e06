// The page of all indexes: a list, and a form that creates an index.

import { Failure, ask, attempt, load, make, named, say, show, swap } from "./api.js";

const form = named("make");
const rows = () => [...named("schema").children];
const nameOf = (row) => row.querySelector("[name=field]").value.trim();
const PRESETS = { image: { name: "image", type: "image" }, tags: { name: "values", type: "values" } };

function preset() {
  const [{ value, dataset }] = named("preset").selectedOptions;
  show(named("schema"), fieldRow(PRESETS[value] ?? { name: "text", unit: dataset.unit, size: dataset.size }));
  named("threshold").value = dataset.threshold;
  named("recall").value = dataset.recall;
  named("why").textContent = dataset.why;
  thresholdShown();
}

function thresholdShown() {
  named("threshold-shown").textContent = named("threshold").value;
}

/** Fill in the settings in the address, e.g. from the Tune page. */
function prefill(asked) {
  const [cut, promised] = [asked.get("threshold"), asked.get("recall")];
  if (asked.has("unit")) {
    const unit = asked.get("unit") === "char" ? "char" : "word";
    show(named("schema"), fieldRow({ name: "text", unit, size: Number(asked.get("size")) || 3 }));
  }
  if (Number(cut)) named("threshold").value = cut;
  if (Number(promised) > 0 && Number(promised) < 1) {
    const known = [...named("recall").options].some(({ value }) => value === promised);
    if (!known) named("recall").append(make("option", { value: promised }, promised));
    named("recall").value = promised;
  }
  thresholdShown();
}

/** One field: its name, its type, and the settings of that type. */
function fieldRow({ name, type = "text", unit = "word", size = 3 }) {
  const row = named("field-row").content.firstElementChild.cloneNode(true);
  for (const [key, value] of Object.entries({ field: name, kind: type, unit, size }))
    row.querySelector(`[name=${key}]`).value = value;
  kindChosen(row);
  return row;
}

/** Show the settings of the chosen type of field. */
function kindChosen(row) {
  const kind = row.querySelector("[name=kind]").value;
  for (const part of row.querySelectorAll("[data-of]")) {
    part.hidden = part.dataset.of !== kind;
    part.querySelector("input, select").disabled = part.hidden;
  }
}

function settingsOf(row) {
  const value = (name) => row.querySelector(`[name=${name}]`).value;
  const type = value("kind");
  if (type === "text") return { type, unit: value("unit"), shingle_size: Number(value("size")) };
  return type === "image" ? { type, method: value("method") } : { type };
}

async function create() {
  const names = rows().map(nameOf);
  if (new Set(names).size < names.length)
    throw new Failure(0, { message: "two fields have the same name: rename one of them" });
  const { name } = await ask("/v1/indexes", {
    method: "POST",
    json: {
      name: named("name").value,
      threshold: Number(named("threshold").value),
      recall: Number(named("recall").value),
      fields: Object.fromEntries(rows().map((row, at) => [names[at], settingsOf(row)])),
      ...(named("passages").checked ? { passages: true } : {}),
    },
  });
  location.href = `/indexes/${encodeURIComponent(name)}`;
}

if (form) {
  named("preset").addEventListener("change", preset);
  named("add-field").addEventListener("click", () => {
    const taken = rows().map(nameOf);
    const free = ["text", "title", "tags", "image", "body"].find((name) => !taken.includes(name));
    const row = fieldRow({ name: free ?? `field${taken.length + 1}` });
    named("schema").append(row);
    row.querySelector("input").select();
  });
  named("schema").addEventListener("change", ({ target }) => {
    if (target.name === "kind") kindChosen(target.closest(".schema-row"));
  });
  named("schema").addEventListener("click", ({ target }) => {
    if (target.tagName !== "BUTTON") return;
    if (rows().length === 1) {
      say("An index needs at least one field");
      return;
    }
    target.closest(".schema-row").remove();
    named("add-field").focus();
  });
  named("threshold").addEventListener("input", thresholdShown);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(create, form);
  });
  preset();
  prefill(new URLSearchParams(location.search));
}

await attempt(async () => swap(await load("/v1/indexes")), named("list"));

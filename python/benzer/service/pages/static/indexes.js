// The page of all indexes: a list, and a form that creates an index.

import { Failure, ask, attempt, ofIndex, say } from "./api.js";
import { bytes, counted, make, named, show } from "./dom.js";

const list = named("list"),
  form = named("make");

function card(index) {
  const { settings } = index,
    page = `/indexes/${encodeURIComponent(index.name)}`;
  const facts = [
    ["documents", index.documents.toLocaleString("en")],
    index.bytes === undefined ? null : ["on disk", bytes(index.bytes)],
    ["threshold", String(settings.threshold)],
    ["recall", `${+(100 * settings.recall).toFixed(3)} %`],
  ].filter(Boolean);
  return make(
    "article",
    { class: "card index", "aria-labelledby": `index-${index.name}` },
    make(
      "div",
      {},
      make("h2", { id: `index-${index.name}` }, make("a", { href: page }, index.name)),
      make(
        "p",
        { class: "note" },
        Object.entries(settings.schema)
          .map(([name, field]) => `${name}: ${kindOf(field)}`)
          .join(" · "),
      ),
    ),
    make(
      "dl",
      {},
      facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    ),
    make(
      "a",
      {
        class: "button small",
        href: `/?index=${encodeURIComponent(index.name)}`,
        "aria-label": `Search ${index.name}`,
      },
      "Search",
    ),
  );
}

const kindOf = (field) =>
  ({
    text: () => `text, ${field.shingle_size} ${field.unit === "char" ? "characters" : "words"}`,
    image: () => `images, ${field.method}`,
    values: () => "values",
  })[field.type]?.() ?? field.type;

function preset() {
  const {
      value,
      selectedOptions: [chosen],
    } = named("preset"),
    { dataset } = chosen;
  const field = { image: { name: "image", type: "image" }, tags: { name: "values", type: "values" } }[
    value
  ] ?? { name: "text", type: "text", unit: dataset.unit, size: dataset.size };
  show(named("schema"), fieldRow(field));
  named("threshold").value = dataset.threshold;
  named("recall").value = dataset.recall;
  named("why").textContent = dataset.why;
  thresholdShown();
}

function thresholdShown() {
  named("threshold-shown").textContent = Number(named("threshold").value).toFixed(2);
}

/** Fill in the settings in the address, e.g. from the Tune page. */
function prefill(asked) {
  const [cut, promised] = [asked.get("threshold"), asked.get("recall")];
  if (asked.has("unit")) {
    const unit = asked.get("unit") === "char" ? "char" : "word";
    show(named("schema"), fieldRow({ name: "text", type: "text", unit, size: Number(asked.get("size")) || 3 }));
  }
  if (Number(cut)) named("threshold").value = cut;
  if (Number(promised) > 0 && Number(promised) < 1) {
    const known = [...named("recall").options].some(({ value }) => value === promised);
    if (!known) named("recall").append(make("option", { value: promised }, `${+(100 * promised).toFixed(3)} %`));
    named("recall").value = promised;
  }
  thresholdShown();
}

const rows = () => [...named("schema").children];
const freeName = () =>
  ["text", "title", "tags", "image", "body"].find(
    (name) => !rows().some((row) => row.querySelector("[name=field]").value === name),
  ) ?? `field${rows().length + 1}`;
let made = 0;

/** One field: its name, its type, and the settings of that type. */
function fieldRow(given) {
  made += 1;
  const id = (part) => `${part}-${made}`;
  const chosen = (options, value) =>
    Object.entries(options).map(([key, word]) =>
      make("option", { value: key, selected: key === value }, word),
    );
  const kind = make(
    "select",
    { id: id("kind"), name: "kind" },
    chosen({ text: "text", values: "set of values", image: "image" }, given.type),
  );
  const own = make("div", { class: "own row" });
  const labelled = (name, label, control) =>
    make("div", { class: "field" }, make("label", { for: id(name) }, label), control);
  const parts = {
    text: () => [
      labelled(
        "unit",
        "Unit",
        make(
          "select",
          { id: id("unit"), name: "unit" },
          chosen({ word: "words", char: "characters" }, given.unit ?? "word"),
        ),
      ),
      labelled(
        "size",
        "Shingle size",
        make("input", {
          id: id("size"),
          name: "size",
          type: "number",
          min: 1,
          max: 64,
          required: true,
          value: given.size ?? 3,
        }),
      ),
    ],
    values: () => [],
    image: () => [
      labelled(
        "method",
        "Method",
        make(
          "select",
          { id: id("method"), name: "method" },
          chosen(
            { grid: "grid: resized, recompressed", local: "local: cropped, rotated, covered" },
            given.method ?? "grid",
          ),
        ),
      ),
    ],
  };
  const shown = () => show(own, parts[kind.value]());
  kind.addEventListener("change", shown);
  shown();
  const row = make(
    "div",
    { class: "row schema-row", role: "group", "aria-label": "Field" },
    labelled(
      "field",
      "Name",
      make("input", {
        id: id("field"),
        name: "field",
        required: true,
        value: given.name,
        spellcheck: "false",
      }),
    ),
    labelled("kind", "Type", kind),
    own,
    make(
      "button",
      {
        type: "button",
        class: "small quiet",
        "aria-label": "Remove this field",
        onclick: () => {
          if (rows().length > 1) {
            row.remove();
            named("add-field").focus();
          } else say("An index needs at least one field");
        },
      },
      "Remove",
    ),
  );
  return row;
}

function settingsOf(row) {
  const value = (name) => row.querySelector(`[name=${name}]`)?.value;
  return {
    text: () => ({ type: "text", unit: value("unit"), shingle_size: Number(value("size")) }),
    values: () => ({ type: "values" }),
    image: () => ({ type: "image", method: value("method") }),
  }[value("kind")]();
}

async function create() {
  const names = rows().map((row) => row.querySelector("[name=field]").value.trim());
  if (new Set(names).size < names.length)
    throw new Failure(0, { message: "two fields have the same name: rename one of them" });
  const information = await ask("/v1/indexes", {
    method: "POST",
    json: {
      name: named("name").value,
      threshold: Number(named("threshold").value),
      recall: Number(named("recall").value),
      fields: Object.fromEntries(rows().map((row, at) => [names[at], settingsOf(row)])),
      ...(named("passages").checked ? { passages: true } : {}),
    },
  });
  say(`Index ${information.name} created, ${counted(information.documents, "document")}`);
  location.href = `/indexes/${encodeURIComponent(information.name)}`;
}

if (form) {
  named("preset").addEventListener("change", () => preset());
  named("add-field").addEventListener("click", () => {
    const row = fieldRow({ name: freeName(), type: "text", unit: "word", size: 3 });
    named("schema").append(row);
    row.querySelector("input").select();
  });
  named("threshold").addEventListener("input", thresholdShown);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(create, form);
  });
  preset();
  prefill(new URLSearchParams(location.search));
}

await attempt(async () => {
  const { indexes } = await ask("/v1/indexes");
  show(
    list,
    indexes.length
      ? indexes.map(card)
      : make(
          "div",
          { class: "empty" },
          make("p", {}, form ? "No indexes yet. Create the first one below." : "No indexes yet."),
        ),
  );
}, list);

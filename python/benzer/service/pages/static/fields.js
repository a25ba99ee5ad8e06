// Input of a document by typing, pasting or dropping: one control for each field of the schema.

import { make, named, show } from "./api.js";
import { isTable, recognized, rowsOf } from "./files.js";

/**
 * Controls for a document of a schema, `{ name: settings }` as the service returns it.
 * Returns { element, contents(), texts(), fill(fields), clear(), take(file), picture(name), first }.
 */
export function documentControls(schema) {
  const alone = Object.keys(schema).length === 1;
  const controls = new Map(
    Object.entries(schema).map(([name, settings]) => [name, KINDS[settings.type](name, alone)]),
  );
  const of = (kind) => [...controls.values()].find((control) => control.kind === kind);
  return {
    element: make(
      "div",
      { class: "document" },
      [...controls.values()].map((control) => control.element),
    ),
    first: [...controls.values()][0],
    /** The fields that are filled in, in the format of the service. */
    async contents() {
      const found = await Promise.all(
        [...controls].map(async ([name, control]) => [name, await control.content()]),
      );
      return Object.fromEntries(found.filter(([, content]) => content !== null));
    },
    /** Fill the controls with contents as returned by the service, or with texts as typed. */
    fill(fields) {
      for (const [name, control] of controls) control.fill(fields[name] ?? null);
    },
    clear() {
      for (const control of controls.values()) control.fill(null);
    },
    /** Put a file into the field that fits; returns an error message, or null. */
    async take(file) {
      const known = await recognized(file);
      if (known.format === "images") {
        const image = of("image");
        if (!image) return `${file.name} is an image, but this index has no image field: choose an index with one`;
        image.fill(file);
        return null;
      }
      if (isTable(known))
        return `${file.name} is ${known.content}, with one document per row; a search takes a single text: drop the file on the Duplicates page or on the page of an index`;
      const text = of("text");
      if (!text) return `${file.name} is a text, but this index has no text field: choose an index with one`;
      text.fill(JSON.parse(await (await rowsOf(known)).text()).text);
      return null;
    },
    /** The file in an image field. */
    picture: (name) => controls.get(name)?.file?.() ?? null,
  };
}

const heading = (name, alone, word) => (alone && name === word.toLowerCase() ? word : name);

function text(name, alone) {
  const area = make("textarea", {
    id: `field-${name}`,
    rows: alone ? 7 : 3,
    dir: "auto",
    spellcheck: "false",
    "data-search": true,
    "aria-describedby": `length-${name}`,
    placeholder: "Paste a text here",
  });
  const length = make("span", { class: "note length", id: `length-${name}` });
  const measure = () => {
    length.textContent = area.value ? `${[...area.value].length} characters` : "";
  };
  area.addEventListener("input", measure);
  return {
    kind: "text",
    area,
    element: make(
      "div",
      { class: "field" },
      make("label", { for: area.id }, heading(name, alone, "Text")),
      length,
      area,
    ),
    content: async () => area.value || null,
    fill(value) {
      area.value = typeof value === "string" ? value : "";
      measure();
    },
  };
}

function values(name, alone) {
  const area = make("textarea", {
    id: `field-${name}`,
    rows: 3,
    dir: "auto",
    spellcheck: "false",
    "data-search": true,
    "aria-describedby": `hint-${name}`,
  });
  return {
    kind: "values",
    area,
    element: make(
      "div",
      { class: "field" },
      make("label", { for: area.id }, heading(name, alone, "Values")),
      area,
      make("p", { class: "hint", id: `hint-${name}` }, 'One value per line. 7 is a number, "7" is a text.'),
    ),
    content: async () =>
      area.value.trim()
        ? area.value
            .split("\n")
            .map((line) => line.trim())
            .filter(Boolean)
            .map(valueOf)
        : null,
    fill(value) {
      area.value = Array.isArray(value)
        ? value.map(written).join("\n")
        : typeof value === "string"
          ? value
          : "";
    },
  };
}

const WHOLE = /^-?\d{1,15}$/;
const valueOf = (line) => (WHOLE.test(line) ? Number(line) : /^".*"$/.test(line) ? line.slice(1, -1) : line);
const written = (value) => (typeof value === "string" && WHOLE.test(value) ? `"${value}"` : String(value));

function image(name, alone) {
  let file = null,
    shown = null;
  const input = make("input", { type: "file", accept: "image/*", id: `field-${name}`, "data-search": true });
  const preview = make("div", { class: "preview" });
  const put = (given) => {
    if (shown) URL.revokeObjectURL(shown);
    file = given;
    shown = file ? URL.createObjectURL(file) : null;
    if (!file) {
      input.value = "";
      show(preview);
      return;
    }
    show(
      preview,
      make("img", { src: shown, alt: `Query image: ${file.name || "pasted"}` }),
      make(
        "button",
        {
          type: "button",
          class: "small",
          onclick: () => {
            put(null);
            input.focus();
          },
        },
        "Remove",
      ),
    );
  };
  input.addEventListener("change", () => put(input.files[0] ?? null));
  return {
    kind: "image",
    element: make(
      "div",
      { class: "field" },
      make("label", { for: input.id }, heading(name, alone, "Image")),
      input,
      preview,
    ),
    content: async () => (file ? { base64: await base64(file) } : null),
    fill(value) {
      put(value instanceof Blob ? value : null);
    },
    file: () => file,
  };
}

const KINDS = { text, values, image };

/** The bytes of a file in base64, the format of images in requests. */
export function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** Accept files that are dropped anywhere on the page or pasted; `taken` is called with the list. */
export function takeFiles(taken) {
  let depth = 0;
  const over = (on) => {
    document.body.classList.toggle("over", on);
    const veil = named("dropping");
    if (veil) veil.hidden = !on;
  };
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragenter", (event) => {
    if (holdsFiles(event)) {
      depth += 1;
      over(true);
    }
  });
  addEventListener("dragleave", (event) => {
    if (holdsFiles(event)) {
      depth = Math.max(0, depth - 1);
      if (!depth) over(false);
    }
  });
  addEventListener("dragover", (event) => {
    if (holdsFiles(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    depth = 0;
    over(false);
    if (event.dataTransfer.files.length) taken([...event.dataTransfer.files]);
  });
  addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length) {
      event.preventDefault();
      taken(files);
    }
  });
}

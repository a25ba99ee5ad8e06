// Adds files as documents: texts in batches, tables as a stream, images one by one. Each file is reported in a list.

import { announce, ask, attempt, make, named, ofIndex, say, show, upload } from "./api.js";
import { documentControls, takeFiles } from "./fields.js";
import { isPlainLines, isTable, recognized, rowsOf } from "./files.js";

/** Enable adding files to an index. `changed` is called after documents were added. */
export function startAdding({ name, settings }, changed) {
  const kinds = Object.entries(settings.schema);
  const fieldOf = (type) => kinds.find(([, field]) => field.type === type)?.[0];
  const path = ofIndex(name, "documents");
  let queue = Promise.resolve();

  const taken = (files) => {
    queue = queue.then(() => attempt(() => add(files)));
  };
  takeFiles(taken);
  named("files").addEventListener("change", () => {
    taken([...named("files").files]);
    named("files").value = "";
  });

  async function add(files) {
    const known = [];
    for (const file of files) {
      try {
        known.push(await recognized(file));
      } catch (error) {
        await line(file.name, () => Promise.reject(error));
      }
    }
    const pictures = known.filter(({ format }) => format === "images").map(({ file }) => file);
    const plain = ({ format, compression, encoding }) => format === "text" && !compression && encoding === "utf-8";
    const texts = known.filter(plain);
    const streams = known.filter((one) => one.format !== "images" && !plain(one));
    for (const one of streams) await line(one.file.name, (row) => stream(linesFor(one, row.signal), row));
    const title = (files, noun) => (files.length === 1 ? files[0].name : `${files.length} ${noun}`);
    const textFiles = texts.map(({ file }) => file);
    if (texts.length) await line(title(textFiles, "texts"), (row) => stream(linesOf(textFiles), row, textFiles));
    if (pictures.length) await line(title(pictures, "images"), (row) => addPictures(pictures, row));
    await changed();
  }

  /** One line of the list: the file, its progress, and its outcome. */
  async function line(title, work) {
    const stop = new AbortController();
    const progress = make("progress", { max: 1, value: 0, "aria-label": `Progress of ${title}` });
    const told = make("span", { class: "note" }),
      end = make("button", { type: "button", class: "small", onclick: () => stop.abort() }, "Stop");
    const item = make("li", {}, make("div", { class: "line" }, make("bdi", {}, title), told, end), progress);
    named("uploads").prepend(item);
    const row = {
      signal: stop.signal,
      at(done, total) {
        progress.value = total ? done / total : 0;
        told.textContent = `${Math.floor((100 * done) / (total || 1))} %`;
      },
      wait(words) {
        progress.removeAttribute("value");
        told.textContent = words;
      },
    };
    try {
      const outcome = await work(row);
      announce(outcome);
      told.replaceWith(outcome.querySelector("[data-say]"));
      item.append(outcome);
    } catch (error) {
      const ended = error.name === "AbortError";
      told.textContent = ended ? "stopped; the documents added so far are kept" : error.message;
      if (!ended) told.className = "failed";
      say(`${title}: ${told.textContent}`);
    } finally {
      end.remove();
      progress.remove();
    }
  }

  /** Add the documents of some lines. files: the file of each line, which names malformed ones. */
  async function stream(lines, row, files = null) {
    row.wait("reading");
    const outcome = await upload(path, await lines, {
      type: "application/x-ndjson",
      accept: "text/html",
      query: { on_error: "skip" },
      signal: row.signal,
      sent: (done, total) => (done < total ? row.at(done, total) : row.wait("sent; adding the last documents")),
    });
    if (files) for (const one of outcome.querySelectorAll(".malformed li")) one.prepend(`${files[one.value - 1].name}: `);
    return outcome;
  }

  /** The rows of a table. JSON lines without extra columns are sent unchanged. */
  async function linesFor(known, signal) {
    if (!isTable(known)) return textAsLine(await rowsOf(known, [], signal));
    const names = ["id", "fields", ...kinds.map(([name]) => name)];
    const fits = isPlainLines(known) && known.columns?.includes("id") && known.columns.every((one) => names.includes(one));
    return fits ? known.file : rowsOf(known, names.slice(2), signal);
  }

  const lineOf = (id, text) => `${JSON.stringify({ id, fields: { [needed("text")]: text } })}\n`;

  /** A text that was returned as a row, renamed to the index's text field. */
  async function textAsLine(rows) {
    const { id, text } = JSON.parse(await rows.text());
    return new Blob([lineOf(id, text)]);
  }

  /** Text files as lines, one per file. */
  async function linesOf(files) {
    const lines = [];
    for (const file of files) lines.push(new Blob([lineOf(file.name, await file.text())]));
    return new Blob(lines);
  }

  function needed(type) {
    const field = fieldOf(type);
    if (!field) throw new Error(`this index has no ${type} field: choose an index with one`);
    return field;
  }

  async function addPictures(files, row) {
    const field = needed("image"),
      failed = [];
    for (const [at, file] of files.entries()) {
      const body = new FormData();
      body.append(field, file);
      try {
        await ask(ofIndex(name, "documents", file.name), { method: "PUT", body, signal: row.signal });
      } catch (error) {
        if (!error.status) throw error;
        failed.push(make("li", {}, `${file.name}: ${error.message}`));
      }
      row.at(at + 1, files.length);
    }
    const said = `${files.length - failed.length} of ${files.length} images added`;
    const outcome = document.createDocumentFragment();
    outcome.append(make("span", { class: "note", "data-say": said }, said), make("ul", {}, failed));
    return outcome;
  }

  startByHand(settings.schema, path, changed);
}

function startByHand(schema, path, changed) {
  const controls = documentControls(schema),
    form = named("one");
  show(named("fields"), controls.element);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      const id = named("new-id").value,
        fields = await controls.contents();
      const { replaced } = await ask(`${path}/${encodeURIComponent(id)}`, {
        method: "PUT",
        json: { fields },
      });
      say(replaced ? "document replaced" : "document added");
      form.reset();
      controls.clear();
      named("new-id").focus();
      await changed();
    }, form);
  });
}

// Adds files as documents: texts in batches, tables as a stream, images one by one. Each file is reported in a list.

import { ask, attempt, ofIndex, say, upload } from "./api.js";
import { bytes, counted, make, named, plain, show } from "./dom.js";
import { documentControls, takeFiles } from "./fields.js";
import { isPlainLines, isTable, recognized, rowsOf } from "./files.js";

const BATCH_FILES = 200,
  BATCH_BYTES = 4_000_000;

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
    const texts = known.filter(({ format, compression }) => format === "text" && !compression);
    const streams = known.filter((one) => isTable(one) || (one.format === "text" && one.compression));
    for (const one of streams) await line(one.file.name, (row) => stream(one, row));
    if (texts.length)
      await line(texts.length === 1 ? texts[0].file.name : counted(texts.length, "text"), (row) =>
        addTexts(
          texts.map(({ file }) => file),
          row,
        ),
      );
    if (pictures.length)
      await line(pictures.length === 1 ? pictures[0].name : counted(pictures.length, "image"), (row) =>
        addPictures(pictures, row),
      );
    await changed();
  }

  /** One line of the list: the file, its progress, and its outcome. */
  async function line(title, work) {
    const stop = new AbortController();
    const progress = make("progress", { max: 1, value: 0, "aria-label": `Progress of ${title}` });
    const told = make("span", { class: "note" }),
      end = make("button", { type: "button", class: "small", onclick: () => stop.abort() }, "Stop");
    const item = make(
      "li",
      {},
      make("div", { class: "line" }, make("bdi", {}, plain(title)), told, end),
      progress,
    );
    named("uploads").prepend(item);
    const row = {
      signal: stop.signal,
      at(done, total, words = "") {
        progress.value = total ? done / total : 0;
        told.textContent = words || `${Math.floor((100 * done) / (total || 1))} %`;
      },
      wait(words) {
        progress.removeAttribute("value");
        told.textContent = words;
      },
    };
    try {
      const { words, malformed = [], more = 0 } = await work(row);
      told.textContent = words;
      item.append(...malformedShown(malformed, more));
      say(`${title}: ${words}`);
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

  const summary = ({ read, added, documents }) =>
    `${counted(read, "document")} read, ${added.toLocaleString("en")} new; the index now has ${documents.toLocaleString("en")}`;

  /** Add the rows of a table. JSON lines without extra columns are sent unchanged. */
  async function stream(known, row) {
    row.wait("reading");
    const told = await upload(path, await linesFor(known, row.signal), {
      type: "application/x-ndjson",
      query: { on_error: "skip" },
      signal: row.signal,
      sent: (done, total) =>
        done < total
          ? row.at(done, total, `${bytes(done)} of ${bytes(total)}`)
          : row.wait("sent; adding the last documents"),
    });
    const count = told.malformed_count ?? 0;
    return {
      words: summary({ ...told, added: told.new }) + (count ? `; ${counted(count, "line")} skipped` : ""),
      malformed: told.malformed ?? [],
      more: count - (told.malformed?.length ?? 0),
    };
  }

  async function linesFor(known, signal) {
    if (!isTable(known)) return textAsLine(await rowsOf(known, [], signal));
    const names = ["id", "fields", ...kinds.map(([name]) => name)];
    const fits = isPlainLines(known) && known.columns?.includes("id") && known.columns.every((one) => names.includes(one));
    return fits ? known.file : rowsOf(known, names.slice(2), signal);
  }

  /** A text that was returned as a row, renamed to the index's text field. */
  async function textAsLine(rows) {
    const { id, text } = JSON.parse(await rows.text());
    const field = fieldOf("text");
    if (!field) throw new Error("this index has no text field: choose an index with one");
    return new Blob([`${JSON.stringify({ id, fields: { [field]: text } })}\n`]);
  }

  async function addTexts(files, row) {
    const field = fieldOf("text");
    if (!field) throw new Error("this index has no text field: choose an index with one");
    const total = { read: 0, added: 0, documents: 0 },
      malformed = [];
    for (let at = 0; at < files.length;) {
      const batch = [];
      for (
        let size = 0;
        at < files.length &&
        batch.length < BATCH_FILES &&
        (!batch.length || size + files[at].size <= BATCH_BYTES);
        at += 1
      ) {
        size += files[at].size;
        batch.push({ id: files[at].name, fields: { [field]: await files[at].text() } });
      }
      try {
        const told = await ask(path, { method: "POST", json: { documents: batch }, signal: row.signal });
        total.read += told.read;
        total.added += told.new;
        total.documents = told.documents;
      } catch (error) {
        if (!error.status) throw error;
        malformed.push({
          row: batch.length === 1 ? batch[0].id : `${batch[0].id} and ${batch.length - 1} more`,
          message: error.message,
        });
      }
      row.at(at, files.length);
    }
    if (!total.read && malformed.length) throw new Error(malformed[0].message);
    return { words: summary(total), malformed };
  }

  async function addPictures(files, row) {
    const field = fieldOf("image");
    if (!field) throw new Error("this index has no image field: choose an index with one");
    let read = 0,
      replaced = 0;
    const malformed = [];
    for (const [at, file] of files.entries()) {
      const body = new FormData();
      body.append(field, file);
      try {
        const told = await ask(ofIndex(name, "documents", file.name), {
          method: "PUT",
          body,
          signal: row.signal,
        });
        read += 1;
        replaced += told.replaced ? 1 : 0;
      } catch (error) {
        if (!error.status) throw error;
        malformed.push({ row: file.name, message: error.message });
      }
      row.at(at + 1, files.length);
    }
    return {
      words: `${counted(read, "image")} read, ${(read - replaced).toLocaleString("en")} new`,
      malformed,
    };
  }

  startByHand(settings.schema, path, changed);
}

function malformedShown(malformed, more) {
  if (!malformed.length) return [];
  return [
    make(
      "details",
      { open: malformed.length <= 5 },
      make("summary", {}, `${counted(malformed.length + more, "entry", "entries")} skipped`),
      make(
        "ol",
        { class: "malformed" },
        malformed.map(({ row, message }) =>
          make(
            "li",
            { value: Number.isInteger(row) ? row : null },
            Number.isInteger(row) ? "" : [make("bdi", {}, plain(row)), ": "],
            message,
          ),
        ),
      ),
      more > 0 ? make("p", { class: "note" }, `and ${more.toLocaleString("en")} more`) : null,
    ),
  ];
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
      say(replaced ? `${plain(id)} replaced` : `${plain(id)} added`);
      form.reset();
      controls.clear();
      named("new-id").focus();
      await changed();
    }, form);
  });
}

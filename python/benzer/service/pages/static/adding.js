// How do files become documents? Texts by the batch, JSON lines as a stream, pictures one by one; each is accounted for.

import { ask, attempt, ofIndex, say, upload } from "./api.js";
import { bytes, counted, make, named, plain, show } from "./dom.js";
import { documentControls, takeFiles } from "./fields.js";
import { isPlainLines, isTable, recognized, rowsOf } from "./files.js";

const BATCH_FILES = 200,
  BATCH_BYTES = 4_000_000;

/** Let files be added to an index. `changed` is told when some were. */
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
      await line(pictures.length === 1 ? pictures[0].name : counted(pictures.length, "picture"), (row) =>
        addPictures(pictures, row),
      );
    await changed();
  }

  /** One line of the list: what is added, how far it is, and what became of it. */
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
      told.textContent = ended ? "stopped; what was answered before is kept" : error.message;
      if (!ended) told.className = "failed";
      say(`${title}: ${told.textContent}`);
    } finally {
      end.remove();
      progress.remove();
    }
  }

  const summary = ({ read, added, documents }) =>
    `${counted(read, "document")} read, ${added.toLocaleString("en")} new; the index holds ${documents.toLocaleString("en")}`;

  /** Add the rows of a table: as they lie on the disk, where they are JSON lines with no columns beside the fields. */
  async function stream(known, row) {
    row.wait("being read");
    const told = await upload(path, await linesFor(known, row.signal), {
      type: "application/x-ndjson",
      query: { on_error: "skip" },
      signal: row.signal,
      sent: (done, total) =>
        done < total
          ? row.at(done, total, `${bytes(done)} of ${bytes(total)}`)
          : row.wait("sent; the last documents are being filed"),
    });
    const count = told.malformed_count ?? 0;
    return {
      words: summary({ ...told, added: told.new }) + (count ? `; ${counted(count, "line")} left out` : ""),
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

  /** A text that came as a row, under the name of the index's field for texts. */
  async function textAsLine(rows) {
    const { id, text } = JSON.parse(await rows.text());
    const field = fieldOf("text");
    if (!field) throw new Error("this index has no field for texts");
    return new Blob([`${JSON.stringify({ id, fields: { [field]: text } })}\n`]);
  }

  async function addTexts(files, row) {
    const field = fieldOf("text");
    if (!field) throw new Error("this index has no field for texts");
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
    if (!field) throw new Error("this index has no field for pictures");
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
      words: `${counted(read, "picture")} read, ${(read - replaced).toLocaleString("en")} new`,
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
      make("summary", {}, `${counted(malformed.length + more, "thing")} left out`),
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
      say(replaced ? `${plain(id)} is replaced` : `${plain(id)} is added`);
      form.reset();
      controls.clear();
      named("new-id").focus();
      await changed();
    }, form);
  });
}

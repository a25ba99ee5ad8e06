// Recognizes files and converts them to uploads of JSON lines. The service decides the format from the content.

import { Failure, ask, failureOf, working } from "./api.js";

const TYPE = "application/octet-stream";
const PEEK = 1 << 16;

/**
 * The format that the service detects: { file, format, content, compression, encoding, columns }, with the format jsonl,
 * json, csv, tsv, parquet, ipc, excel, warc, html, text or images. A file that cannot be read is a Failure with the reason and a fix.
 */
export async function recognized(file) {
  const told = await ask("/v1/files/format", {
    method: "POST",
    query: { name: file.name },
    body: file.slice(0, PEEK),
    headers: { "Content-Type": TYPE },
  });
  if (told.refusal !== null) throw new Failure(0, { message: told.refusal });
  return { ...told, file };
}

/** Whether a recognized file has one document per row; otherwise the whole file is one document. */
export const isTable = ({ format }) => ["jsonl", "json", "csv", "tsv", "parquet", "ipc", "excel", "warc"].includes(format);

/** Whether a recognized file is plain JSON lines, which are sent unchanged. */
export const isPlainLines = ({ format, compression }) => format === "jsonl" && !compression;

/** The rows of a recognized file as a blob of JSON lines, with the id and these fields; without fields, all columns. */
export async function rowsOf({ file }, fields = [], signal = undefined) {
  const query = new URLSearchParams([["name", file.name], ...fields.map((name) => ["field", name])]);
  working(1);
  try {
    const answer = await fetch(`/v1/files/rows?${query}`, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": TYPE },
      body: file,
      signal,
    });
    if (!answer.ok) throw await failureOf(answer);
    return await answer.blob();
  } finally {
    working(-1);
  }
}

const PIECE = 1 << 20;

/**
 * A file prepared for upload: its detected format, and its rows as a blob of JSON lines, `lines`. Images and unreadable
 * files are an error with the reason.
 */
export async function prepared(file) {
  const known = await recognized(file);
  if (known.format === "images")
    throw new Error(`${file.name} is an image, but this page reads texts: add images to an index and choose that index`);
  const lines = isPlainLines(known) ? file : await rowsOf(known);
  return { ...known, lines };
}

/** The columns of the first line of the first table; empty if there is no table. */
export async function columnsOf(files) {
  const table = files.find(isTable);
  if (!table) return [];
  const head = (await table.lines.slice(0, PIECE).text())
    .replace(/^\ufeff/, "")
    .split("\n")
    .find((line) => line.trim());
  try {
    const row = JSON.parse(head);
    return row !== null && typeof row === "object" && !Array.isArray(row) ? Object.keys(row) : [];
  } catch {
    return [];
  }
}

/**
 * All prepared files as one blob of lines. columns: { id, text, field }: the columns of the id and the text, and the name
 * of the text field to send. An empty id means line numbers.
 */
export async function linesOf(files, { id, text, field }) {
  const fits = (id === "id" && (text === field || text === "fields")) || !text;
  const parts = [];
  for (const one of files) {
    if (!isTable(one)) await renamed(one, { id: "id", text: "text", field }, parts);
    else if (fits) parts.push(one.lines, "\n");
    else await renamed(one, { id, text, field }, parts);
  }
  return new Blob(parts, { type: "application/x-ndjson" });
}

/** The lines of a file with renamed columns, in chunks. Lines that are not objects are sent unchanged and counted. */
async function renamed({ file, lines: rows }, columns, parts) {
  const reader = rows.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = "",
    piece = "",
    number = 0;
  const take = (line) => {
    number += 1;
    if (line.trim()) piece += `${renamedLine(line, columns, `${file.name}:${number}`)}\n`;
    if (piece.length > PIECE) {
      parts.push(new Blob([piece]));
      piece = "";
    }
  };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    lines.forEach(take);
  }
  if (rest) take(rest);
  if (piece) parts.push(piece);
}

/** One line with renamed columns. If its id is a number too large for JavaScript, it is sent unchanged as malformed. */
export function renamedLine(line, { id, text, field }, place) {
  try {
    const row = JSON.parse(line);
    if (row === null || typeof row !== "object" || Array.isArray(row)) return line;
    if (typeof row[id] === "number" && !Number.isSafeInteger(row[id])) return line;
    return JSON.stringify({ id: id ? row[id] : place, [field]: row[text] });
  } catch {
    return line;
  }
}

// How do files become an upload? As lines of JSON: those that fit are sent as they lie on the disk, unread.

import { isPlainLines, isTable, recognized, rowsOf } from "./files.js";

const PEEK = 1 << 20,
  PIECE = 1 << 20;

/**
 * A file as it will be sent: what it was recognized as, and its rows as a blob of JSON lines, `lines`. Images and files
 * that cannot be read are an error, which says why.
 */
export async function prepared(file) {
  const known = await recognized(file);
  if (known.format === "images")
    throw new Error(`${file.name} is an image; this page reads texts: add images to an index, and choose that index`);
  const lines = isPlainLines(known) ? file : await rowsOf(known);
  return { ...known, lines };
}

/** The columns of the first line of the first table; none where nothing has to be chosen. */
export async function columnsOf(files) {
  const table = files.find(isTable);
  if (!table) return [];
  const head = (await table.lines.slice(0, PEEK).text())
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
 * All prepared files as one blob of lines. columns: { id, text, field }: where a line has its id and its text, and the name
 * under which texts are sent; "" as the id numbers the lines.
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

/** The lines of a file with their columns renamed, piece by piece; what is no object is sent as it is, to be counted. */
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

/** One line with its columns renamed; as it is, to be counted as malformed, where its id is a number too large to keep. */
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

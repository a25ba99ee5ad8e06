// How do files become an upload? As lines of JSON: those that fit are sent as they lie on the disk, unread.

const LINES = /\.(jsonl|ndjson|json)$/i;
const PEEK = 1 << 20,
  PIECE = 1 << 20;

/** Whether a file holds a document a line; of any other the whole is one. */
export const isLines = (file) => LINES.test(file.name) || file.type === "application/x-ndjson";

/** The columns of the first line of the first file of lines; none where nothing has to be chosen. */
export async function columnsOf(files) {
  const file = files.find(isLines);
  if (!file) return [];
  const head = (await file.slice(0, PEEK).text())
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
 * All files as one blob of lines. columns: { id, text, field }: where a line has its id and its text, and the name under
 * which texts are sent; "" as the id numbers the lines.
 */
export async function linesOf(files, { id, text, field }) {
  const fits = (id === "id" && (text === field || text === "fields")) || !text;
  const parts = [];
  for (const file of files) {
    if (!isLines(file)) parts.push(`${JSON.stringify({ id: file.name, [field]: await file.text() })}\n`);
    else if (fits) parts.push(file, "\n");
    else await renamed(file, { id, text, field }, parts);
  }
  return new Blob(parts, { type: "application/x-ndjson" });
}

/** The lines of a file with their columns renamed, piece by piece; what is no object is sent as it is, to be counted. */
async function renamed(file, columns, parts) {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
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

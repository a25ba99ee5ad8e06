// Recognizes files and converts them to JSON lines. The service decides the format from the content.

import { Failure, ask, failureOf, working } from "./api.js";

const TYPE = "application/octet-stream";
const PEEK = 1 << 16;

/**
 * The format that the service detects: { file, format, content, compression, columns }, with the format jsonl, csv, tsv,
 * parquet, text or images. A file that cannot be read is a Failure with the reason and a fix.
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
export const isTable = ({ format }) => ["jsonl", "csv", "tsv", "parquet"].includes(format);

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

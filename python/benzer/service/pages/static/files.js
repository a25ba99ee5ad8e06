// What does a file hold, and how does it become documents? The service recognizes it; nothing is taken for a text unseen.

import { Failure, ask, failureOf, working } from "./api.js";

const TYPE = "application/octet-stream";
const PEEK = 1 << 16;

/**
 * What the service recognizes a file as: { file, format, content, compression, columns }, with the format jsonl, csv, tsv,
 * parquet, text or images. A file that cannot be read is a Failure, which says what it is and what helps.
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

/** Whether a recognized file holds a document a row; else the whole is one. */
export const isTable = ({ format }) => ["jsonl", "csv", "tsv", "parquet"].includes(format);

/** Whether a recognized file is plain JSON lines, which are sent as they lie on the disk, unread. */
export const isPlainLines = ({ format, compression }) => format === "jsonl" && !compression;

/** The rows of a recognized file as a blob of JSON lines, with these fields beside the id; with all columns without any. */
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

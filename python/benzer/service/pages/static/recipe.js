// The settings of a page as a command line, as Python code and as an HTTP request.

import { setting } from "./numbers.js";

const SIZES = { word: 3, char: 5 };
const USUAL = {
  tokenizer: "unified",
  normalize: "nfkc",
  case: "fold",
  whitespace: "fold",
  weight: 1,
  frequencies: false,
  shingle_hash: "benzer",
  hash_bytes: 8,
};
const PUNCTUATION = { word: "drop", char: "keep" };
const DATA = "docs.jsonl";

/** The shingle size of a text field. */
export const sizeOf = ({ unit = "word", shingle_size: size }) => size ?? SIZES[unit];

/** `{ name, unit, size }` if a schema is one text with default settings except its shingles; otherwise null. */
export function plainText(schema) {
  const [[name, field], ...others] = Object.entries(schema);
  if (others.length || field.type !== "text" || field.stop_words?.length) return null;
  const { unit = "word" } = field;
  const own = Object.entries(USUAL).some(([key, usual]) => key in field && field[key] !== usual);
  if (own || (field.punctuation ?? PUNCTUATION[unit]) !== PUNCTUATION[unit]) return null;
  return { name, unit, size: sizeOf(field) };
}

const isUsual = ({ unit, size }) => unit === "word" && size === SIZES.word;

/** The command line that removes the near-duplicates of a file. settings: { threshold, recall, schema }. */
export function commandLine({ threshold, recall, schema }) {
  const text = plainText(schema);
  const parts = [`benzer dedupe ${DATA}`];
  if (text && text.name !== "text") parts.push(`--text ${quoted(text.name)}`);
  if (text && !isUsual(text)) parts.push(`--shingle ${text.unit}:${text.size}`);
  parts.push(`--threshold ${setting(threshold)}`, `--recall ${setting(recall)}`, "--output clean");
  return (
    (text ? "" : "# this command line does not show all field settings: see Python\n") + parts.join(" \\\n  ")
  );
}

/** The same in Python. */
export function python({ threshold, recall, schema }) {
  return [
    "import benzer",
    "",
    "found = benzer.find_duplicates(",
    `    "${DATA}",`,
    ...schemaCode(schema),
    `    threshold=${setting(threshold)},`,
    `    recall=${setting(recall)},`,
    ")",
  ].join("\n");
}

function schemaCode(schema) {
  const text = plainText(schema);
  if (text && isUsual(text)) return text.name === "text" ? [] : [`    text=${literal(text.name)},`];
  if (text && text.name === "text")
    return [`    schema=benzer.Schema(text=benzer.Text(unit="${text.unit}", shingle_size=${text.size})),`];
  const fields = Object.entries(schema).map(
    ([name, field]) => `        ${literal(name)}: ${literal(field)},`,
  );
  return ["    schema=benzer.Schema.from_dict({", ...fields, "    }),"];
}

/** A JSON value as a Python literal. */
export function literal(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([key, one]) => `${literal(key)}: ${literal(one)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
}

/** The same as a request: for an index, or for a file. */
export function request({ threshold, recall, schema, index }, origin) {
  if (index) {
    const body = JSON.stringify({ index, threshold, recall });
    return `curl ${origin}/v1/duplicates \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}`;
  }
  const asked = new URLSearchParams({ threshold: String(threshold), recall: String(recall) });
  const text = plainText(schema);
  if (!text || text.name !== "text" || !isUsual(text)) {
    asked.set(
      "fields",
      JSON.stringify(
        text ? { [text.name]: { type: "text", unit: text.unit, shingle_size: text.size } } : schema,
      ),
    );
  }
  return `curl ${quoted(`${origin}/v1/duplicates?${asked}`)} \\\n  -H 'Content-Type: application/x-ndjson' \\\n  --data-binary @${DATA}`;
}

/** A word, quoted for a shell if necessary. */
export function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

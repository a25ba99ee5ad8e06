// How are the settings of a page written on a command line, in Python, and as a request?

import { setting } from "./numbers.js";

/** Whether the shingles have to be said: where they are not those of a text by itself. */
function shingles(recipe, usual) {
  return recipe.unit && !(usual && recipe.unit === usual.unit && recipe.size === usual.size);
}

/** The command line that removes the near-duplicates of a file with these settings. */
export function commandLine({ threshold, recall, field = "text", ...recipe }, usual) {
  const parts = ["benzer dedupe docs.jsonl"];
  if (field !== "text") parts.push(`--text ${quoted(field)}`);
  if (shingles(recipe, usual)) parts.push(`--shingle ${recipe.unit}:${recipe.size}`);
  parts.push(`--threshold ${setting(threshold)}`, `--recall ${setting(recall)}`, "--output clean");
  return parts.join(" \\\n  ");
}

/** The same in Python. */
export function python({ threshold, recall, field = "text", ...recipe }, usual) {
  const lines = ["import benzer", "", "found = benzer.find_duplicates(", '    "docs.jsonl",'];
  if (shingles(recipe, usual)) {
    const text = `benzer.Text(unit="${recipe.unit}", shingle_size=${recipe.size})`;
    lines.push(
      /^[A-Za-z_]\w*$/.test(field)
        ? `    schema=benzer.Schema(${field}=${text}),`
        : `    schema=benzer.Schema(**{${JSON.stringify(field)}: ${text}}),`,
    );
  }
  return [...lines, `    threshold=${setting(threshold)},`, `    recall=${setting(recall)},`, ")"].join("\n");
}

/** The same as a request to this service. */
export function request({ threshold, recall, index }, origin) {
  const body = JSON.stringify({ index: index ?? "NAME", threshold, recall });
  return `curl ${origin}/v1/duplicates \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}`;
}

/** A word as a shell reads it. */
export function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

// Puts the settings of the page into links to other pages and into code.

import { address } from "./api.js";
import { named } from "./dom.js";
import { commandLine, plainText, python, request } from "./recipe.js";

/**
 * Write the settings as links and as code. settings: { threshold, recall, schema }; index: the name of the index that
 * the schema belongs to, or "".
 */
export function showRecipe(settings, index) {
  const { threshold, recall, schema } = settings;
  const { unit = null, size = null } = plainText(schema) ?? {};
  named("use-duplicates").href = address(
    "/duplicates",
    index ? { index, threshold, recall } : { threshold, recall, unit, size },
  );
  named("use-duplicates").textContent = index ? `Find duplicates in ${index}` : "Find duplicates in files";
  named("use-index").href = address("/indexes", { threshold, recall, unit, size });
  named("command-line").textContent = commandLine(settings);
  named("python").textContent = python(settings);
  named("request").textContent = request({ ...settings, index }, location.origin);
}

// Where do the settings of the page go from here? Into links to other pages, and into code.

import { address } from "./api.js";
import { named } from "./dom.js";
import { commandLine, python, request } from "./recipe.js";

/** Write the settings as links and as code. usual: the recipe that need not be said. */
export function showRecipe({ threshold, recall, index, unit, size, field }, usual) {
  const told = { threshold, recall, unit, size, field: field ?? "text", index };
  named("use-duplicates").href = address("/duplicates", { index, threshold, recall });
  named("use-index").href = address("/indexes", { threshold, recall, unit, size });
  named("command-line").textContent = commandLine(told, usual);
  named("python").textContent = python(told, usual);
  named("request").textContent = request(told, location.origin);
}

// How is what two documents share shown, field by field? Passages where there are texts, else a word on why not.

import { likeness, make } from "./dom.js";
import { sideBySide } from "./sidebyside.js";

/**
 * The evidence of each field. fields: { name: { similarity, evidence } } or { name: evidence }.
 * titles: { a, b }, what the two documents are called.
 */
export function evidenceShown(fields, titles) {
  const entries = Object.entries(fields);
  return entries.map(([name, told]) => {
    const evidence = told && "evidence" in told ? told.evidence : told;
    const similarity = told?.similarity;
    return make("div", { class: "of-field" },
      entries.length > 1 ? make("h4", {}, make("bdi", {}, name), similarity === undefined ? null : ` · ${likeness(similarity)}`) : null,
      evidence ? sideBySide(evidence, titles)
        : make("p", { class: "note" }, "There is nothing to show side by side here: of pictures, and of very long texts, only numbers are compared."));
  });
}

// How is what two documents share shown, field by field? Passages where there are texts, else a word on why not.

import { counted, likeness, make } from "./dom.js";
import { sideBySide } from "./sidebyside.js";

/**
 * The evidence of each field. fields: { name: { similarity, evidence } } or { name: evidence }.
 * titles: { a, b }, what the two documents are called. most: passages that are shown at first.
 */
export function evidenceShown(fields, titles, most = Infinity) {
  const entries = Object.entries(fields);
  return entries.map(([name, told]) => {
    const evidence = told && "evidence" in told ? told.evidence : told;
    const similarity = told?.similarity;
    return make(
      "div",
      { class: "of-field" },
      entries.length > 1
        ? make(
            "h4",
            {},
            make("bdi", {}, name),
            similarity === undefined ? null : ` · ${likeness(similarity)}`,
          )
        : null,
      evidence
        ? shortened(evidence, titles, most)
        : make(
            "p",
            { class: "note" },
            "There is nothing to show side by side here: of pictures, and of very long texts, only numbers are compared.",
          ),
    );
  });
}

/** The longest passages, and a button for all. */
function shortened(evidence, titles, most) {
  const { passages } = evidence;
  if (passages.length <= most) return sideBySide(evidence, titles);
  const first = sideBySide({ ...evidence, passages: passages.slice(0, most), more: 0, whole: null }, titles);
  const all = make(
    "button",
    {
      type: "button",
      class: "small",
      onclick: () => {
        const whole = sideBySide(evidence, titles);
        first.replaceWith(whole);
        all.remove();
        whole.querySelectorAll("figure")[most]?.focus({ preventScroll: true });
      },
    },
    `Show all ${counted(passages.length + evidence.more, "passage")}`,
  );
  return [first, all];
}

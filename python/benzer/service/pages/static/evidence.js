// The evidence of a pair, field by field: passages of texts, images side by side, or a note.

import { counted, likeness, make } from "./dom.js";
import { picture } from "./pictures.js";
import { sideBySide } from "./sidebyside.js";

/**
 * The evidence of each field. fields: { name: { similarity, evidence } } or { name: evidence }.
 * titles: { a, b }, the names of the two documents. most: the number of passages shown at first.
 * pictures: the addresses of the thumbnails of both, [{ name: address }, { name: address }].
 */
export function evidenceShown(fields, titles, { most = Infinity, pictures = [{}, {}] } = {}) {
  const entries = Object.entries(fields);
  return entries.map(([name, told]) => {
    const { similarity = null, evidence = null } = told && "evidence" in told ? told : { evidence: told };
    const title = [make("bdi", {}, name), similarity === null ? null : ` · ${likeness(similarity)}`];
    return make(
      "div",
      { class: "of-field" },
      entries.length > 1 ? make("h4", {}, title) : null,
      evidence ? shortened(evidence, titles, most) : picturesShown(name, titles, pictures),
    );
  });
}

const NONE =
  "Nothing to show side by side: images and very long texts are compared by numbers only.";

/** The images of a field side by side, if both have a thumbnail. */
function picturesShown(name, titles, [a, b]) {
  if (!a[name] || !b[name]) return make("p", { class: "note" }, NONE);
  const one = (address, title) =>
    make(
      "figure",
      { class: "picture" },
      picture(address, title),
      make("figcaption", {}, make("bdi", {}, title)),
    );
  return make("div", { class: "pair" }, one(a[name], titles.a), one(b[name], titles.b));
}

/** The longest passages, and a button that shows all. */
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

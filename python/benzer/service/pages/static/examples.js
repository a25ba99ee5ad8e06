// Example pairs near the threshold: one line each, with the similarity; opened, with the evidence.

import { likeness, make, plain, show } from "./dom.js";
import { evidenceShown } from "./evidence.js";

/** Show examples, the first of them open. none: the text to show if there are none. */
export function showExamples(host, examples, none) {
  show(
    host,
    examples.length
      ? examples.map((example, at) => exampleShown(example, at === 0))
      : make("p", { class: "empty" }, none),
  );
}

function exampleShown({ left, right, similarity, evidence }, open) {
  const titles = { a: plain(left.id), b: plain(right.id) };
  const inside = make("div", {});
  const fold = make(
    "details",
    { class: "example card", open },
    make(
      "summary",
      {},
      make("span", { class: "number" }, likeness(similarity)),
      " ",
      make("bdi", {}, titles.a),
      " ",
      make("span", { class: "note" }, "and"),
      " ",
      make("bdi", {}, titles.b),
    ),
    inside,
  );
  const fill = () => {
    if (!fold.open || inside.hasChildNodes()) return;
    const pictures = [left.thumbnails, right.thumbnails];
    show(inside, evidenceShown(evidence, titles, { most: 2, pictures }));
  };
  fold.addEventListener("toggle", fill);
  fill();
  return fold;
}

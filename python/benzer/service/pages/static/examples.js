// What does a pair next to the threshold look like? Each is a line with its similarity, opened to its evidence.

import { likeness, make, plain, show } from "./dom.js";
import { evidenceShown } from "./evidence.js";

/** Show examples in a place, the first of them open. none: what is said where there are none. */
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
    show(inside, picturesShown(left, right, titles), evidenceShown(texts(evidence, left), titles, 2));
  };
  fold.addEventListener("toggle", fill);
  fill();
  return fold;
}

/** The evidence of the fields that are no pictures: these are shown themselves. */
function texts(evidence, { thumbnails = {} }) {
  return Object.fromEntries(Object.entries(evidence).filter(([name]) => !(name in thumbnails)));
}

function picturesShown(left, right, titles) {
  const names = Object.keys(left.thumbnails ?? {}).filter((name) => name in (right.thumbnails ?? {}));
  const picture = (side, name, title) =>
    make(
      "figure",
      { class: "picture" },
      make("img", { src: side.thumbnails[name], alt: `${name} of ${title}`, loading: "lazy" }),
      make("figcaption", {}, make("bdi", {}, title)),
    );
  return names.map((name) =>
    make("div", { class: "pair" }, picture(left, name, titles.a), picture(right, name, titles.b)),
  );
}

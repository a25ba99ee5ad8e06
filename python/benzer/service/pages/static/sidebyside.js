// The evidence of a pair in two columns, as returned by the service.

import { counted, make, show } from "./dom.js";

const UNFIT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * The evidence of one field side by side. titles: { a, b }, the names of the two documents.
 * The keys n and p and two buttons go to the next and the previous passage.
 */
export function sideBySide(evidence, titles) {
  const figures = evidence.passages.map((passage, at) => passageShown(passage, at, titles));
  return make(
    "div",
    { class: "evidence", role: "group", "aria-label": "Shared content" },
    make("p", { class: "headline" }, evidence.headline),
    figures.length ? key() : null,
    figures.length > 1 ? walk(figures) : null,
    figures,
    evidence.more > 0
      ? make("p", { class: "note" }, `and ${counted(evidence.more, "more passage")}, none of them longer`)
      : null,
    evidence.shared?.length ? values(evidence.shared) : null,
    evidence.whole ? wholeTexts(evidence.whole, titles) : null,
  );
}

/** The legend of the marks. */
const key = () =>
  make(
    "p",
    { class: "key" },
    make("mark", { class: "equal" }, "in both"),
    " ",
    make("mark", { class: "differs" }, "differs"),
  );

function passageShown(passage, at, titles) {
  return make(
    "figure",
    { tabindex: "-1", class: "passage", "aria-label": passage.caption },
    make("figcaption", {}, passage.caption),
    pair(
      side(passage.views.a, titles.a, "A", placed(passage.a)),
      side(passage.views.b, titles.b, "B", placed(passage.b)),
    ),
  );
}

const placed = ([start, end]) => `characters ${start.toLocaleString("en")} to ${end.toLocaleString("en")}`;

/** Two columns that scroll together, each in proportion to its length. */
function pair(left, right) {
  const texts = [left, right].map((one) => one.querySelector(".text"));
  let led = null; // the column that follows the other one; its own scroll event is ignored
  texts.forEach((text, at) =>
    text.addEventListener(
      "scroll",
      () => {
        if (led === text) {
          led = null;
          return;
        }
        const other = texts[1 - at],
          room = text.scrollHeight - text.clientHeight;
        const wanted =
          room > 0 ? Math.round((text.scrollTop / room) * (other.scrollHeight - other.clientHeight)) : 0;
        if (Math.abs(other.scrollTop - wanted) < 1) return;
        led = other;
        other.scrollTop = wanted;
      },
      { passive: true },
    ),
  );
  return make("div", { class: "pair" }, left, right);
}

/** One column: the name of a document and parts of its text. */
export function side(stretches, title, letter = null, place = null) {
  return make(
    "div",
    { class: "side" },
    make(
      "p",
      { class: "name" },
      letter ? make("span", { class: "letter" }, letter) : null,
      make("bdi", {}, title),
      place ? make("span", { class: "place" }, ` ${place}`) : null,
    ),
    make(
      "div",
      { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": `Text of ${title}` },
      stretches.map(stretch),
    ),
  );
}

/** A part of a text as an element; equal and different parts are marked. */
export function stretch({ kind, text }) {
  if (kind === "cut")
    return make("span", { class: "cut" }, ` … ${counted(Number(text), "character")} omitted … `);
  const clean = text.replace(UNFIT, "\ufffd");
  if (kind === "equal") return make("mark", { class: "equal" }, clean);
  if (kind === "differs") return make("mark", { class: "differs" }, clean);
  return make("span", { class: "around" }, clean);
}

function walk(figures) {
  let at = -1;
  const place = make("span", { class: "place", role: "status" }, counted(figures.length, "passage"));
  const go = (step) => {
    at = Math.min(Math.max(at + step, 0), figures.length - 1);
    figures[at].focus({ preventScroll: true });
    figures[at].scrollIntoView({ block: "nearest" });
    place.textContent = `${at + 1} of ${figures.length}`;
  };
  const keys = (event) => {
    if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.key === "n" || event.key === "p") {
      event.preventDefault();
      go(event.key === "n" ? 1 : -1);
    }
  };
  const bar = make(
    "div",
    { class: "walk", role: "group", "aria-label": "Passages" },
    make(
      "button",
      { type: "button", class: "small", onclick: () => go(-1), "aria-keyshortcuts": "p" },
      "Previous passage",
    ),
    make(
      "button",
      { type: "button", class: "small", onclick: () => go(1), "aria-keyshortcuts": "n" },
      "Next passage",
    ),
    place,
  );
  queueMicrotask(() => bar.parentElement?.addEventListener("keydown", keys));
  return bar;
}

const MOST = 60;

function values(shared) {
  return make(
    "div",
    {},
    make(
      "ul",
      { class: "values", "aria-label": "Shared values" },
      shared
        .slice(0, MOST)
        .map((value) => make("li", {}, make("bdi", {}, String(value).replace(UNFIT, "\ufffd")))),
    ),
    shared.length > MOST
      ? make("p", { class: "note" }, `and ${counted(shared.length - MOST, "more value")}`)
      : null,
  );
}

/** Both full texts, collapsed; they are rendered when opened. */
function wholeTexts(whole, titles) {
  const inside = make("div");
  const fold = make("details", {}, make("summary", {}, "Full texts"), inside);
  fold.addEventListener("toggle", () => {
    if (fold.open && !inside.hasChildNodes())
      show(inside, pair(side(whole.a, titles.a, "A"), side(whole.b, titles.b, "B")));
  });
  return fold;
}

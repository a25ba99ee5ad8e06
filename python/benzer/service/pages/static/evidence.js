// Documents side by side, rendered by the service: both columns scroll together, keys go through the passages.

import { named } from "./api.js";

let led = null; // the column that follows the other one; its own scroll event is ignored

/** Scroll the other column of a pair in proportion. */
function follow({ target: text }) {
  if (!text.matches?.(".pair .text")) return;
  if (led === text) {
    led = null;
    return;
  }
  const other = [...text.closest(".pair").querySelectorAll(".text")].find((one) => one !== text);
  const room = text.scrollHeight - text.clientHeight;
  const wanted =
    room > 0 ? Math.round((text.scrollTop / room) * (other.scrollHeight - other.clientHeight)) : 0;
  if (Math.abs(other.scrollTop - wanted) < 1) return;
  led = other;
  other.scrollTop = wanted;
}

/** Go to the next or the previous passage. */
function walk(evidence, step) {
  const place = evidence.querySelector(".walk .place");
  if (!place) return;
  const passages = [...evidence.querySelectorAll("figure:not([hidden])")];
  const now = Number(place.dataset.at ?? -1);
  const at = Math.min(Math.max(now + step, 0), passages.length - 1);
  place.dataset.at = at;
  passages[at].focus({ preventScroll: true });
  passages[at].scrollIntoView({ block: "nearest" });
  place.textContent = `${at + 1} of ${passages.length}`;
}

/** Show everything that was hidden at first. */
function showAll(button) {
  const hidden = [...button.closest(".evidence").querySelectorAll("[hidden]")];
  for (const one of hidden) one.hidden = false;
  button.remove();
  hidden[0]?.focus({ preventScroll: true });
}

/** An image that cannot be loaded is replaced by the note after it, if there is one. */
function missing({ target: image }) {
  if (image.tagName !== "IMG") return;
  if (image.nextElementSibling?.matches(".note")) image.nextElementSibling.hidden = false;
  image.remove();
}

const main = named("main");
main.addEventListener("scroll", follow, { capture: true, passive: true });
main.addEventListener("error", missing, { capture: true });
main.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-walk], [data-all]");
  if (button?.dataset.walk) walk(button.closest(".evidence"), Number(button.dataset.walk));
  else if (button) showAll(button);
});
main.addEventListener("keydown", (event) => {
  const evidence = event.target.closest(".evidence");
  if (!evidence || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
  if (event.key === "n" || event.key === "p") {
    event.preventDefault();
    walk(evidence, event.key === "n" ? 1 : -1);
  }
});

// How is a picture shown that may not be there? By its small copy, or by the word that the index keeps none.

import { make } from "./dom.js";

const NONE = "The index keeps a description of this picture only, too little to show it.";

/** The picture at an address, or the word that there is none. */
export function picture(address, title) {
  const none = () => make("p", { class: "note" }, NONE);
  if (!address) return none();
  const shown = make("img", { src: address, alt: `The picture of ${title}` });
  shown.addEventListener("error", () => shown.replaceWith(none()));
  return shown;
}

/** A small picture beside words that say the same; where there is none, nothing. */
export function thumbnail(address) {
  if (!address) return null;
  const shown = make("img", { class: "thumbnail", src: address, alt: "", loading: "lazy" });
  shown.addEventListener("error", () => shown.remove());
  return shown;
}

// Thumbnails of images, or a note if the index has none.

import { make } from "./dom.js";

const NONE = "The index stores only a description of this image, which cannot be displayed.";

/** The image at an address, or a note that there is none. */
export function picture(address, title) {
  const none = () => make("p", { class: "note" }, NONE);
  if (!address) return none();
  const shown = make("img", { src: address, alt: `Image of ${title}` });
  shown.addEventListener("error", () => shown.replaceWith(none()));
  return shown;
}

/** A decorative thumbnail next to a text; null without an address. */
export function thumbnail(address) {
  if (!address) return null;
  const shown = make("img", { class: "thumbnail", src: address, alt: "", loading: "lazy" });
  shown.addEventListener("error", () => shown.remove());
  return shown;
}

// How does a person set a number? By a slider, and by a field for the exact one: both always show the same.

import { named } from "./dom.js";

/**
 * Tie the slider of an id to its field, `id-number`, where there is one. moved: called with the number on every move.
 * Gives { value, set }; `set` moves both, and tells nobody.
 */
export function dial(id, moved) {
  const [slider, field] = [named(id), named(`${id}-number`)];
  let value = Number(slider.value);
  const set = (number) => {
    const { min, max } = field ?? slider;
    value = Math.min(Math.max(number, Number(min)), Number(max));
    slider.value = String(value);
    if (field) field.value = String(value);
  };
  slider.addEventListener("input", () => {
    set(Number(slider.value));
    moved(value);
  });
  field?.addEventListener("input", () => {
    if (field.value === "" || !field.checkValidity()) return; // still being typed
    value = Number(field.value);
    slider.value = String(value);
    moved(value);
  });
  field?.addEventListener("change", () => set(value));
  return {
    get value() {
      return value;
    },
    set,
  };
}

/** Run work a moment after the last of several calls. */
export function settled(work, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}

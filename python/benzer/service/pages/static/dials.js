// A number input: a slider and a field for the exact value, kept in sync.

import { named } from "./dom.js";

/**
 * Connect the slider `id` to the field `id-number`, if it exists. moved: called with the number on every change.
 * Returns { value, set }; `set` updates both without calling `moved`.
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

/** Debounce: run work some milliseconds after the last of several calls. */
export function settled(work, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}

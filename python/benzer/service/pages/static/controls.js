// Controls of pages: sliders with a field for the exact value, debouncing, polling, and downloads.

import { make, named } from "./api.js";

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

/**
 * Repeat some work while `work()` returns true. Returns { wake }, which starts again.
 * pause: milliseconds between a response and the next request.
 */
export function follow(work, pause = 300) {
  let timer = 0,
    running = false,
    wanted = true;
  const turn = async () => {
    timer = 0;
    if (running || document.hidden) return;
    running = true;
    try {
      wanted = await work();
    } finally {
      running = false;
    }
    if (wanted && !timer) timer = setTimeout(turn, pause);
  };
  const wake = () => {
    wanted = true;
    clearTimeout(timer);
    timer = setTimeout(turn, 0);
  };
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && wanted) wake();
  });
  wake();
  return { wake };
}

/** Download some content under a file name. */
export function save(content, name, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

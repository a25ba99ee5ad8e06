// Shared by all pages: the "/" key focuses the search field, or opens the page that has it.

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  const field = document.querySelector("[data-search]");
  if (field) {
    field.focus();
    field.select?.();
  } else location.href = "/";
});

// The table of contents of the API reference is open on wide screens.
const contents = document.getElementById("contents");
if (contents) {
  const wide = matchMedia("(min-width: 60.01rem)");
  const fit = () => {
    contents.open = wide.matches;
  };
  wide.addEventListener("change", fit);
  fit();
  contents.addEventListener("click", ({ target }) => {
    if (target.closest("a") && !wide.matches) contents.open = false;
  });
}

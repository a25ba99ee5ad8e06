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

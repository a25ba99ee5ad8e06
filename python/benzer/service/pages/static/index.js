// The page of one index: its figures, its documents, adding documents, and deleting the index.

import { startAdding } from "./adding.js";
import { ask, attempt, documentOf, load, mayWrite, named, ofIndex, say, swap } from "./api.js";
import "./evidence.js";

const LIMIT = 10;
const name = named("index").dataset.name;
const before = []; // start positions of the previous pages
let here = null;

await attempt(async () => {
  const information = await ask(ofIndex(name), { slot: "information" });
  if (mayWrite()) {
    startAdding(information, () => Promise.all([figures(), first()]));
    if (information.deletable) startDeleting();
  }
  await Promise.all([figures(), first()]);
});

async function figures(query = {}) {
  swap(await load(ofIndex(name), { query, slot: "figures" }));
}

function first() {
  before.length = 0;
  return page(null);
}

/** Show the documents after a position. */
async function page(after) {
  swap(await load(ofIndex(name, "documents"), { query: { limit: LIMIT, after }, slot: "documents" }));
  here = after;
  pager(false);
}

function pager(alone) {
  const { next } = named("documents").dataset;
  named("pages").hidden = !alone && !next && !before.length;
  named("previous").disabled = alone || !before.length;
  named("next").disabled = alone || !next;
  named("page").textContent = alone ? "" : `Page ${before.length + 1}`;
  named("all").hidden = !alone;
}

const turn = (after) =>
  attempt(async () => {
    await page(after);
    named("documents-heading").scrollIntoView({ block: "nearest" });
  }, named("documents"));

named("previous").addEventListener("click", () => turn(before.pop()));
named("next").addEventListener("click", () => {
  before.push(here);
  turn(named("documents").dataset.next);
});
named("all").addEventListener("click", () => attempt(first, named("documents")));
named("count-buckets").addEventListener("click", () => attempt(() => figures({ buckets: true }), named("buckets")));

named("listed").addEventListener("click", ({ target }) => {
  const item = target.closest("li[data-id]");
  if ("show" in target.dataset) {
    const peek = item.querySelector(".peek");
    peek.hidden = !peek.hidden;
    target.setAttribute("aria-expanded", String(!peek.hidden));
  } else if ("remove" in target.dataset) sure(target, item);
});

/** Removal cannot be undone, so it needs a second click. */
function sure(button, item) {
  if (button.dataset.sure) {
    attempt(() => remove(item), item);
    return;
  }
  button.dataset.sure = "yes";
  button.textContent = "Remove permanently?";
  button.classList.replace("quiet", "danger");
  say(`Press again: ${button.getAttribute("aria-label")}`);
  setTimeout(() => {
    delete button.dataset.sure;
    button.textContent = "Remove";
    button.classList.replace("danger", "quiet");
  }, 6000);
}

async function remove(item) {
  const ids = [JSON.parse(item.dataset.id)]; // the exact id: the number 7 is not the text "7"
  await ask(ofIndex(name, "remove"), { method: "POST", json: { ids } });
  const next = item.nextElementSibling ?? item.previousElementSibling;
  item.remove();
  (next?.querySelector("button") ?? named("look-up-id")).focus();
  say("removed");
  await figures();
}

named("look-up").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    swap(await documentOf(name, named("look-up-id").value, "documents", load));
    pager(true);
    named("documents").querySelector("[data-show]").click();
    say("found");
  }, named("documents"));
});

function startDeleting() {
  const dialog = named("sure"),
    typed = named("typed"),
    really = named("really");
  named("deleting").hidden = false;
  named("delete").addEventListener("click", () => {
    typed.value = "";
    really.disabled = true;
    dialog.showModal();
  });
  named("not-now").addEventListener("click", () => dialog.close());
  typed.addEventListener("input", () => {
    really.disabled = typed.value !== name;
  });
  named("sure-form").addEventListener("submit", (event) => {
    if (typed.value !== name) {
      event.preventDefault();
      return;
    }
    attempt(async () => {
      await ask(ofIndex(name), { method: "DELETE" });
      location.href = "/indexes";
    });
  });
}

// The page of one index: its figures, its documents, adding documents, and deleting the index.

import { startAdding } from "./adding.js";
import { ask, attempt, mayWrite, ofIndex, say } from "./api.js";
import { bytes, counted, make, named, show } from "./dom.js";
import { startDocuments } from "./documents.js";
import { sizes } from "./chart.js";

const name = named("index").dataset.name;
let documents = null;

await attempt(async () => {
  const information = await figures();
  documents = startDocuments(information, figures);
  if (mayWrite()) {
    startAdding(information, async () => {
      await figures();
      await documents.first();
    });
    if (information.deletable) startDeleting();
  }
  await documents.first();
});
named("count-buckets").addEventListener("click", () => attempt(buckets, named("buckets")));

/** Request the figures and show them. */
async function figures() {
  const information = await ask(ofIndex(name), { slot: "figures" });
  const { settings } = information;
  show(
    named("figures"),
    [
      ["documents", information.documents.toLocaleString("en")],
      information.removed
        ? ["removed, space not yet reused", information.removed.toLocaleString("en")]
        : null,
      information.bytes === undefined
        ? null
        : [information.home === "file" ? "on disk" : "stored", bytes(information.bytes)],
      ["threshold", String(settings.threshold)],
      ["recall at the threshold", `${+(100 * settings.recall).toFixed(3)} %`],
    ]
      .filter(Boolean)
      .map(([what, value]) =>
        make("div", { class: "tile" }, make("dt", {}, what), make("dd", { class: "figure" }, value)),
      ),
  );
  named("figures").removeAttribute("aria-busy");
  named("sure-count").textContent =
    information.documents === 1 ? "its document" : `all its ${counted(information.documents, "document")}`;
  return information;
}

async function buckets() {
  const { buckets: told } = await ask(ofIndex(name), { query: { buckets: true } });
  if (!told) {
    show(named("buckets"), make("p", {}, "This index does not report its buckets."));
    return;
  }
  const said = told.buckets
    ? `${counted(told.buckets, "bucket")}; the largest holds ${counted(told.largest, "document")}.`
    : "There are no buckets yet.";
  show(
    named("buckets"),
    make("p", {}, said),
    told.buckets ? make("figure", {}, sizes(told.histogram)) : null,
  );
  say(said);
}

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

// The documents of an index: one page at a time, each with an excerpt; opened, with the full content.

import { address, ask, attempt, documentOf, mayWrite, ofIndex, say } from "./api.js";
import { exact, make, named, plain, show } from "./dom.js";
import { excerpt } from "./matches.js";
import { picture, thumbnail } from "./pictures.js";

const LIMIT = 10;

/** Start the list of an index. `changed` is called after a document was removed. Returns { first() }. */
export function startDocuments(information, changed) {
  const { name, settings } = information;
  const place = named("documents");
  const before = []; // start positions of the previous pages
  let here = null;

  async function load(after) {
    const told = await ask(ofIndex(name, "documents"), { query: { limit: LIMIT, after }, slot: "documents" });
    here = after;
    show(
      place,
      told.documents.length
        ? [
            make("ul", { class: "documents", "aria-label": "Documents" }, told.documents.map(shown)),
            pager(told.next),
          ]
        : make("p", { class: "empty" }, "No documents yet. Drop files on this page to add some."),
    );
  }

  const turn = (after) =>
    attempt(async () => {
      await load(after);
      named("documents-heading").scrollIntoView({ block: "nearest" });
    }, place);

  function pager(next) {
    if (next === null && !before.length) return null;
    return make(
      "nav",
      { class: "pager", "aria-label": "Pages of documents" },
      make(
        "button",
        { type: "button", class: "small", disabled: !before.length, onclick: () => turn(before.pop()) },
        "Previous",
      ),
      make("span", {}, `Page ${before.length + 1}`),
      make(
        "button",
        {
          type: "button",
          class: "small",
          disabled: next === null,
          onclick: () => {
            before.push(here);
            turn(next);
          },
        },
        "Next",
      ),
    );
  }

  function shown(document, at = 0) {
    const id = String(document.id),
      called = plain(id);
    const peek = make("div", { class: "peek", hidden: true, id: `peek-${at}` });
    const open = make(
      "button",
      {
        type: "button",
        class: "small",
        "aria-expanded": "false",
        "aria-controls": peek.id,
        "aria-label": `Show ${called}`,
      },
      "Show",
    );
    const item = make(
      "li",
      {},
      make(
        "div",
        { class: "line" },
        small(document),
        make("bdi", { class: "id" }, called),
        open,
        exact(document.id)
          ? make(
              "a",
              {
                class: "button small quiet",
                href: address("/", { index: name, id, number: typeof document.id === "number" ? 1 : null }),
                "aria-label": `Find similar to ${called}`,
              },
              "Find similar",
            )
          : null,
        mayWrite() && exact(document.id)
          ? make(
              "button",
              {
                type: "button",
                class: "small quiet",
                "aria-label": `Remove ${called}`,
                onclick: (event) => sure(event.target),
              },
              "Remove",
            )
          : null,
      ),
      excerpt(document.fields, 180),
      peek,
    );

    open.addEventListener("click", () => {
      peek.hidden = !peek.hidden;
      open.setAttribute("aria-expanded", String(!peek.hidden));
      if (!peek.hidden && !peek.hasChildNodes())
        show(
          peek,
          Object.keys(settings.schema).map((field) => fieldShown(document, field)),
        );
    });

    function sure(button) {
      // removal cannot be undone, so it needs a second click
      if (button.dataset.sure) {
        attempt(remove, item);
        return;
      }
      button.dataset.sure = "yes";
      button.textContent = "Remove permanently?";
      button.classList.replace("quiet", "danger");
      say(`Press again to remove ${called}`);
      setTimeout(() => {
        delete button.dataset.sure;
        button.textContent = "Remove";
        button.classList.replace("danger", "quiet");
      }, 6000);
    }

    async function remove() {
      await ask(ofIndex(name, "remove"), { method: "POST", json: { ids: [document.id] } }); // the exact id: the number 7 is not the text "7"
      const next = item.nextElementSibling ?? item.previousElementSibling;
      item.remove();
      (next?.querySelector("button") ?? named("look-up-id")).focus();
      say(`${called} removed`);
      await changed();
    }
    return item;
  }

  function fieldShown(document, field) {
    const content = document.fields[field] ?? null;
    const many = Object.keys(settings.schema).length > 1;
    return [many ? make("h4", {}, make("bdi", {}, field)) : null, contentShown(content, document.id, field)];
  }

  function contentShown(content, id, field) {
    if (settings.schema[field].type === "image")
      return content === null
        ? make("p", { class: "note" }, "none")
        : picture(address(ofIndex(name, "thumbnail"), { id, field }), plain(id));
    if (content === null) return make("p", { class: "note" }, "none");
    if (Array.isArray(content))
      return make(
        "ul",
        { class: "values" },
        content.map((value) => make("li", {}, make("bdi", {}, String(value)))),
      );
    return make(
      "div",
      { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": `${field} of ${plain(id)}` },
      String(content),
    );
  }

  /** A thumbnail of the first image of a document, if it has one. */
  function small(document) {
    const [field] = Object.keys(settings.schema).filter(
      (one) => settings.schema[one].type === "image" && document.fields[one] !== null,
    );
    return field === undefined
      ? null
      : thumbnail(address(ofIndex(name, "thumbnail"), { id: document.id, field }));
  }

  named("look-up").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      const document = await documentOf(name, named("look-up-id").value, "documents");
      show(
        place,
        make("ul", { class: "documents", "aria-label": "The document" }, shown(document)),
        make(
          "nav",
          { class: "pager" },
          make(
            "button",
            {
              type: "button",
              class: "small",
              onclick: () => {
                before.length = 0;
                turn(null);
              },
            },
            "All documents",
          ),
        ),
      );
      place.querySelector("button").click();
      say(`Found ${plain(document.id)}`);
    }, place);
  });

  return {
    first: () => {
      before.length = 0;
      return load(null);
    },
  };
}

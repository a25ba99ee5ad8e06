// The list of matches: most similar first; opened, each is shown side by side with the query.

import { ask, attempt, ofIndex, say } from "./api.js";
import { bar, counted, exact, likeness, make, plain, show } from "./dom.js";
import { picture, thumbnail } from "./pictures.js";
import { sideBySide } from "./sidebyside.js";

/**
 * The matches of a query as a list.
 * question: { index, side, title, picture(name) }: the query in the format of `POST /v1/compare`, and its name.
 * more(id): called by "Find similar".
 */
export function matchList(matches, question, more) {
  return make(
    "ol",
    { class: "matches" },
    matches.map((match, at) => matchShown(match, at, question, more)),
  );
}

function matchShown(match, at, question, more) {
  const opened = make("div", { class: "opened", id: `opened-${at}`, hidden: true });
  const open = make(
    "button",
    {
      type: "button",
      class: "small",
      "aria-expanded": "false",
      "aria-controls": opened.id,
      "aria-describedby": `match-${at}`,
    },
    "Side by side",
  );
  open.addEventListener("click", () => toggle(open, opened, match, question));
  const fields = Object.entries(match.fields);
  return make(
    "li",
    { class: "match card", "aria-labelledby": `match-${at}` },
    make(
      "div",
      { class: "head" },
      make("h3", { id: `match-${at}` }, make("bdi", { class: "id" }, plain(match.id))),
      bar(match.similarity),
    ),
    make(
      "div",
      { class: "body" },
      thumbnail(Object.values(match.thumbnails ?? {})[0]),
      make(
        "div",
        {},
        excerpt(match.contents ?? {}),
        fields.length > 1
          ? make(
              "dl",
              { class: "fields" },
              fields.map(([name, value]) =>
                make("div", {}, make("dt", {}, name), make("dd", {}, bar(value, `similarity of ${name}`))),
              ),
            )
          : null,
      ),
    ),
    make(
      "div",
      { class: "actions" },
      open,
      exact(match.id)
        ? make(
            "button",
            {
              type: "button",
              class: "small quiet",
              onclick: () => more(match.id),
              "aria-label": `Find similar to ${plain(match.id)}`,
            },
            "Find similar",
          )
        : null,
      make(
        "a",
        {
          class: "button small quiet",
          href: ofIndex(question.index, "documents", String(match.id)),
          "aria-label": `Document ${plain(match.id)} as JSON`,
        },
        "JSON",
      ),
    ),
    opened,
  );
}

/** The beginning of the content of a document. */
export function excerpt(contents, length = 260) {
  const found = Object.values(contents).find(
    (content) => typeof content === "string" || Array.isArray(content),
  );
  if (found === undefined) return null;
  const text = (Array.isArray(found) ? found.slice(0, 40).join(", ") : found.slice(0, 4 * length))
    .replace(/([^\p{L}\p{N}\s])\1{3,}/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return make(
    "p",
    { class: "excerpt", dir: "auto" },
    text.length > length ? `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")}…` : text || "(empty)",
  );
}

async function toggle(button, opened, match, question) {
  const opening = opened.hidden;
  opened.hidden = !opening;
  button.setAttribute("aria-expanded", String(opening));
  if (!opening || opened.hasChildNodes()) return;
  const told = await attempt(
    () =>
      ask("/v1/compare", {
        method: "POST",
        json: { index: question.index, a: question.side, b: { id: match.id }, evidence: true },
      }),
    opened,
  );
  if (told === undefined) {
    opened.hidden = true;
    button.setAttribute("aria-expanded", "false");
    return;
  }
  show(opened, comparedFields(told, match, question));
  say(`Shown side by side: ${likeness(told.similarity)}`);
}

function comparedFields(told, match, question) {
  const titles = { a: question.title, b: plain(match.id) };
  const entries = Object.entries(told.fields);
  return entries.map(([name, field]) =>
    make(
      "section",
      { class: "compared" },
      entries.length > 1
        ? make("h4", {}, make("bdi", {}, name), " ", bar(field.similarity, `similarity of ${name}`))
        : null,
      fieldCompared(name, field, match, question, titles),
    ),
  );
}

function fieldCompared(name, field, match, question, titles) {
  const stored = match.thumbnails?.[name];
  const asked = question.picture(name);
  if (stored || asked) return pictures(asked, stored, titles);
  if (field.evidence) return sideBySide(field.evidence, titles);
  if (match.contents && !(name in match.contents)) return pictures(asked, stored, titles);
  return make(
    "p",
    { class: "note" },
    counted(field.shared?.length ?? 0, "element"),
    " in common. This field type has no passages.",
  );
}

function pictures(asked, stored, titles) {
  const one = (address, title) =>
    make(
      "figure",
      { class: "picture side" },
      make("figcaption", { class: "name" }, make("bdi", {}, title)),
      picture(address, title),
    );
  return make("div", { class: "pair pictures evidence" }, one(asked, titles.a), one(stored, titles.b));
}

// One open cluster: the kept document, the removed ones, their similarities, and any of them next to the kept one.

import { ask, attempt, say } from "./api.js";
import { bar, counted, likeness, make, plain, show } from "./dom.js";
import { evidenceShown } from "./evidence.js";

const RULES = /([^\p{L}\p{N}\s])\1{3,}/gu; // underlines, and the like
const SNIPPET = 200,
  FETCHED = 1000,
  FIRST = 5,
  MORE = 50;

/**
 * Show an open cluster: the kept document first, then the others, least similar first.
 * job: { path(…), query(), pictures(a, b) }. decisions: see `decisions.js`. decided: called when a member is kept or removed.
 */
export async function openCluster(host, row, { job, decided }) {
  const asked = (offset) =>
    ask(job.path("clusters", row.cluster), {
      query: { ...job.query(), offset, limit: FETCHED, length: SNIPPET + 1 },
    });
  const told = await attempt(() => asked(0), host);
  if (told === undefined) return;
  const [kept, ...rest] = told.members;
  const others = rest.sort((a, b) => a.similarity - b.similarity);
  const evidence = make("div", { class: "beside", "aria-live": "polite" });
  const context = { job, decided, row, kept, evidence };
  const list = make("ul", { class: "members", "aria-label": "Members" }, memberShown(kept, context));
  show(
    host,
    make("p", { class: "inside" }, insideSaid(told)),
    bridgesShown(told.bridges),
    list,
    moreMembers(list, others, told.total, asked, context),
    evidence,
  );
  if (others.length) await compare(others[0], context, false);
}

/** The similarity within the cluster as a sentence. */
function insideSaid({ distinct, size, least, least_left_id, least_right_id, compared }) {
  if (distinct === 1) return "All documents are identical after normalization.";
  const which =
    compared === "all"
      ? "all pairs compared"
      : "the kept document compared with all, and the least similar ones with each other";
  return [
    "The least similar pair is ",
    make("bdi", {}, plain(least_left_id)),
    " and ",
    make("bdi", {}, plain(least_right_id)),
    `: ${likeness(least)} (${which}). ${distinct < size ? `${counted(distinct, "different content")}.` : ""}`,
  ];
}

function bridgesShown(bridges) {
  if (!bridges.length) return null;
  const [first] = bridges;
  return make(
    "p",
    { class: "note" },
    "Linked to ",
    counted(bridges.length, "other cluster"),
    ", but not merged: ",
    make("bdi", {}, plain(first.left_id)),
    ` and `,
    make("bdi", {}, plain(first.right_id)),
    ` have a similarity of ${likeness(first.similarity)}, the two kept documents ${likeness(first.representatives)}.`,
  );
}

function memberShown(member, context) {
  const { id, kept, similarity, contents } = member;
  const name = plain(id);
  const text = Object.values(contents).find((one) => one) ?? "";
  const cut = [...text].length > SNIPPET ? `${[...text].slice(0, SNIPPET).join("")}…` : text;
  return make(
    "li",
    { class: kept ? "member stays" : "member", "data-id": JSON.stringify(id) },
    make(
      "div",
      { class: "name" },
      make("bdi", {}, name),
      " ",
      kept ? make("span", { class: "tag done" }, "kept") : null,
    ),
    kept ? null : bar(similarity, "similarity to the kept document"),
    text
      ? make("p", { class: "snippet", dir: "auto" }, cut.replace(/\s+/g, " ").replace(RULES, "$1$1$1"))
      : null,
    kept
      ? null
      : make(
          "div",
          { class: "acts" },
          make(
            "button",
            {
              type: "button",
              class: "small",
              onclick: () => compare(member, context),
              "aria-label": `Show ${name} next to the kept document`,
            },
            "Side by side",
          ),
          make(
            "label",
            {},
            make("input", {
              type: "checkbox",
              "data-member": true,
              onchange: (event) => context.decided(context.row, id, event.target.checked),
            }),
            "keep",
          ),
        ),
  );
}

/** Put the first members into the list, and return a button for the others. */
function moreMembers(list, others, total, asked, context) {
  let shown = 0;
  const add = (count) => {
    list.append(...others.slice(shown, shown + count).map((member) => memberShown(member, context)));
    shown = Math.min(shown + count, others.length);
    button.hidden = shown + 1 >= total;
    button.textContent = `Show more (${shown + 1} of ${counted(total, "member")} shown)`;
    context.decided(null);
  };
  const button = make("button", {
    type: "button",
    class: "small",
    onclick: async () => {
      if (shown === others.length) {
        const told = await attempt(() => asked(others.length + 1), button);
        if (told === undefined) return;
        others.push(...told.members);
      }
      add(MORE);
    },
  });
  add(FIRST);
  return button;
}

/** Show a member and the kept document side by side. */
async function compare({ id }, { job, row, kept, evidence }, loud = true) {
  const query = { ...job.query(), left: kept.id, right: id };
  const asked = () =>
    Promise.all([
      ask(job.path("evidence"), { query, slot: `evidence of ${row.cluster}` }),
      job.pictures(kept.id, id),
    ]);
  const [told, pictures] = (await attempt(asked, evidence)) ?? [];
  if (told === undefined) return;
  const titles = { a: plain(kept.id), b: plain(id) };
  show(
    evidence,
    make(
      "h4",
      { tabindex: "-1" },
      make("bdi", {}, titles.b),
      `: similarity ${likeness(told.similarity)} to the kept document`,
    ),
    evidenceShown(told.fields, titles, { most: 3, pictures }),
  );
  if (!loud) return;
  evidence.firstElementChild.focus({ preventScroll: true });
  evidence.scrollIntoView({ block: "nearest" });
  say(`${titles.b} next to ${titles.a}`);
}

/** Show which members are kept by a decision. */
export function markMembers(host, decision) {
  for (const line of host.querySelectorAll(".member:not(.stays)")) {
    const stays =
      decision?.decision === "split" &&
      (decision.members === null || decision.members.some((id) => JSON.stringify(id) === line.dataset.id));
    line.classList.toggle("let", stays);
    line.querySelector("input[data-member]").checked = stays;
  }
}

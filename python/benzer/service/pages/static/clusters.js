// The clusters of a job: each opens in place; keys move through the list and decide. The browser stores decisions until
// the tab is closed; they can be downloaded.

import { announce, attempt, load, show } from "./api.js";

/** Decisions under a key of a storage. Cluster numbers depend on the threshold, so each threshold has its own key. */
export class Decisions {
  constructor(storage, key) {
    Object.assign(this, { storage, key, made: new Map(JSON.parse(storage.getItem(key) ?? "[]")) });
  }

  of(cluster) {
    return this.made.get(cluster) ?? null;
  }

  /** Decide about a cluster, or undo the decision (null). members: those that a split keeps; null for all of them. */
  decide({ cluster, kept_id }, decision, members = null) {
    if (decision === null) this.made.delete(cluster);
    else this.made.set(cluster, { cluster, kept_id, decision, members });
    this.save();
  }

  /** Keep or remove one member. Without any kept member, the decision is undone. */
  member(row, id, stays) {
    const before = this.of(row.cluster);
    const kept = before?.decision === "split" ? (before.members ?? []) : [];
    const members = [...kept.filter((one) => one !== id), ...(stays ? [id] : [])];
    this.decide(row, members.length ? "split" : null, members);
  }

  takeAllBack() {
    this.made.clear();
    this.save();
  }

  save() {
    this.storage.setItem(this.key, JSON.stringify([...this.made]));
  }

  /** All decisions, sorted by cluster number. */
  get all() {
    return [...this.made.values()].sort((a, b) => a.cluster - b.cluster);
  }

  /** The decisions in the format of the service. */
  get sent() {
    return this.all.map(({ cluster, decision, members }) => ({
      cluster,
      decision,
      ...(members === null ? {} : { members }),
    }));
  }
}

/** Decisions as CSV: one line per decision, or per kept member. */
export function asCsv(all) {
  const rows = all.flatMap(({ cluster, kept_id, decision, members }) =>
    (members ?? [""]).map((member) => [cluster, kept_id, decision, member]),
  );
  const lines = [["cluster", "kept_id", "decision", "member"], ...rows];
  return lines.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** A CSV value: quoted if necessary, and prefixed with an apostrophe if a spreadsheet would read it as a formula. */
function cell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const LIMIT = 300; // members per request

/**
 * The list of clusters in a permanent element, whose content the service renders.
 * context: { path(…), query(), decisions(), changed(text), opened(cluster), begin(), end() }.
 * Returns { mark(), open(cluster), focus(last) }.
 */
export function clusterList(host, context) {
  const items = () => [...host.querySelectorAll(".cluster")];
  const part = (item, kind) => item.querySelector(kind);
  const rowOf = (item) => ({
    cluster: Number(item.dataset.cluster),
    kept_id: JSON.parse(item.dataset.kept),
  });
  const isOpen = (item) => part(item, ".head").getAttribute("aria-expanded") === "true";
  const ask = (item, query) =>
    load(context.path("clusters", item.dataset.cluster), {
      query: { ...context.query(), limit: LIMIT, length: 1000, ...query },
    });

  async function toggle(item, open = !isOpen(item)) {
    part(item, ".head").setAttribute("aria-expanded", String(open));
    part(item, ".panel").hidden = !open;
    context.opened(open ? item.dataset.cluster : null);
    const inside = part(item, ".inside-of");
    if (!open || inside.hasChildNodes()) return;
    const members = await attempt(() => ask(item, {}), inside);
    if (members === undefined) return;
    show(inside, members);
    mark();
    const first = part(inside, "[data-compare]");
    if (first) await compare(first, false);
  }

  /** Show a member and the kept document side by side. */
  async function compare(button, loud = true) {
    const item = button.closest(".cluster"),
      comparison = part(item, ".comparison");
    const query = { left: rowOf(item).kept_id, right: JSON.parse(button.closest(".member").dataset.id) };
    const slot = `evidence of ${item.dataset.cluster}`;
    const pair = await attempt(
      () => load(context.path("evidence"), { query: { ...context.query(), ...query }, slot }),
      comparison,
    );
    if (pair === undefined) return;
    if (loud) announce(pair);
    show(comparison, pair);
    if (!loud) return;
    comparison.firstElementChild.focus({ preventScroll: true });
    comparison.scrollIntoView({ block: "nearest" });
  }

  /** Show the other members; those that were not sent are requested. */
  async function more(button) {
    const item = button.closest(".cluster"),
      list = part(item, ".members");
    for (const one of list.querySelectorAll("[hidden]")) one.hidden = false;
    const { more: offset } = button.dataset;
    button.remove();
    if (!offset) return;
    const rest = await attempt(() => ask(item, { offset }), list);
    if (rest === undefined) return;
    list.append(...rest.querySelectorAll(".member"));
    const next = rest.querySelector("[data-more]");
    if (next) list.after(next);
    mark();
  }

  /** Show the decisions. */
  function mark() {
    for (const item of items()) {
      const made = context.decisions().of(Number(item.dataset.cluster));
      item.dataset.decision = made?.decision ?? "";
      const tag = document.createElement("span");
      tag.className = `tag ${made?.decision}`;
      tag.textContent = said(made);
      show(part(item, ".said"), made && tag);
      for (const button of item.querySelectorAll("[data-decision-of]"))
        button.setAttribute("aria-pressed", String(made?.decision === button.dataset.decisionOf && !made.members));
      for (const line of item.querySelectorAll(".member:not(.stays)")) {
        const ids = made?.members?.map((id) => JSON.stringify(id));
        const stays = made?.decision === "split" && (!ids || ids.includes(line.dataset.id));
        line.classList.toggle("let", stays);
        part(line, "input").checked = stays;
      }
    }
  }

  function decide(item, decision) {
    context.decisions().decide(rowOf(item), decision);
    mark();
    context.changed(decision ? `cluster ${decision === "keep" ? "kept" : "split"}` : "decision undone");
  }

  function move(from, step) {
    const all = items();
    const to = all[all.indexOf(from) + step];
    to?.querySelector(".head").focus();
    to?.scrollIntoView({ block: "nearest" });
    return to;
  }

  function decideAndGo(item, decision) {
    decide(item, decision);
    const next = move(item, 1);
    if (!next) return context.end();
    if (isOpen(item)) {
      toggle(item, false);
      toggle(next, true);
    }
  }

  host.addEventListener("click", ({ target }) => {
    const item = target.closest(".cluster"),
      button = target.closest("button");
    if (!item || !button) return;
    if (button.matches(".head")) toggle(item);
    else if (button.dataset.decisionOf)
      decide(item, button.getAttribute("aria-pressed") === "true" ? null : button.dataset.decisionOf);
    else if ("compare" in button.dataset) compare(button);
    else if ("more" in button.dataset) more(button);
  });
  host.addEventListener("change", ({ target }) => {
    if (!target.matches("[data-member]")) return;
    const id = JSON.parse(target.closest(".member").dataset.id);
    context.decisions().member(rowOf(target.closest(".cluster")), id, target.checked);
    mark();
    context.changed(target.checked ? "kept" : "removed");
  });
  host.addEventListener("keydown", (event) => {
    const item = event.target.closest(".cluster");
    if (!item || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
    const onHead = event.target.matches(".head");
    const work = {
      j: () => move(item, 1) ?? context.end(),
      k: () => move(item, -1) ?? context.begin(),
      ...(onHead ? { ArrowDown: () => move(item, 1), ArrowUp: () => move(item, -1) } : {}),
      K: () => decideAndGo(item, "keep"),
      s: () => decideAndGo(item, "split"),
      S: () => decideAndGo(item, "split"),
      u: () => decide(item, null),
    }[event.key];
    if (!work) return;
    event.preventDefault();
    work();
  });

  return {
    mark,
    open(cluster) {
      const item = host.querySelector(`.cluster[data-cluster="${cluster}"]`);
      if (!item) return false;
      toggle(item, true);
      part(item, ".head").focus();
      return true;
    },
    focus: (last = false) => items().at(last ? -1 : 0)?.querySelector(".head").focus(),
  };
}

function said(made) {
  if (made?.decision === "keep") return "cluster kept";
  return made?.members ? `${made.members.length} kept` : "split: all kept";
}

// The list of clusters: each opens in place; keys move through the list and decide.

import { markMembers, openCluster } from "./cluster.js";
import { counted, likeness, make, plain, show } from "./dom.js";

/**
 * A list of clusters. context: { job, decisions(), decide(row, decision), member(row, id, stays), opened(row) }.
 * Returns { draw(rows), mark(), open(cluster), focus(last) }.
 */
export function clusterList(host, context) {
  const items = () => [...host.querySelectorAll(".cluster")];
  const rows = new Map();

  const toggle = async (item, open = item.head.getAttribute("aria-expanded") !== "true") => {
    item.head.setAttribute("aria-expanded", String(open));
    item.panel.hidden = !open;
    context.opened(open ? item.row : null);
    if (!open || item.loaded) return;
    item.loaded = true;
    await openCluster(item.inside, item.row, { job: context.job, decided: context.member });
    mark();
  };

  const mark = () => {
    for (const item of rows.values()) {
      const decision = context.decisions().of(item.row.cluster);
      item.element.dataset.decision = decision?.decision ?? "";
      show(item.said, decision ? make("span", { class: `tag ${decision.decision}` }, said(decision)) : null);
      for (const button of item.element.querySelectorAll("[data-decision-of]")) {
        button.setAttribute(
          "aria-pressed",
          String(decision?.decision === button.dataset.decisionOf && !decision.members),
        );
      }
      markMembers(item.inside, decision);
    }
  };

  const draw = (told) => {
    rows.clear();
    show(
      host,
      told.map((row) => {
        const item = itemShown(row, context);
        item.head.addEventListener("click", () => toggle(item));
        rows.set(row.cluster, item);
        return item.element;
      }),
    );
    mark();
  };

  const move = (from, step) => {
    const all = items();
    const to = all[all.indexOf(from) + step];
    to?.querySelector(".head").focus();
    to?.scrollIntoView({ block: "nearest" });
    return to;
  };

  const decideAndGo = (item, decision) => {
    context.decide(item.row, decision);
    const open = item.head.getAttribute("aria-expanded") === "true";
    const next = move(item.element, 1);
    if (!next) return context.end();
    if (open) {
      toggle(item, false);
      toggle(rows.get(Number(next.dataset.cluster)), true);
    }
  };

  host.addEventListener("keydown", (event) => {
    const element = event.target.closest(".cluster");
    if (
      !element ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.target.closest("input, textarea, select")
    )
      return;
    const item = rows.get(Number(element.dataset.cluster));
    const onHead = event.target === item.head;
    const work = {
      j: () => move(element, 1) ?? context.end(),
      k: () => move(element, -1) ?? context.begin(),
      ...(onHead ? { ArrowDown: () => move(element, 1), ArrowUp: () => move(element, -1) } : {}),
      K: () => decideAndGo(item, "keep"),
      s: () => decideAndGo(item, "split"),
      S: () => decideAndGo(item, "split"),
      u: () => context.decide(item.row, null),
    }[event.key];
    if (!work) return;
    event.preventDefault();
    work();
  });

  return {
    draw,
    mark,
    open: (cluster) => {
      const item = rows.get(cluster);
      if (item) {
        toggle(item, true);
        item.head.focus();
      }
    },
    focus: (last = false) =>
      items()
        .at(last ? -1 : 0)
        ?.querySelector(".head")
        .focus(),
  };
}

function said({ decision, members }) {
  if (decision === "keep") return "cluster kept";
  return members ? `${counted(members.length, "member")} kept` : "split: all kept";
}

/** A cluster as a list item: a header that opens it, and a panel. */
function itemShown(row, context) {
  const name = `cluster-${row.cluster}`;
  const said = make("span", { class: "said" });
  const inside = make("div", { class: "inside-of" });
  const choice = (decision, word, key) =>
    make(
      "button",
      {
        type: "button",
        class: "small",
        "data-decision-of": decision,
        "aria-keyshortcuts": key,
        "aria-pressed": "false",
        onclick: (event) =>
          context.decide(row, event.currentTarget.getAttribute("aria-pressed") === "true" ? null : decision),
      },
      word,
    );
  const head = make(
    "button",
    { type: "button", class: "head", "aria-expanded": "false", "aria-controls": name },
    make("bdi", { class: "who" }, plain(row.kept_id)),
    make("span", { class: "size" }, counted(row.size, "document")),
    make("span", { class: "least" }, row.distinct === 1 ? "identical" : `lowest similarity ${likeness(row.least)}`),
    said,
  );
  const panel = make(
    "div",
    { id: name, class: "panel", hidden: true },
    make(
      "div",
      { class: "choices", role: "group", "aria-label": "Decision" },
      choice("keep", "Keep cluster", "Shift+K"),
      choice("split", "Split: keep all", "s"),
    ),
    inside,
  );
  const element = make(
    "li",
    { class: "cluster card", "data-cluster": row.cluster },
    make("h3", {}, head),
    panel,
  );
  return { row, element, head, panel, inside, said, loaded: false };
}

// The page of one job: its progress while it runs; then its clusters, which can be decided on.

import { ask, attempt, isStale, ofIndex, report, say } from "./api.js";
import { clusterList } from "./clusters.js";
import { asCsv, Decisions, withMember } from "./decisions.js";
import { dial, settled } from "./dials.js";
import { named } from "./dom.js";
import { isOver } from "./jobs.js";
import { setting } from "./numbers.js";
import { follow } from "./polling.js";
import { save } from "./saving.js";
import {
  showAlarms,
  showCounts,
  showDecided,
  showEnd,
  showHead,
  showPlace,
  showRecall,
  showStages,
  showTables,
} from "./jobwords.js";

const PAGE = 25;
const id = named("job").dataset.job;
const path = (...parts) => ["/v1/duplicates", ...[id, ...parts].map(encodeURIComponent)].join("/");
const threshold = dial("threshold", settled(viewed, 250));
const order = () => document.querySelector("input[name=order]:checked").value;

let job = null;
let offset = 0,
  total = 0;
let decisions = null;

/** The threshold of the view; null if it is the job's own threshold. */
const at = () => (threshold.value > job.settings.threshold ? threshold.value : null);
const query = () => ({ threshold: at() });

/** The thumbnails of two documents if the job reads an index with images; the documents may have been removed. */
async function pictures(...ids) {
  const { source, settings } = job;
  const none = ids.map(() => ({}));
  if (source.index === undefined || !Object.values(settings.schema).some(({ type }) => type === "image"))
    return none;
  const of = (one) => ask(ofIndex(source.index, "documents", one)).then(({ thumbnails }) => thumbnails ?? {});
  return Promise.all(ids.map(of)).catch(() => none);
}

const list = clusterList(named("clusters"), {
  job: { path, query, pictures },
  decisions: () => decisions,
  decide(row, decision) {
    if (decision) decisions.decide(row, decision);
    else decisions.takeBack(row.cluster);
    decided(decision ? (decision === "keep" ? "cluster kept" : "cluster split") : "decision undone");
  },
  member(row, member, stays) {
    if (row) withMember(decisions, row, member, stays);
    decided(row ? (stays ? "kept" : "removed") : null);
  },
  opened(row) {
    remember(row?.cluster ?? null);
  },
  begin: () => turn(-PAGE, true),
  end: () => turn(PAGE),
});

function decided(word) {
  list.mark();
  showDecided(decisions.counts, total);
  if (word) say(word);
}

/** Store the state of the view in the address of the page. */
function remember(cluster) {
  const asked = new URLSearchParams();
  if (order() !== "largest") asked.set("order", order());
  if (at() !== null) asked.set("threshold", String(at()));
  const search = asked.toString();
  history.replaceState(
    null,
    "",
    `${location.pathname}${search ? `?${search}` : ""}${cluster === null ? "" : `#cluster=${cluster}`}`,
  );
}

/** Another threshold: reload everything. */
async function viewed() {
  offset = 0;
  decisions = new Decisions(sessionStorage, `benzer:${id}:${at() ?? job.settings.threshold}`);
  remember(null);
  const asked = attempt(() => ask(path("summary"), { query: query(), slot: "summary" }), named("counts"));
  const [summary] = await Promise.all([asked, page()]);
  if (summary === undefined) return;
  showCounts(summary.counts, threshold.value);
  showRecall(named("recall"), {
    recall: at() === null ? job.recall : null,
    probability: summary.probability_at_threshold,
    threshold: threshold.value,
  });
  showAlarms(named("alarms"), summary.alarms);
  showTables(named("tables"), path, query(), summary.counts);
  named("report").href = path("report") + (at() === null ? "" : `?threshold=${at()}`);
  say(`${summary.counts.removed} of ${summary.counts.documents} documents are removed at ${setting(threshold.value)}`);
}

/** One page of the list of clusters. */
async function page() {
  const asked = { ...query(), order: order(), offset, limit: PAGE };
  const told = await attempt(
    () => ask(path("clusters"), { query: asked, slot: "clusters" }),
    named("clusters"),
  );
  if (told === undefined) return false;
  total = told.total;
  list.draw(told.rows);
  showPlace({ offset, shown: told.rows.length, total, page: PAGE });
  decided(null);
  return true;
}

/** Show the next or the previous page and move the keyboard focus to it. */
async function turn(step, last = false) {
  if (offset + step < 0 || offset + step >= total) return;
  offset += step;
  if (await page()) list.focus(last);
}

/** Open the cluster in the address, on whichever page it is. */
async function openNamed() {
  const cluster = Number(/^#cluster=(\d+)$/.exec(location.hash)?.[1] ?? NaN);
  if (Number.isNaN(cluster)) return;
  if (!document.querySelector(`.cluster[data-cluster="${cluster}"]`)) {
    const told = await attempt(() => ask(path("clusters", cluster), { query: { ...query(), limit: 1 } }));
    if (told === undefined) return;
    list.draw([told]);
    showPlace({ alone: true, total });
  }
  list.open(cluster);
}

async function done() {
  const asked = new URLSearchParams(location.search);
  const least = job.settings.threshold;
  for (const name of ["threshold", "threshold-number"]) named(name).min = String(least);
  threshold.set(Math.max(Number(asked.get("threshold")) || least, least));
  document.querySelector(
    `input[name=order][value=${["doubtful", "source"].find((one) => one === asked.get("order")) ?? "largest"}]`,
  ).checked = true;
  named("result").hidden = false;
  const hash = location.hash;
  await viewed();
  history.replaceState(null, "", location.pathname + location.search + hash);
  await openNamed();
}

follow(async () => {
  try {
    job = await ask(path(), { slot: "job" });
  } catch (error) {
    if (!isStale(error)) report(error);
    named("job").removeAttribute("aria-busy");
    return false;
  }
  named("job").removeAttribute("aria-busy");
  showHead(job);
  named("running").hidden = isOver(job);
  if (!isOver(job)) {
    showStages(job);
    return true;
  }
  showEnd(named("ended"), job);
  if (job.state === "done") await done();
  return false;
});

/** Save the kept or removed documents after the decisions, as computed by the service. */
async function saveTable(table) {
  const asked = new URLSearchParams({ table, format: "csv", ...(at() === null ? {} : { threshold: at() }) });
  const rows = await attempt(async () => {
    const answer = await fetch(`${path("decisions")}?${asked}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ decisions: decisions.sent }),
    });
    if (!answer.ok) throw new Error((await answer.json()).error.message);
    return answer.blob();
  });
  if (rows) save(rows, `${id}-${table}-decided.csv`);
}

for (const button of document.querySelectorAll("[data-table]"))
  button.addEventListener("click", () => saveTable(button.dataset.table));
named("as-json").addEventListener("click", () =>
  save(
    JSON.stringify({ job: id, threshold: threshold.value, decisions: decisions.all }, null, 2),
    `${id}-decisions.json`,
    "application/json",
  ),
);
named("as-csv").addEventListener("click", () =>
  save(asCsv(decisions.all), `${id}-decisions.csv`, "text/csv"),
);
named("forget-decisions").addEventListener("click", () => {
  decisions.takeAllBack();
  decided("all decisions undone");
});
named("cancel").addEventListener("click", () =>
  attempt(() => ask(path("cancel"), { method: "POST" }), named("running")),
);
named("all").addEventListener("click", () => {
  remember(null);
  page();
});
named("previous").addEventListener("click", () => turn(-PAGE));
named("next").addEventListener("click", () => turn(PAGE));
named("view").addEventListener("submit", (event) => event.preventDefault());
for (const one of document.getElementsByName("order"))
  one.addEventListener("change", () => {
    offset = 0;
    remember(null);
    page();
  });
addEventListener("hashchange", openNamed);
document.addEventListener("keydown", (event) => {
  if (
    event.target === document.body &&
    ["j", "k"].includes(event.key) &&
    !event.ctrlKey &&
    !event.metaKey &&
    !event.altKey
  )
    list.focus();
});

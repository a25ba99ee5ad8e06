// The page of one job: its progress while it runs; then its clusters, which can be decided on.

import { address, ask, attempt, failureOf, isStale, load, named, report, say, swap } from "./api.js";
import { asCsv, clusterList, Decisions } from "./clusters.js";
import { dial, follow, save, settled } from "./controls.js";
import "./evidence.js";

const PAGE = 25;
const id = named("job").dataset.job;
const path = (...parts) => ["/v1/duplicates", ...[id, ...parts].map(encodeURIComponent)].join("/");
const threshold = dial("threshold", settled(viewed, 250));
const order = () => document.querySelector("input[name=order]:checked").value;

let own = 0; // the threshold of the job
let offset = 0;
let decisions = null;

/** The threshold of the view; null if it is the job's own threshold. */
const at = () => (threshold.value > own ? threshold.value : null);
const query = () => ({ threshold: at() });
const total = () => Number(named("clusters").dataset.total ?? 0);

const list = clusterList(named("listed"), {
  path,
  query,
  decisions: () => decisions,
  changed: decided,
  opened: remember,
  begin: () => turn(-PAGE, true),
  end: () => turn(PAGE),
});

/** Show the number of decisions. */
function decided(word) {
  const all = decisions.all.length,
    split = decisions.all.filter((one) => one.decision === "split").length;
  named("decided").hidden = all === 0;
  named("decided-said").textContent =
    `${all} of ${total()} decided: ${all - split} kept, ${split} split. All other clusters are kept.`;
  if (word) say(word);
}

/** Store the state of the view in the address of the page. */
function remember(cluster) {
  const view = address(location.pathname, { order: order() === "largest" ? null : order(), threshold: at() });
  history.replaceState(null, "", `${view}${cluster === null ? "" : `#cluster=${cluster}`}`);
}

/** Another threshold: reload everything. */
async function viewed() {
  offset = 0;
  decisions = new Decisions(sessionStorage, `benzer:${id}:${at() ?? own}`);
  remember(null);
  const asked = attempt(() => load(path("summary"), { query: query(), slot: "summary" }), named("counts"));
  const [summary] = await Promise.all([asked, page()]);
  if (summary !== undefined) swap(summary);
}

/** One page of the list of clusters. */
async function page(asked = { order: order(), offset, limit: PAGE }) {
  const rows = await attempt(
    () => load(path("clusters"), { query: { ...query(), ...asked }, slot: "clusters" }),
    named("clusters"),
  );
  if (rows === undefined) return false;
  swap(rows);
  const alone = "alone" in named("clusters").dataset;
  named("all").hidden = !alone;
  named("previous").disabled = alone || offset <= 0;
  named("next").disabled = alone || offset + PAGE >= total();
  list.mark();
  decided(null);
  return true;
}

/** Show the next or the previous page and move the keyboard focus to it. */
async function turn(step, last = false) {
  if (offset + step < 0 || offset + step >= total()) return;
  offset += step;
  if (await page()) list.focus(last);
}

/** Open the cluster in the address, on whichever page it is. Clusters are numbered in input order. */
async function openNamed() {
  const cluster = /^#cluster=(\d+)$/.exec(location.hash)?.[1];
  if (cluster === undefined || list.open(cluster)) return;
  if (await page({ order: "source", offset: cluster, limit: 1 })) list.open(cluster);
}

async function done() {
  const asked = new URLSearchParams(location.search);
  for (const name of ["threshold", "threshold-number"]) named(name).min = String(own);
  threshold.set(Math.max(Number(asked.get("threshold")) || own, own));
  const chosen = ["doubtful", "source"].find((one) => one === asked.get("order")) ?? "largest";
  document.querySelector(`input[name=order][value=${chosen}]`).checked = true;
  named("result").hidden = false;
  const hash = location.hash;
  await viewed();
  history.replaceState(null, "", location.pathname + location.search + hash);
  await openNamed();
}

follow(async () => {
  try {
    swap(await load(path(), { slot: "job" }));
  } catch (error) {
    if (!isStale(error)) report(error);
    named("job").removeAttribute("aria-busy");
    return false;
  }
  const { state, threshold: cut } = named("about").dataset;
  own = Number(cut);
  document.title = `${named("heading").textContent} · Benzer`;
  named("job").removeAttribute("aria-busy");
  const over = !["waiting", "running"].includes(state);
  named("running").hidden = over;
  if (state === "done") await done();
  return !over;
});

/** Save the kept or removed documents after the decisions, as computed by the service. */
async function saveTable(table) {
  const rows = await attempt(async () => {
    const answer = await fetch(address(path("decisions"), { table, format: "csv", ...query() }), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ decisions: decisions.sent }),
    });
    if (!answer.ok) throw await failureOf(answer);
    return answer.blob();
  });
  if (rows) save(rows, `${id}-${table}-decided.csv`);
}

const on = (name, work) => named(name).addEventListener("click", work);
for (const button of document.querySelectorAll("[data-table]"))
  button.addEventListener("click", () => saveTable(button.dataset.table));
on("as-json", () => {
  const made = { job: id, threshold: threshold.value, decisions: decisions.all };
  save(JSON.stringify(made, null, 2), `${id}-decisions.json`, "application/json");
});
on("as-csv", () => save(asCsv(decisions.all), `${id}-decisions.csv`, "text/csv"));
on("forget-decisions", () => {
  decisions.takeAllBack();
  list.mark();
  decided("all decisions undone");
});
on("cancel", () => attempt(() => ask(path("cancel"), { method: "POST" }), named("running")));
on("all", () => {
  remember(null);
  page();
});
on("previous", () => turn(-PAGE));
on("next", () => turn(PAGE));
named("view").addEventListener("submit", (event) => event.preventDefault());
for (const one of document.getElementsByName("order"))
  one.addEventListener("change", () => {
    offset = 0;
    remember(null);
    page();
  });
addEventListener("hashchange", openNamed);
document.addEventListener("keydown", (event) => {
  const bare = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.target === document.body && ["j", "k"].includes(event.key) && bare) list.focus();
});

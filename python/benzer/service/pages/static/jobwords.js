// Texts of the page of a job: its header, progress, counts, measured recall and decisions.

import { address } from "./api.js";
import { counted, make, named, plain, show } from "./dom.js";
import { isOver, progressBar, settingsOf, sourceOf, STAGES, tag, timeOf } from "./jobs.js";
import { ratio, setting, share } from "./numbers.js";

/** The header of the page. */
export function showHead(job) {
  show(named("heading"), "Duplicates of ", make("bdi", {}, sourceOf(job)));
  document.title = `Duplicates of ${sourceOf(job)} · Benzer`;
  show(
    named("about"),
    tag(job),
    " ",
    settingsOf(job),
    isOver(job) && job.started ? ` · ${timeOf(job)}` : null,
  );
}

/** The progress of a running job. */
export function showStages(job) {
  const now = job.progress?.stage ?? null;
  const names = Object.keys(STAGES).filter((name) => name !== "against" || job.settings.against?.length);
  const at = names.indexOf(now);
  named("running-title").textContent = job.state === "waiting" ? "Queued" : "Running";
  const state = (place) => (place < at ? "past" : place === at ? "now" : "ahead");
  show(
    named("stages"),
    names.map((name, place) =>
      make(
        "li",
        { class: state(place), "aria-current": place === at ? "step" : null },
        make("span", {}, STAGES[name]),
        place === at ? progressBar(job) : null,
      ),
    ),
  );
  named("elapsed").textContent = job.started ? timeOf(job) : "";
}

/** The end of a job without a result. */
export function showEnd(host, job) {
  host.hidden = job.state === "done";
  host.classList.toggle("failure", job.state === "failed");
  if (job.state === "failed")
    show(host, make("p", {}, make("strong", {}, `${job.error.type}: `), job.error.message));
  if (job.state === "cancelled")
    show(host, make("p", {}, "This job was cancelled. It has no result."));
}

/** The counts as tiles. */
export function showCounts(counts, threshold) {
  const tile = (figure, name, remark, look = "") =>
    make(
      "div",
      { class: `tile ${look}` },
      make("dt", {}, name),
      make("dd", { class: "figure" }, figure.toLocaleString("en")),
      remark ? make("dd", { class: "remark" }, remark) : null,
    );
  const of = (part) => share(part, counts.documents);
  show(
    named("counts"),
    tile(counts.documents, counts.documents === 1 ? "document" : "documents"),
    tile(counts.kept, "kept", of(counts.kept)),
    tile(counts.removed, "removed", of(counts.removed), "goes"),
    tile(counts.identical, "identical", "the same as a kept document after normalization"),
    tile(counts.near, "near", `similarity to a kept document at least ${setting(threshold)}`),
    counts.known ? tile(counts.known, "known", "match a document of an older index") : null,
    counts.malformed
      ? tile(counts.malformed, "malformed", "lines that could not be read", "bad")
      : null,
    counts.empty ? tile(counts.empty, "empty", "nothing to compare; always kept") : null,
  );
}

/** The recall, as measured or as guaranteed. */
export function showRecall(host, { recall, probability, threshold }) {
  const strong = (text) => make("strong", { class: "number" }, text);
  if (recall && recall.recall !== null) {
    show(
      host,
      "Recall: ",
      strong(ratio(recall.recall)),
      recall.exhaustive
        ? `, measured exactly: all near-duplicates of all ${counted(recall.drawn, "different content")} were searched.`
        : `, measured; between ${ratio(recall.low)} and ${recall.high.toFixed(3)} with ${Math.round(100 * recall.confidence)} % confidence.`,
      ` The guaranteed recall was ${ratio(probability)} at ${setting(threshold)}.`,
    );
  } else if (recall) show(host, "The sampled documents have no near-duplicates, so recall cannot be measured.");
  else
    show(
      host,
      "A pair at ",
      strong(setting(threshold)),
      " is found with probability ",
      strong(ratio(probability)),
      "; more similar pairs with a higher probability.",
    );
}

const ALARMS = 4;

/** Warnings that should be checked first. */
export function showAlarms(host, alarms) {
  show(
    host,
    alarms.slice(0, ALARMS).map((alarm) =>
      make(
        "li",
        { class: "notice warn" },
        make("strong", {}, alarm.kind),
        " ",
        `${alarm.message}.`,
        alarm.examples?.length
          ? make(
              "span",
              { class: "note" },
              " For example: ",
              alarm.examples.slice(0, 2).map((id, at) => [at ? " and " : "", make("bdi", {}, plain(id))]),
              ".",
            )
          : null,
      ),
    ),
    alarms.length > ALARMS
      ? make("li", { class: "note" }, `and ${counted(alarms.length - ALARMS, "more warning")}: see the report`)
      : null,
  );
}

const FORMATS = { csv: "CSV", ndjson: "NDJSON", parquet: "Parquet", json: "JSON" };
const TABLES = {
  removed: "Removed documents",
  kept: "Kept documents",
  clusters: "Clusters",
  pairs: "Pairs",
  malformed: "Malformed lines",
};

/** Download links for all tables in all formats. */
export function showTables(host, path, query, counts) {
  const link = (table, format) =>
    make(
      "a",
      {
        href: address(path(table), { ...query, format: format === "json" ? null : format }),
        download: format === "json" ? null : "",
        "aria-label": `${TABLES[table]} as ${FORMATS[format]}`,
      },
      FORMATS[format],
    );
  const names = Object.keys(TABLES).filter((name) => name !== "malformed" || counts.malformed);
  show(
    host,
    make(
      "table",
      {},
      make(
        "tbody",
        {},
        names.map((name) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, TABLES[name]),
            Object.keys(FORMATS).map((format) => make("td", {}, link(name, format))),
          ),
        ),
      ),
    ),
  );
}

/** The range of clusters that is shown. */
export function showPlace({ offset = 0, shown = 0, total, page = 1, alone = false }) {
  named("place").textContent = alone
    ? `One cluster of ${total.toLocaleString("en")}`
    : total
      ? `${(offset + 1).toLocaleString("en")} to ${(offset + shown).toLocaleString("en")} of ${counted(total, "cluster")}`
      : "";
  named("all").hidden = !alone;
  named("previous").disabled = alone || offset <= 0;
  named("next").disabled = alone || offset + page >= total;
  if (!total)
    show(
      named("clusters"),
      make("li", { class: "empty" }, "No two documents are this similar. All documents are kept."),
    );
}

/** The number of decisions. */
export function showDecided({ all, keep, split }, total) {
  named("decided").hidden = all === 0;
  named("decided-said").textContent =
    `${all.toLocaleString("en")} of ${counted(total, "cluster")} decided: ${keep.toLocaleString("en")} kept, ${split.toLocaleString("en")} split. All other clusters are kept.`;
}

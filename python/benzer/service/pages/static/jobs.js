// Texts about a job: its state, source, progress and outcome.

import { counted, make } from "./dom.js";
import { duration, setting, share } from "./numbers.js";

export const STAGES = {
  read: "Reading",
  sketch: "Sketching",
  against: "Comparing with older indexes",
  candidates: "Finding candidates",
  verify: "Comparing exactly",
  clusters: "Choosing the documents to keep",
  measure: "Measuring the recall",
};
export const isOver = (job) => ["done", "failed", "cancelled"].includes(job.state);
const STATES = {
  waiting: "waiting",
  running: "running",
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
};

/** The state of a job as a tag. */
export const tag = (job) => make("span", { class: `tag ${job.state}` }, STATES[job.state]);

/** The source of a job. */
export function sourceOf({ source, counts }) {
  if (source.index !== undefined) return source.index;
  const documents = counts?.documents ?? source.upload;
  return typeof documents === "number" ? counted(documents, "uploaded document") : "uploaded files";
}

/** The settings of a job in one line. */
export function settingsOf({ settings }) {
  const against = settings.against?.length ? ` · against ${settings.against.join(", ")}` : "";
  return `threshold ${setting(settings.threshold)} · recall ${settings.recall === 1 ? "1" : setting(settings.recall)} · keep ${settings.keep}${against}`;
}

/** The outcome in one line. */
export function outcomeOf(job) {
  if (job.state === "done") {
    const { removed, documents, clusters } = job.counts;
    return `${removed.toLocaleString("en")} of ${counted(documents, "document")} removed (${share(removed, documents)}), in ${counted(clusters, "cluster")}`;
  }
  if (job.state === "failed") return job.error?.message ?? "Failed";
  if (job.state === "cancelled") return "Cancelled";
  return job.state === "waiting" ? "Queued" : stageOf(job);
}

/** The current stage as text. */
export function stageOf({ progress }) {
  return progress ? (STAGES[progress.stage] ?? progress.stage) : "Starting";
}

/** The progress of the stage as a bar; indeterminate if the total is not known. */
export function progressBar({ progress }) {
  const known = progress && progress.total;
  return make("progress", {
    "aria-label": "Progress of this stage",
    ...(known ? { value: progress.done, max: progress.total } : {}),
  });
}

/** The run time. */
export const timeOf = (job) => duration(job.seconds);

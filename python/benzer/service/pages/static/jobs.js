// How is a job told to people? Its state, what it works on, how far it is, and what it has found.

import { counted, make } from "./dom.js";
import { duration, setting, share } from "./numbers.js";

export const STAGES = {
  read: "Reading",
  sketch: "Sketching",
  against: "Looking into older indexes",
  candidates: "Finding candidates",
  verify: "Comparing exactly",
  clusters: "Deciding who stays",
  measure: "Measuring what was missed",
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

/** What a job works on. */
export function sourceOf({ source, counts }) {
  if (source.index !== undefined) return source.index;
  const documents = counts?.documents ?? source.upload;
  return typeof documents === "number" ? counted(documents, "uploaded document") : "uploaded files";
}

/** By which settings, in a line. */
export function settingsOf({ settings }) {
  const against = settings.against?.length ? ` · against ${settings.against.join(", ")}` : "";
  return `threshold ${setting(settings.threshold)} · recall ${settings.recall === 1 ? "1" : setting(settings.recall)} · the ${settings.keep} stays${against}`;
}

/** What came of it, in a line. */
export function outcomeOf(job) {
  if (job.state === "done") {
    const { removed, documents, clusters } = job.counts;
    return `${removed.toLocaleString("en")} of ${counted(documents, "document")} go (${share(removed, documents)}), in ${counted(clusters, "cluster")}`;
  }
  if (job.state === "failed") return job.error?.message ?? "It failed";
  if (job.state === "cancelled") return "It was cancelled";
  return job.state === "waiting" ? "It waits for its turn" : stageOf(job);
}

/** The stage that a job is in, in words. */
export function stageOf({ progress }) {
  return progress ? (STAGES[progress.stage] ?? progress.stage) : "It begins";
}

/** How far the stage is, as a bar; without an end where that is not known. */
export function progressBar({ progress }) {
  const known = progress && progress.total;
  return make("progress", {
    "aria-label": "Progress of this stage",
    ...(known ? { value: progress.done, max: progress.total } : {}),
  });
}

/** How long it has run. */
export const timeOf = (job) => duration(job.seconds);

// What has a person decided about clusters? It is kept by the browser until its tab is closed, and handed out as files.

/** Decisions under a key of a storage; clusters are numbered anew at each threshold, so each has a key of its own. */
export class Decisions {
  constructor(storage, key) {
    Object.assign(this, { storage, key, made: new Map(JSON.parse(storage.getItem(key) ?? "[]")) });
  }

  of(cluster) {
    return this.made.get(cluster) ?? null;
  }

  /** Decide about a cluster. members: those of a split that stay; null for all of them. */
  decide({ cluster, kept_id }, decision, members = null) {
    this.made.set(cluster, { cluster, kept_id, decision, members });
    this.save();
  }

  takeBack(cluster) {
    this.made.delete(cluster);
    this.save();
  }

  takeAllBack() {
    this.made.clear();
    this.save();
  }

  save() {
    this.storage.setItem(this.key, JSON.stringify([...this.made]));
  }

  /** All of them, by the number of the cluster. */
  get all() {
    return [...this.made.values()].sort((a, b) => a.cluster - b.cluster);
  }

  /** How many are kept, and how many split. */
  get counts() {
    const split = this.all.filter((one) => one.decision === "split").length;
    return { all: this.made.size, keep: this.made.size - split, split };
  }

  /** As the service takes them. */
  get sent() {
    return this.all.map(({ cluster, decision, members }) => ({
      cluster,
      decision,
      ...(members === null ? {} : { members }),
    }));
  }
}

/** Let one member stay, or go again; when none is left that was let stay, there is no decision. */
export function withMember(decisions, cluster, id, stays) {
  const before = decisions.of(cluster.cluster);
  const members = (before?.decision === "split" && before.members ? before.members : []).filter(
    (one) => one !== id,
  );
  if (stays) members.push(id);
  if (members.length) decisions.decide(cluster, "split", members);
  else decisions.takeBack(cluster.cluster);
}

/** Decisions as CSV, a line for each, or for each member that stays. */
export function asCsv(all) {
  const rows = all.flatMap(({ cluster, kept_id, decision, members }) =>
    (members ?? [""]).map((member) => [cluster, kept_id, decision, member]),
  );
  return (
    [["cluster", "kept_id", "decision", "member"], ...rows]
      .map((row) => row.map(cell).join(","))
      .join("\r\n") + "\r\n"
  );
}

/** A value of CSV: quoted where it must be, and behind an apostrophe where a spreadsheet would take it for a formula. */
function cell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

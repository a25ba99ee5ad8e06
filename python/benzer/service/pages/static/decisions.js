// Decisions about clusters. The browser stores them until the tab is closed; they can be downloaded.

/** Decisions under a key of a storage. Cluster numbers depend on the threshold, so each threshold has its own key. */
export class Decisions {
  constructor(storage, key) {
    Object.assign(this, { storage, key, made: new Map(JSON.parse(storage.getItem(key) ?? "[]")) });
  }

  of(cluster) {
    return this.made.get(cluster) ?? null;
  }

  /** Decide about a cluster. members: the members that a split keeps; null for all of them. */
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

  /** All decisions, sorted by cluster number. */
  get all() {
    return [...this.made.values()].sort((a, b) => a.cluster - b.cluster);
  }

  /** The number of kept and of split clusters. */
  get counts() {
    const split = this.all.filter((one) => one.decision === "split").length;
    return { all: this.made.size, keep: this.made.size - split, split };
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

/** Keep or remove one member. Without any kept member, the decision is deleted. */
export function withMember(decisions, cluster, id, stays) {
  const before = decisions.of(cluster.cluster);
  const members = (before?.decision === "split" && before.members ? before.members : []).filter(
    (one) => one !== id,
  );
  if (stays) members.push(id);
  if (members.length) decisions.decide(cluster, "split", members);
  else decisions.takeBack(cluster.cluster);
}

/** Decisions as CSV: one line per decision, or per kept member. */
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

/** A CSV value: quoted if necessary, and prefixed with an apostrophe if a spreadsheet would read it as a formula. */
function cell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

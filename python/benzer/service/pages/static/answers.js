// The parts of a search result around the matches: the heading, the empty result, and the same request for a shell.

import { counted, make, plain } from "./dom.js";

/** The heading of a result: the number of matches, the minimum similarity, the query document and the time. */
export function heading(found, least, id, seconds) {
  const time = seconds < 0.1 ? `${Math.max(1, Math.round(1000 * seconds))} ms` : `${seconds.toFixed(1)} s`;
  const like = id === null ? null : ["similar to ", make("bdi", { class: "id" }, plain(id)), " · "];
  const from = make("span", { class: "note" }, `with a similarity of at least ${least}`);
  return make("div", { class: "found" }, make("h2", {}, found, " ", from), make("p", { class: "note" }, like, time));
}

/** The heading of the nearest documents: how many were compared. */
export function nearestHeading({ compared, documents }) {
  const said = `${compared.toLocaleString("en")} of ${counted(documents, "document")} compared exactly`;
  return make("div", { class: "found" }, make("h2", {}, "Nearest documents"), make("p", { class: "note" }, said));
}

/** The empty result: `looser(least)` searches again with a lower threshold, `nearest()` without one. */
export function nothing(least, looser, nearest) {
  const lower = [0.5, 0.3, 0.1].find((value) => value < least);
  const button = (words, onclick, kind = null) => make("button", { type: "button", class: kind, onclick }, words);
  const offers = [
    lower ? button(`Search down to ${lower.toFixed(2)}`, () => looser(lower)) : null,
    button("Show the nearest documents", nearest, lower ? "quiet" : null),
  ];
  const said = `No document has a similarity of ${least} or more.`;
  return make("div", { class: "empty" }, make("p", {}, said), make("div", { class: "actions centre" }, offers));
}

/** The same request as a curl command; null if it would be longer than a page. */
export function byCurl(path, body) {
  const json = JSON.stringify(body).replaceAll("'", "'\\''");
  if (json.length > 4000) return null;
  const lines = [`curl ${location.origin}${path}`, "  -H 'Content-Type: application/json'", `  -d '${json}'`];
  const text = make("pre", { tabindex: "0" }, lines.join(" \\\n"));
  return make("details", { class: "curl" }, make("summary", {}, "curl command"), text);
}

/** The text shown before the first search. */
export function welcome({ name, documents, texts }) {
  const page = make("a", { href: `/indexes/${encodeURIComponent(name)}` }, "Add documents");
  const said = documents
    ? "Matches appear here, most similar first. Open one to see " +
      (texts ? "the matching passages highlighted in both texts." : "both documents side by side.")
    : ["This index is empty. ", page, " first."];
  return make("div", { class: "empty welcome" }, make("p", {}, said));
}

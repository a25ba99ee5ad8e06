// What stands around the matches? How many there are, what to do where there are none, and the same for a shell.

import { counted, make, plain } from "./dom.js";

/** The head of an answer: how many were found, from which similarity on, like what, and how fast. */
export function heading(found, least, id, seconds) {
  const time = seconds < 0.1 ? `${Math.max(1, Math.round(1000 * seconds))} ms` : `${seconds.toFixed(1)} s`;
  const like = id === null ? null : ["like ", make("bdi", { class: "id" }, plain(id)), " · "];
  const from = make("span", { class: "note" }, `from a similarity of ${least}`);
  return make("div", { class: "found" }, make("h2", {}, found, " ", from), make("p", { class: "note" }, like, time));
}

/** The head of the nearest: what was looked at for them. */
export function nearestHeading({ compared, documents }) {
  const said = `${compared.toLocaleString("en")} of ${counted(documents, "document")} compared exactly`;
  return make("div", { class: "found" }, make("h2", {}, "The nearest"), make("p", { class: "note" }, said));
}

/** What to say, and to offer, where nothing was found: `looser(least)` asks again, `nearest()` whatever is there. */
export function nothing(least, looser, nearest) {
  const lower = [0.5, 0.3, 0.1].find((value) => value < least);
  const button = (words, onclick, kind = null) => make("button", { type: "button", class: kind, onclick }, words);
  const offers = [
    lower ? button(`Look down to ${lower.toFixed(2)}`, () => looser(lower)) : null,
    button("Show the nearest, however unlike", nearest, lower ? "quiet" : null),
  ];
  const said = `The index holds nothing that is at least ${least} like this.`;
  return make("div", { class: "empty" }, make("p", {}, said), make("div", { class: "actions centre" }, offers));
}

/** The same question for a shell; nothing where it would be longer than a page. */
export function byCurl(path, body) {
  const json = JSON.stringify(body).replaceAll("'", "'\\''");
  if (json.length > 4000) return null;
  const lines = [`curl ${location.origin}${path}`, "  -H 'Content-Type: application/json'", `  -d '${json}'`];
  const text = make("pre", { tabindex: "0" }, lines.join(" \\\n"));
  return make("details", { class: "curl" }, make("summary", {}, "The same by curl"), text);
}

/** What stands in the place of matches before anything was asked. */
export function welcome({ name, documents, texts }) {
  const page = make("a", { href: `/indexes/${encodeURIComponent(name)}` }, "Add documents");
  const said = documents
    ? "Matches appear here, the most alike first. Open one to see " +
      (texts ? "the passages that agree, marked in both." : "both side by side.")
    : ["This index is empty. ", page, " first."];
  return make("div", { class: "empty welcome" }, make("p", {}, said));
}

// Requests to the service, and fragments that it renders. Every error becomes a Failure and is shown in one place.


/** An element: `make("p", { class: "note", onclick: work }, "text", otherElement, null)`. Text is never markup. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  return show(element, ...children);
}

/** The element with an id. */
export const named = (id) => document.getElementById(id);

/** Replace the children of an element. */
export function show(element, ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Put the elements of a fragment in the place of those with the same ids, and announce what it says. */
export function swap(part) {
  announce(part);
  for (const element of [...part.children]) named(element.id)?.replaceWith(element);
}

/** Announce the `data-say` of a fragment to screen readers. */
export function announce(part) {
  const { say: text } = part.querySelector("[data-say]")?.dataset ?? {};
  if (text) say(text);
}

/** The elements of HTML that the service rendered. It runs no scripts. */
function parsed(text) {
  const part = document.createDocumentFragment();
  part.append(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  return part;
}

/** The fragment of a resource: the same request as `ask`, answered with HTML. */
export const load = (path, options = {}) =>
  ask(path, { ...options, headers: { Accept: "text/html", ...options.headers } });

/** An error in the shape that the service uses. Status 0: there was no response. */
export class Failure extends Error {
  constructor(status, { type = "NetworkError", message, field = null }, retryAfter = null) {
    super(message);
    Object.assign(this, { status, type, field, retryAfter });
  }
}

const running = new Map();

/**
 * Send a request and return the parsed JSON response, or null for an empty one.
 * json: the body. body: any other body, with its type in `headers`. query: parameters; null values are omitted.
 * slot: a name for the request; a later request with the same name cancels an earlier one (see `isStale`).
 */
export async function ask(
  path,
  { method = "GET", json, body, headers = {}, query = {}, slot = null, signal } = {},
) {
  const mine = slot === null ? null : take(slot);
  const signals = [mine?.signal, signal].filter(Boolean);
  let answer;
  working(1);
  try {
    answer = await fetch(address(path, query), {
      method,
      headers: {
        Accept: "application/json",
        ...(json === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: json === undefined ? body : JSON.stringify(json),
      signal: signals.length ? AbortSignal.any(signals) : undefined,
    });
    if (!answer.ok) throw await failureOf(answer);
    if (answer.status === 204) return null;
    const html = answer.headers.get("Content-Type").startsWith("text/html");
    return html ? parsed(await answer.text()) : await answer.json();
  } catch (error) {
    if (error instanceof Failure || isStale(error)) throw error;
    throw new Failure(0, { message: "the service does not respond: check that it is still running" });
  } finally {
    working(-1);
    if (mine !== null && running.get(slot) === mine) running.delete(slot);
  }
}

function take(slot) {
  running.get(slot)?.abort();
  const mine = new AbortController();
  running.set(slot, mine);
  return mine;
}

/** Cancel the running request of a name. */
export function forget(slot) {
  running.get(slot)?.abort();
  running.delete(slot);
}

/** Whether an error only says that a later request replaced this one. */
export const isStale = (error) => error instanceof DOMException && error.name === "AbortError";

/** A path with its query; null and empty values are omitted. */
export function address(path, query = {}) {
  const kept = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const text = new URLSearchParams(kept).toString();
  return text ? `${path}?${text}` : path;
}

/** The path of a resource of an index: `ofIndex("news", "documents", id)`, each part percent-encoded. */
export const ofIndex = (index, ...parts) =>
  ["/v1/indexes", ...[index, ...parts].map(encodeURIComponent)].join("/");

/** A stored document by its id as typed. Browsers drop "." and ".." from a path, so those ids go into a body. */
export async function documentOf(index, id, slot, get = ask) {
  if (!/^\.{0,2}$/.test(id)) return get(ofIndex(index, "documents", id), { slot });
  const lookUp = (how) => how(ofIndex(index, "lookup"), { method: "POST", json: { ids: [id] }, slot });
  const { documents } = await lookUp(ask);
  if (documents[0] === null)
    throw new Failure(404, { type: "NotFoundError", message: `no document has the id '${id}'` });
  return get === ask ? documents[0] : lookUp(get);
}

/** The error in a response. */
export async function failureOf(answer) {
  const after = answer.headers.get("Retry-After");
  try {
    return new Failure(answer.status, (await answer.json()).error, after);
  } catch {
    return new Failure(
      answer.status,
      { type: "ServerError", message: `the service returned status ${answer.status}` },
      after,
    );
  }
}

/**
 * Send a body of any size and report progress: `upload(path, file, { type, query, sent: (done, total) => … })`.
 * signal: an AbortSignal that cancels the upload.
 */
export function upload(
  path,
  body,
  { method = "POST", type = null, query = {}, accept = "application/json", sent = () => {}, signal } = {},
) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, address(path, query));
    request.setRequestHeader("Accept", accept);
    if (type !== null) request.setRequestHeader("Content-Type", type);
    request.upload.onprogress = (event) => sent(event.loaded, event.total);
    request.onload = () => {
      const html = request.getResponseHeader("Content-Type")?.startsWith("text/html");
      const body = new Response(request.response, { status: request.status, headers: retry(request) });
      if (request.status >= 300) failureOf(body).then(reject);
      else if (html) resolve(parsed(request.responseText));
      else resolve(JSON.parse(request.responseText));
    };
    request.onerror = () =>
      reject(new Failure(0, { message: "the connection was lost: check that the service is still running" }));
    request.onabort = () => reject(new DOMException("ended", "AbortError"));
    signal?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

function retry(request) {
  const after = request.getResponseHeader("Retry-After");
  return after === null ? {} : { "Retry-After": after };
}

/**
 * Run some work. `busy` is marked as busy meanwhile, and an error is shown at the top of the page.
 * Returns the result of the work; undefined after an error, or if a later request replaced it.
 */
export async function attempt(work, busy = null) {
  clear();
  busy?.setAttribute("aria-busy", "true");
  try {
    const result = await work();
    busy?.removeAttribute("aria-busy");
    return result;
  } catch (error) {
    if (isStale(error)) return undefined; // the later request sets and clears the mark
    busy?.removeAttribute("aria-busy");
    report(error);
    return undefined;
  }
}

/** Show an error at the top of the page, where screen readers announce it. */
export function report(error) {
  if (isStale(error)) return;
  if (!(error instanceof Failure)) console.error(error);
  const soon = error.retryAfter ? ` Try again in ${error.retryAfter} s.` : "";
  const login =
    error.status === 401
      ? make(
          "a",
          { href: `/login?next=${encodeURIComponent(location.pathname + location.search)}` },
          "Log in",
        )
      : null;
  show(
    named("failed"),
    make(
      "div",
      { class: "notice failure" },
      make(
        "p",
        {},
        make("strong", {}, heading(error)),
        " ",
        make("span", {}, sentence(unnamed(error)) + soon),
        " ",
        login,
      ),
      make("button", { type: "button", class: "quiet", onclick: clear, "aria-label": "Dismiss" }, "×"),
    ),
  );
  named("failed").scrollIntoView({ block: "nearest" });
}

const heading = (error) =>
  error.field ? `${error.field.replace(/^(body|query|path)\./, "")}:` : "Error:";
const unnamed = ({ message, field }) =>
  field && message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
const sentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Hide the error. */
export function clear() {
  show(named("failed"));
}

/** Announce a result or an action to screen readers. */
export function say(text) {
  named("said").textContent = text;
}

let asked = 0,
  timer = 0;

/** Count running requests; a progress line at the top of the page is shown if they take longer than a moment. */
export function working(change) {
  asked += change;
  clearTimeout(timer);
  if (asked > 0)
    timer = setTimeout(() => {
      named("progress").hidden = false;
    }, 150);
  else named("progress").hidden = true;
}

/** Whether the user has write access; controls that change something are hidden or explained otherwise. */
export const mayWrite = () => document.body.dataset.scopes.split(" ").includes("write");

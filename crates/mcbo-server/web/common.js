// What all pages share: requests, elements, numbers, times, messages, live updates.

/** Makes an element; strings become text, never markup. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else if (name === "dataset") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Replaces everything inside. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

export class Failure extends Error {
  constructor(status, message, hint, lines = []) {
    super(message);
    this.status = status;
    this.hint = hint;
    this.lines = lines;
  }
}

export const me = () => byId("who")?.value.trim() ?? "";

/** A request to the server; fails with its message. */
export async function api(path, { method = "GET", body, signal } = {}) {
  const headers = {};
  if (method !== "GET") {
    headers["Content-Type"] = "application/json";
    if (me()) headers["X-Mcbo-Worker"] = encodeURIComponent(me());
  }
  let response;
  try {
    response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "The server does not answer.", "It may have been stopped; what you typed is still here.");
  }
  const kind = response.headers.get("content-type") ?? "";
  const answer = kind.includes("json") ? await response.json() : await response.text();
  if (!response.ok) throw new Failure(response.status, sentence(answer.error ?? `The server says ${response.status}.`), answer.hint ? sentence(answer.hint) : null, answer.lines);
  return answer;
}

/** Begins with a capital, unless that is the name of a node or an action, and ends with a full stop. */
export function sentence(text, problem) {
  const first = text.split(/[\s:[]/, 1)[0];
  const named = problem && [...problem.nodes, ...problem.actions].some((one) => one.name === first);
  const whole = named ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(whole) ? whole : `${whole}.`;
}

export const studyPath = (name) => `/api/studies/${encodeURIComponent(name)}`;
export const studyPage = (name) => `/studies/${encodeURIComponent(name)}`;

/** A number with up to five digits and no trailing zeros. */
export function number(value, digits = 5) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-5) return value.toExponential(3);
  const decimals = Math.min(9, Math.max(0, digits - 1 - Math.floor(Math.log10(size))));
  const text = value.toFixed(decimals);
  return (text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text).replace(/^-0$/, "0").replace(/^-/, "−");
}

/** Numbers with as many digits as the distance between two of them deserves. */
export function beside(low, high, digits = 2) {
  const decimals = high > low ? Math.min(9, Math.max(0, digits - Math.floor(Math.log10(high - low)))) : null;
  return (value) => (decimals === null ? number(value, 4) : Math.abs(value) >= 1e7 ? number(value) : value.toFixed(decimals).replace(/^-(?=0\.?0*$)/, "").replace(/^-/, "−"));
}

/** Words of the server's, in which a number and its per cent stay on one line. */
export const glued = (text) => text.replace(/(\d) %/g, "$1\u00a0%");

export const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

/** A number that somebody typed; null for nothing. */
export function typed(text, name) {
  const trimmed = text.trim().replace(/^−/, "-");
  if (trimmed === "") return null;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) {
    throw new Failure(400, `${name}: “${text}” is not a number.`, "Write it with a decimal point; leave empty what was not measured.");
  }
  return Number(trimmed);
}

/** A time as one says it, with the exact one behind it. */
export function when(iso) {
  if (!iso) return el("span", {}, "–");
  const at = new Date(iso);
  const seconds = (Date.now() - at.getTime()) / 1000;
  const size = Math.abs(seconds);
  let text = size < 5400 ? `${Math.round(size / 60)} min` : size < 1.5 * 86400 ? `${Math.round(size / 3600)} h` : `${Math.round(size / 86400)} days`;
  text = size < 45 ? "just now" : seconds > 0 ? `${text} ago` : `in ${text}`;
  return el("time", { datetime: iso, title: at.toLocaleString() }, text);
}

/** A message that goes away by itself; mistakes stay longer. */
export function toast(text, kind = "good") {
  const box = el("div", { class: `toast ${kind}` }, text, el("button", { class: "close", "aria-label": "Close", onclick: () => box.remove() }, "×"));
  const all = byId("toasts");
  // More of them would hide the page: good news is over when there is other news, and of mistakes the last three stay.
  all.querySelectorAll(".good").forEach((old) => old.remove());
  while (all.childElementCount >= 3) all.firstChild.remove();
  all.append(box);
  setTimeout(() => box.remove(), kind === "good" ? 5000 : 15000);
}

/** A failure where it happened. */
export function failed(error) {
  return el("div", { class: "failed", role: "alert" }, el("b", {}, error.message), error.hint ? el("span", {}, ` ${error.hint}`) : null,
    error.lines?.length ? el("ul", {}, error.lines.map(({ line, message }) => el("li", {}, `Line ${line}: ${message}.`))) : null);
}

export const waiting = (text) => el("p", { class: "waiting" }, el("span", { class: "spin", "aria-hidden": "true" }), text);

/** A picture of the server's, as a part of the page. */
export async function picture(path, label) {
  const response = await fetch(path);
  if (!response.ok) {
    const answer = await response.json().catch(() => ({}));
    throw new Failure(response.status, sentence(answer.error ?? "There is no picture."), answer.hint && sentence(answer.hint));
  }
  const parsed = new DOMParser().parseFromString(await response.text(), "image/svg+xml").documentElement;
  if (parsed.nodeName !== "svg") throw new Failure(500, "The picture cannot be shown.");
  const svg = document.importNode(parsed, true);
  const width = Number(svg.getAttribute("width"));
  svg.removeAttribute("height");
  svg.setAttribute("width", String(width));
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label ?? svg.querySelector("title")?.textContent ?? "");
  return svg;
}

/** Takes the words below a picture out of it: as text of the page they fit into every window, and can be read at every size. */
function words(svg) {
  const lines = [...svg.querySelectorAll(":scope > text[fill-opacity]")];
  if (lines.length === 0) return "";
  const box = svg.getAttribute("viewBox").split(" ");
  box[3] = String(Number(lines[0].getAttribute("y")) - 10);
  svg.setAttribute("viewBox", box.join(" "));
  lines.forEach((line) => line.remove());
  return lines.map((line) => line.textContent).join(" ");
}

/** A picture in its frame, with its words and ways to keep it. */
export function figure(svg, address, label = "Picture") {
  const join = address?.includes("?") ? "&" : "?";
  const keep = (ending) => `${address.replace(".svg", `.${ending}`)}${join}download=1`;
  const said = words(svg);
  return el("figure", {}, el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, svg),
    el("figcaption", {}, said ? el("p", {}, said) : null,
      address ? el("p", { class: "keep" }, "Keep it as ", el("a", { href: keep("svg") }, "SVG"), " or ", el("a", { href: keep("png") }, "PNG")) : null));
}

/** A table from rows of cells; cells may be elements. */
export function table(caption, heads, rows, { numeric = [] } = {}) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    // The roles are said once more, since a narrow page may show rows as blocks, and they would be lost with that.
    el("table", { role: "table" }, el("caption", { class: "hidden" }, caption),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads.map((head, place) => el("th", { scope: "col", role: "columnheader", class: numeric.includes(place) ? "number" : "" }, head)))),
      el("tbody", { role: "rowgroup" }, rows.map((row) => el("tr", { role: "row" }, row.map((cell, place) =>
        place === 0 ? el("th", { scope: "row", role: "rowheader" }, cell) : el("td", { role: "cell", class: numeric.includes(place) ? "number" : "" }, cell)))))));
}

/** Hears of changes. `changed(event)` is called with the number of the last event, or null if the study is gone. */
export function listen(study, changed) {
  const light = byId("live");
  let source;
  const open = () => {
    source = new EventSource(study === null ? "/api/events" : `/api/events?study=${encodeURIComponent(study)}`);
    source.onopen = () => { light.textContent = "live"; light.className = "live on"; };
    source.onmessage = (message) => changed(JSON.parse(message.data).event);
    source.onerror = () => {
      light.textContent = "not connected";
      light.className = "live off";
      // A server that was restarted is found again by itself; one that answered with an error is asked anew.
      if (source.readyState === EventSource.CLOSED) setTimeout(open, 2000);
    };
  };
  open();
  addEventListener("pagehide", () => source.close());
}

/** The crumbs, and who one is. */
export function begin(...crumbs) {
  const nav = document.querySelector(".crumbs");
  const all = [["Studies", "/"], ...crumbs];
  if (nav && crumbs.length > 0) {
    fill(nav, el("ol", {}, all.map(([text, href], place) =>
      el("li", {}, place < all.length - 1 ? el("a", { href }, text) : el("span", { "aria-current": "page" }, text)))));
  }
  const who = byId("who");
  if (who) {
    try { who.value = localStorage.getItem("mcbo-who") ?? ""; } catch { /* nobody remembers then */ }
    who.placeholder = "your name";
    who.addEventListener("change", () => { try { localStorage.setItem("mcbo-who", who.value.trim()); } catch { /* as above */ } });
  }
}

/** Asks before something is done, in the page's own dialog. Resolves with the answer of `value`, or null. */
export function ask(title, content, button, { danger = false, value = () => true } = {}) {
  const dialog = byId("dialog") ?? document.body.appendChild(el("dialog", { id: "dialog", "aria-labelledby": "dialog-title" }));
  return new Promise((resolve) => {
    const done = (answer) => { dialog.close(); resolve(answer); };
    fill(dialog, el("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); done(value()); } },
      el("h2", { id: "dialog-title" }, title), content,
      el("div", { class: "buttons" }, el("button", { type: "button", class: "button quiet", onclick: () => done(null) }, "Cancel"),
        el("button", { type: "submit", class: danger ? "button danger" : "button" }, button))));
    dialog.oncancel = () => resolve(null);
    dialog.showModal();
  });
}

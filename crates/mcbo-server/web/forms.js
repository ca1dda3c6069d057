// Forms that several parts need: an editor that is checked as one types, and fields for what is measured and done.
import { api, el, failed, fill, number, sentence, typed } from "./common.js";

/** An editor for problem files: lines are numbered, mistakes are marked where they are. `checked(result)` hears what the checker says. */
export function editor(text, checked = () => {}, { readonly = false } = {}) {
  const area = el("textarea", { class: "code", spellcheck: "false", wrap: "off", rows: "24", "aria-label": "Problem file", "aria-describedby": "mistakes", autocapitalize: "off", autocomplete: "off", readonly });
  const gutter = el("div", { class: "gutter", "aria-hidden": "true" });
  const mistakes = el("div", { id: "mistakes", class: "mistakes", role: "status" });
  const root = el("div", { class: "editor" }, el("div", { class: "pane" }, gutter, area), mistakes);
  let marked = new Set();
  const draw = () => {
    const lines = area.value.split("\n").length;
    fill(gutter, Array.from({ length: lines }, (_, place) => el("div", { class: marked.has(place + 1) ? "bad" : "" }, String(place + 1))));
    gutter.scrollTop = area.scrollTop;
  };
  const go = (line, column) => {
    const lines = area.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + (column ?? 1) - 1;
    area.focus();
    area.setSelectionRange(at, at + 1);
    area.scrollTop = Math.max(0, (line - 6) * parseFloat(getComputedStyle(area).lineHeight));
  };
  let turn = 0;
  const check = async () => {
    const mine = ++turn;
    let result;
    try {
      result = await api("/api/check", { method: "POST", body: { problem: area.value } });
    } catch (error) {
      if (mine === turn) fill(mistakes, failed(error));
      return;
    }
    if (mine !== turn) return;
    marked = new Set(result.errors.map((error) => error.line).filter(Boolean));
    draw();
    area.setAttribute("aria-invalid", String(!result.valid));
    if (result.valid) {
      const warnings = result.problem.warnings;
      fill(mistakes, el("p", { class: "fine" }, "✓ The problem is valid."), warnings.map((text) => el("p", { class: "note" }, text.replace("; hint: ", ". Hint: "))));
    } else {
      fill(mistakes, el("ul", {}, result.errors.map((error) => el("li", {},
        error.line ? el("button", { type: "button", class: "link", onclick: () => go(error.line, error.column) }, `Line ${error.line}`) : null,
        error.line ? ": " : null, error.message, error.hint ? el("span", { class: "soft" }, ` ${sentence(`Hint: ${error.hint}`)}`) : null))));
    }
    checked(result);
  };
  let timer;
  area.addEventListener("input", () => { draw(); clearTimeout(timer); timer = setTimeout(check, 250); });
  area.addEventListener("scroll", () => { gutter.scrollTop = area.scrollTop; });
  const set = (value) => { area.value = value; draw(); check(); };
  set(text);
  return { root, area, set, get text() { return area.value; } };
}

/** A message of the command line as a page says it, which has fields for its options and a table in the place of commands. */
export const inPage = (text, problem) => sentence(text.replace("; hint: ", ". Hint: ").replace(/give what is known, as in `--given [^`]*`/, "fill in what is known")
  .replace("`mcbo correct` puts it right, `mcbo void` takes it out", "in the table of trials it can be put right or taken out"), problem);

/** The names of a node's values, one by one. */
export const slots = (node) => (node.dim === 1 ? [node.name] : Array.from({ length: node.dim }, (_, place) => `${node.name}[${place}]`));

export const withUnit = (name, unit) => (unit ? `${name} (${unit})` : name);

/** A component of something that has one value or several. */
export const component = (value, place) => (Array.isArray(value) ? value[place] : value);

/** What can be chosen: nodes that can be set, then actions. */
export function levers(problem) {
  const set = problem.nodes.filter((node) => node.do).flatMap((node) => {
    const ranges = node.dim === 1 ? [node.do] : node.do;
    return slots(node).map((name, place) => ({ kind: "set", name, node: node.name, place, label: `do(${name})`, range: node.choices ? null : ranges[place], step: node.step, values: node.values, choices: node.choices, unit: node.unit, retired: node.retired }));
  });
  return [...set, ...problem.actions.map((action) => ({ kind: "action", name: action.name, label: action.name, range: action.range, step: action.step, values: action.values, choices: action.choices, neutral: action.neutral, unit: action.unit, scale: action.scale, retired: action.retired }))];
}

/** The value of a lever in an intervention; null where a node is not set. */
export function leverValue(lever, doing) {
  if (lever.kind === "action") return doing.actions[lever.name];
  return lever.node in doing.values ? component(doing.values[lever.node], lever.place) : null;
}

export const shown = (value) => (typeof value === "number" ? number(value) : value === null || value === undefined ? "" : String(value));

/** How probable it is that each limit is kept. */
export function limitsOf(of, problem) {
  return Object.entries(of.limits ?? {}).map(([name, kept]) => {
    const { limit, unit } = problem.nodes.find((node) => node.name === name) ?? {};
    const { above, below } = limit ?? {};
    const levels = above !== undefined && below !== undefined ? `between ${number(above)} and\u00a0${number(below)}` : below !== undefined ? `below\u00a0${number(below)}` : `above\u00a0${number(above)}`;
    const level = limit ? ` ${levels}${unit ? `\u00a0${unit}` : ""}` : "";
    return el("p", { class: kept.probability < kept.wanted ? "note" : "soft" }, `${name}${level} is kept with a probability of ${share(kept.probability)}; ${share(kept.wanted)} is wanted.`);
  });
}

const share = (probability) => `${number(100 * probability, 3)}\u00a0%`;

let serial = 0;
/** A labelled field for a number, or one of several names; with `blank` none of them may be meant. */
export function field(name, { unit, value = "", placeholder, choices, blank, hint } = {}) {
  const id = `field-${++serial}`;
  const describe = hint ? `${id}-hint` : undefined;
  const input = choices
    ? el("select", { id, name, "aria-describedby": describe }, [...(blank ? [""] : []), ...choices].map((choice) => el("option", { value: choice, selected: choice === value }, choice || "–")))
    : el("input", { id, name, value, placeholder, inputmode: "decimal", autocomplete: "off", size: "10", "aria-describedby": describe });
  const root = el("div", { class: "field" }, el("label", { for: id }, withUnit(name, unit)), input, hint ? el("small", { id: describe, class: "soft" }, hint) : null);
  const first = choices ? input.value : value;
  return {
    root, input, name,
    get value() { return choices ? input.value || null : typed(input.value, name); },
    get changed() { return input.value !== first; },
  };
}

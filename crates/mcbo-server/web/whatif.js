// What if: everything that can be chosen on sliders; what to expect follows while they move.
import { api, beside, el, failed, figure, fill, number, picture, toast, waiting } from "./common.js";
import { component, inPage, levers, leverValue, limitsOf, shown, slots, withUnit } from "./forms.js";

let study, refresh, controls, results, drawing, place, graphSvg, ranges, levels;

export function begin(of, room, tools) {
  study = of;
  refresh = tools.refresh;
  controls = el("form", { class: "card sliders", "aria-label": "What is done" });
  results = el("div", { class: "outlook" });
  drawing = el("div", { class: "graph" });
  place = el("div", { "aria-live": "polite" });
  controls.addEventListener("submit", (event) => event.preventDefault());
  fill(room, el("div", { class: "columns what-if" },
    el("section", { "aria-labelledby": "h-do" }, el("h2", { id: "h-do" }, "What if this is done"), controls),
    el("section", { "aria-labelledby": "h-expect" }, el("h2", { id: "h-expect" }, "What to expect"), place, results)), drawing);
}

export async function update() {
  if (study.status.rows === 0) {
    fill(controls);
    return fill(place, el("p", { class: "empty" }, "Nothing was measured yet, so nothing can be expected. Ask for the first experiment, and tell what it gave."));
  }
  if (!study.status.quick) return fill(place, el("p", { class: "empty" }, "The model of a study with so many trials or nodes takes too long for this."));
  try {
    if (!levels) {
      fill(place, waiting("Fitting the model…"));
      const [best, page] = await Promise.all([api(`${study.path}/best`), api(`${study.path}/trials?per=200&state=complete&sort=trial&order=desc`)]);
      ranges = seen(page.trials);
      build(best.recommendation.intervention);
      graphSvg = await picture(`${study.path}/pictures/graph.svg`, "What to expect of every node");
      for (const rows of graphSvg.querySelectorAll(".g-rows")) rows.setAttribute("visibility", "hidden");
      fill(drawing, figure(graphSvg, null, "The graph with what to expect"));
      fill(place);
    }
    ask();
  } catch (error) {
    fill(place, failed(error));
  }
}

/** The range in which each value was seen. */
function seen(trials) {
  const found = new Map();
  for (const trial of trials) {
    for (const node of study.problem.nodes) {
      slots(node).forEach((slot, at) => {
        const value = trial.values && component(trial.values[node.name], at);
        if (typeof value !== "number") return;
        const [low, high] = found.get(slot) ?? [value, value];
        found.set(slot, [Math.min(low, value), Math.max(high, value)]);
      });
    }
  }
  return found;
}

/** From places on a slider to values and back: even in differences, or in ratios. */
function along(range, step, scale) {
  if (scale !== "log") return { at: (place) => place, place: (value) => value, ends: { min: range[0], max: range[1], step: step ?? (range[1] - range[0]) / 200 } };
  const ratio = range[1] / range[0];
  const at = (place) => Math.min(range[1], Math.max(range[0], Number((range[0] * ratio ** (place / 200)).toPrecision(4))));
  return { at, place: (value) => (200 * Math.log(Math.max(value, range[0]) / range[0])) / Math.log(ratio), ends: { min: 0, max: 200, step: 1 } };
}

function slider(name, label, range, value, { step, unit, optional, on, choices, scale }) {
  const id = `level-${levels.length}`;
  const output = el("output", { for: id });
  const scaled = choices ? null : along(range, step, scale);
  const input = choices
    ? el("select", { id }, choices.map((choice) => el("option", { value: choice, selected: choice === String(value) }, unit ? `${choice} ${unit}` : choice)))
    : el("input", { id, type: "range", ...scaled.ends, value: scaled.place(value) });
  const chosen = () => (choices ? input.value : String(scaled.at(Number(input.value))));
  const box = optional ? el("input", { type: "checkbox", checked: on, "aria-label": `${label}: ${optional}` }) : null;
  const write = () => {
    const text = choices ? input.value : withUnit(number(Number(chosen()), 4), null) + (unit ? ` ${unit}` : "");
    output.textContent = choices ? "" : text;
    if (!choices) input.setAttribute("aria-valuetext", text);
    input.disabled = Boolean(box) && !box.checked;
    root.classList.toggle("off", input.disabled);
  };
  const root = el("div", { class: "slider" }, el("div", { class: "row" }, box ? el("label", { class: "inline" }, box, ` ${optional}`) : null, el("label", { for: id }, label), output), input);
  const changed = () => { write(); ask(); };
  input.addEventListener("input", changed);
  box?.addEventListener("change", changed);
  const level = {
    name, root, kind: "action",
    get used() { return !box || box.checked; },
    get word() { return `${name}=${chosen()}`; },
    set(to) { if (box) box.checked = to !== null; if (to !== null) input.value = String(choices ? to : scaled.place(to)); write(); },
  };
  write();
  return level;
}

/** Whether not acting is no place on its slider. */
const isApart = (lever) => lever.kind === "action" && !lever.choices && (lever.values ? !lever.values.includes(lever.neutral) : lever.neutral < lever.range[0] || lever.neutral > lever.range[1]);

/** The place of a lever's slider under an intervention; none where it is not used. */
function leverPlace(lever, doing) {
  const value = leverValue(lever, doing);
  return isApart(lever) && value === lever.neutral ? null : value;
}

function build(recommended) {
  levels = [];
  for (const lever of levers(study.problem)) {
    const value = leverPlace(lever, recommended);
    const set = lever.kind === "set";
    const start = value ?? lever.values?.[0] ?? (lever.range ? (lever.range[0] + lever.range[1]) / 2 : null);
    const choices = lever.choices?.filter((name) => !lever.retired?.includes(name)) ?? lever.values?.map(String);
    const optional = set ? "set" : isApart(lever) ? "used" : null;
    const level = slider(set ? lever.label : lever.name, lever.name, lever.range, start, { step: lever.step, unit: lever.unit, choices, optional, on: value !== null, scale: lever.scale });
    level.lever = lever;
    levels.push(level);
  }
  for (const node of study.problem.nodes.filter((one) => one.context)) {
    if (node.choices) {
      const level = slider(node.name, node.name, null, node.choices[0], { choices: node.choices, optional: "given", on: false });
      level.kind = "given";
      levels.push(level);
      continue;
    }
    slots(node).forEach((slot) => {
      const range = node.range ?? ranges.get(slot);
      if (!range || range[0] === range[1]) return;
      const level = slider(slot, slot, range, (range[0] + range[1]) / 2, { unit: node.unit, optional: "given", on: false });
      level.kind = "given";
      levels.push(level);
    });
  }
  const back = el("button", { type: "button", class: "button quiet", onclick: () => {
    for (const level of levels) level.set(level.lever ? leverPlace(level.lever, recommended) : null);
    ask();
  } }, "As recommended");
  const go = study.status.read_only ? null : el("button", { type: "button", class: "button", onclick: enqueue }, "Ask for this");
  fill(controls, levels.map((level) => level.root), el("div", { class: "row" }, back, go));
}

const doing = () => levels.filter((level) => level.kind === "action" && level.used).map((level) => level.word);

async function enqueue() {
  try {
    const { trial } = await api(`${study.path}/enqueue`, { method: "POST", body: { doing: doing() } });
    toast(`Trial ${trial} is under way, as you asked for it.`);
    location.hash = "#now";
    await refresh();
  } catch (error) {
    fill(place, failed(error));
  }
}

// One question at a time; of those that come while one is under way only the last is asked.
let asking = false;
let again = false;
async function ask() {
  if (asking) { again = true; return; }
  asking = true;
  try {
    do {
      again = false;
      const query = new URLSearchParams(doing().map((word) => ["doing", word]));
      for (const level of levels) if (level.kind === "given" && level.used) query.append("given", level.word);
      const answer = await api(`${study.path}/predict?${query}`);
      show(answer);
    } while (again);
    fill(place);
  } catch (error) {
    fill(place, failed(error));
  } finally {
    asking = false;
  }
}

function show(answer) {
  results.dataset.event = answer.event;
  const goal = study.problem.objective.node;
  const order = [...study.problem.nodes].sort((a, b) => Number(b.name === goal) - Number(a.name === goal));
  fill(results,
    order.map((node) => answer.predicted[node.name]?.names ? names(node, answer.predicted[node.name].names) : slots(node).map((slot, at) => {
      const expected = answer.predicted[node.name] && component(answer.predicted[node.name], at);
      return expected ? row(slot, node, expected, node.name === goal) : null;
    })),
    limitsOf(answer, study.problem),
    answer.cost !== undefined ? el("p", { class: "soft" }, `It costs ${number(answer.cost)}.`) : null,
    el("p", { class: "soft" }, "Strong: where the average lies with a probability of 90 %. Faint: where a single outcome lies."),
    answer.warnings.map((text) => el("p", { class: "note" }, inPage(text, study.problem))));
  for (const node of graphSvg.querySelectorAll(".g-node")) {
    const expected = answer.predicted[node.dataset.name];
    let text = node.querySelector(".g-value");
    if (!text) {
      const rect = node.querySelector("rect");
      text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      text.setAttribute("class", "g-value");
      text.setAttribute("x", String(Number(rect.getAttribute("x")) + 9));
      text.setAttribute("y", String(Number(rect.getAttribute("y")) + 33));
      text.setAttribute("font-size", "11");
      text.setAttribute("fill", "currentColor");
      node.append(text);
    }
    text.textContent = expected?.names ? likeliest(expected.names) : Array.isArray(expected) ? brief(expected) : expected ? inside(expected) : "";
    // Long numbers stay inside the box.
    const room = Number(node.querySelector("rect").getAttribute("width")) - 16;
    text.removeAttribute("textLength");
    if (text.getComputedTextLength() > room) {
      text.setAttribute("textLength", String(room));
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }
}

/** What is expected of a node, as its box has room for it. */
function inside({ mean, lower, upper }) {
  const say = beside(lower, upper, 1);
  return `${say(mean)}  (${say(lower)} to ${say(upper)})`;
}

/** How probable each name of a node is: a row each, from never to always. */
function names(node, all) {
  return Object.entries(all).map(([name, { mean, lower, upper }]) => row(`${node.name}=${name}`, { range: [0, 1] }, { mean, lower, upper }, false));
}

/** The name that is most probable. */
function likeliest(all) {
  const [name, { mean }] = Object.entries(all).reduce((best, next) => (next[1].mean > best[1].mean ? next : best));
  return `${name}  (${number(100 * mean, 2)} %)`;
}

/** The first components of a vector. */
function brief(expected) {
  const first = expected.slice(0, 3).map(({ mean, lower, upper }) => beside(lower, upper, 1)(mean));
  return first.join(", ") + (expected.length > first.length ? ", …" : "");
}

/** A node's expectation as a number and a bar on the scale of what was seen. */
function row(slot, node, { mean, lower, upper, outcome }, goal) {
  const known = ranges.get(slot) ?? node.range ?? [lower, upper];
  const [low, high] = [Math.min(known[0], outcome?.[0] ?? lower), Math.max(known[1], outcome?.[1] ?? upper)];
  const at = (value) => `${(100 * (Math.min(high, Math.max(low, value)) - low)) / (high - low || 1)}%`;
  const bar = (kind, from, to) => {
    const part = el("span", { class: kind });
    part.style.left = at(from);
    part.style.right = `calc(100% - ${at(to)})`;
    return part;
  };
  const say = beside(lower, upper);
  const dot = el("span", { class: "dot" });
  dot.style.left = at(mean);
  return el("div", { class: goal ? "expect goal" : "expect" },
    el("span", { class: "name" }, slot), el("span", { class: "value" }, say(mean), node.unit ? el("small", {}, ` ${node.unit}`) : null),
    el("span", { class: "bounds soft" }, `${say(lower)} to ${say(upper)}`),
    el("span", { class: "bar", "aria-hidden": "true" }, outcome ? bar("outcome", outcome[0], outcome[1]) : null, bar("mean", lower, upper), dot));
}

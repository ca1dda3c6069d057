// What to do now: experiments under way, the next one, what to settle for, the graph, the history.
import { Failure, api, byId, el, failed, figure, fill, glued, number, picture, toast, waiting, when } from "./common.js";
import { component, field, inPage, leverValue, levers, limitsOf, shown, slots, withUnit } from "./forms.js";
import * as graph from "./graph.js";

let study, refresh, cards, asking, settle, known, history, partial;
const open = new Map();
const halves = new Map();

export function begin(of, room, tools) {
  study = of;
  refresh = tools.refresh;
  asking = el("div", { class: "asking" });
  cards = el("div", { class: "cards" });
  partial = el("div", { class: "cards" });
  known = contextForm();
  settle = el("div", { "aria-live": "polite" });
  history = el("div", {});
  const graphRoom = el("div", {});
  fill(room,
    el("div", { class: "columns" },
      el("section", { "aria-labelledby": "h-next" }, el("h2", { id: "h-next" }, "What to do next"), cards, asking, partial),
      el("section", { "aria-labelledby": "h-settle" }, el("h2", { id: "h-settle" }, "What to settle for"), el("div", { class: "card" }, known, settle))),
    el("div", { class: "pictures" }, el("section", { "aria-labelledby": "h-graph" }, el("h2", { id: "h-graph" }, "What is known"), el("p", { class: "soft" }, "Choose a node to see what was learned of it."), graphRoom),
    el("section", { "aria-labelledby": "h-history" }, el("h2", { id: "h-history" }, "How it went"), history)));
  graph.begin(of, graphRoom);
  if (!of.status.read_only) fill(asking, askForm());
}

export async function update() {
  const { status } = study;
  cardsFor(status.next);
  partialFor(status.partial_trials);
  await Promise.all([showSettle(), graph.update(study), showHistory()]);
}

const here = (text) => inPage(text, study.problem);

// Contexts that are typed once are used for what is asked and for what is recommended.
const contexts = () => study.problem.nodes.filter((node) => node.context);

function contextFields() {
  return contexts().flatMap((node) => slots(node).map((slot) => field(slot, { unit: node.unit, choices: node.choices, blank: true, hint: "known beforehand" })));
}

function given(fields) {
  return fields.filter((one) => one.value !== null).map((one) => `${one.name}=${one.value}`);
}

function askForm() {
  const known = contextFields();
  const count = el("input", { type: "number", min: "1", max: "20", value: "1", size: "3", "aria-label": "How many" });
  const button = el("button", { class: "button", type: "submit" }, "Ask for the next experiment");
  const place = el("div", {});
  const form = el("form", { class: "ask" }, known.length ? el("div", { class: "fields" }, known.map((one) => one.root)) : null,
    el("div", { class: "row" }, button, el("label", { class: "inline" }, "how many ", count)), place);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    fill(place, waiting("Thinking about what is most worth doing…"));
    try {
      const { trials } = await api(`${study.path}/ask`, { method: "POST", body: { more: Number(count.value), given: given(known) } });
      fill(place);
      toast(trials.length === 1 ? `Trial ${trials[0].trial} is under way.` : `${trials.length} trials are under way.`);
      awaited = trials[0].trial;
      await refresh();
      leadToAwaited();
    } catch (error) {
      fill(place, failed(error));
    } finally {
      button.disabled = false;
    }
  });
  return form;
}

// Whoever has asked is led to the answer, which may be shown before the answer is here (others hear of it too) or after.
let awaited = null;
function leadToAwaited() {
  const title = awaited !== null && byId(`trial-${awaited}`)?.querySelector("h3");
  if (!title) return;
  awaited = null;
  title.focus();
}

/** Cards of trials under way. Those that are there stay as they are, with all that is typed into them. */
function cardsFor(trials) {
  const now = new Set(trials.map((trial) => trial.trial));
  for (const [number_, card] of open) {
    if (now.has(number_)) continue;
    if (card.saved || !card.touched()) {
      card.root.remove();
    } else {
      // Somebody else was quicker; what was typed here is not thrown away.
      card.overtaken();
    }
    open.delete(number_);
  }
  for (const trial of trials) {
    if (!open.has(trial.trial)) {
      const card = trialCard(trial);
      open.set(trial.trial, card);
      cards.append(card.root);
    }
  }
  leadToAwaited();
  cards.querySelector(".empty")?.remove();
  if (cards.childElementCount === 0) {
    cards.append(el("p", { class: "empty" }, study.status.trials === 0 ? "Nothing was tried yet. Ask for the first experiment: what to do, what to expect of it, and why." : "No experiment is under way."));
  }
}

/** The unit of a node with the space before it, if it has one. */
function unitOf(name) {
  const unit = study.problem.nodes.find((node) => node.name === name)?.unit;
  return unit ? `\u00a0${unit}` : "";
}

export function doing(trial) {
  const all = levers(study.problem);
  return el("dl", { class: "doing" }, all.flatMap((lever) => {
    const value = leverValue(lever, trial.done ?? trial.intervention);
    if (value === null) return [];
    return [el("div", {}, el("dt", {}, lever.label), el("dd", {}, shown(value), lever.unit ? el("small", {}, ` ${lever.unit}`) : null))];
  }));
}

/** The fields of what is measured in a trial: whatever is not set and not given. */
function measured(trial) {
  const fields = [];
  for (const node of study.problem.nodes) {
    if (node.name in trial.intervention.values || (trial.given && node.name in trial.given)) continue;
    slots(node).forEach((slot, place) => {
      if (trial.values && component(trial.values[node.name], place) !== null) return;
      const expected = trial.predicted?.[node.name] && component(trial.predicted[node.name], place);
      fields.push(field(slot, { unit: node.unit, choices: node.choices, blank: true, placeholder: expected && !expected.names ? `about ${number(expected.mean, 3)}` : undefined }));
    });
  }
  return fields;
}

function values(fields, done) {
  const told = {};
  for (const one of fields) if (one.value !== null) told[one.name] = one.value;
  for (const one of done) if (one.changed && one.value !== null) told[one.name] = one.value;
  if (Object.keys(told).length === 0) throw new Failure(400, "Nothing is filled in.", "Give at least one value; the others can follow later.");
  return told;
}

function trialCard(trial) {
  const path = `${study.path}/trials/${trial.trial}`;
  const readOnly = study.status.read_only;
  const fields = measured(trial);
  const done = levers(study.problem).filter((lever) => leverValue(lever, trial.intervention) !== null)
    .map((lever) => field(lever.name, { unit: lever.unit, value: shown(leverValue(lever, trial.intervention)).replace("−", "-"), choices: lever.choices }));
  const place = el("div", {});
  const save = el("button", { class: "button", type: "submit" }, "Save what was measured");
  const reason = el("input", { autocomplete: "off", size: "30" });
  const card = { saved: false, touched: () => [...fields, ...done].some((one) => one.changed) || reason.value !== "" };
  const send = async (act, said) => {
    save.disabled = true;
    // Said before the answer: what happened may be heard of from elsewhere first.
    card.saved = true;
    try {
      const after = await act();
      toast(said(after));
      await refresh();
    } catch (error) {
      card.saved = false;
      save.disabled = false;
      fill(place, failed(error));
    }
  };
  const why = el("div", {});
  const more = el("button", { class: "link", type: "button", onclick: async () => {
    more.remove();
    fill(why, waiting("Looking at the model…"));
    try {
      const whole = await api(`${path}?why=1`);
      fill(why, el("ul", {}, whole.why.text.map((text) => el("li", {}, text))));
    } catch (error) {
      fill(why, failed(error));
    }
  } }, "All its reasons");
  const form = readOnly ? null : el("form", { class: "tell" },
    el("h4", {}, "What came out"),
    el("div", { class: "fields" }, fields.map((one) => one.root)),
    el("details", {}, el("summary", {}, "Something else was done than asked"), el("p", { class: "soft" }, "Change what differs. The model learns from what was really done; the suggestion stays on record."), el("div", { class: "fields" }, done.map((one) => one.root))),
    el("div", { class: "row" }, save),
    el("details", {}, el("summary", {}, "It could not be run"),
      el("div", { class: "row" }, el("label", {}, "Why ", reason), el("button", { class: "button danger", type: "button", onclick: () =>
        send(() => api(`${path}/fail`, { method: "POST", body: { reason: reason.value } }), () => `Trial ${trial.trial} is marked as failed; it will not be proposed again.`) }, "Mark as failed"))),
    place);
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    fill(place);
    try {
      const told = values(fields, done);
      const goal = study.problem.objective.node;
      send(() => api(`${path}/tell`, { method: "POST", body: { values: told } }), (after) => {
        const value = after.values?.[goal];
        const missing = after.missing.length ? ` Still without a value: ${after.missing.join(", ")}.` : "";
        return `Trial ${trial.trial}: ${value === null || value === undefined ? "kept" : `${goal} = ${number(value)}${after.is_best ? ", the best so far" : ""}`}.${missing}`;
      });
    } catch (error) {
      fill(place, failed(error));
    }
  });
  card.root = el("article", { class: "card trial", id: `trial-${trial.trial}`, "aria-label": `Trial ${trial.trial}` },
    el("h3", { tabindex: "-1" }, `Trial ${trial.trial}`, el("small", { class: "soft" }, " asked ", when(trial.asked), trial.worker ? ` by ${trial.worker}` : "")),
    doing(trial),
    trial.cost !== undefined ? el("p", { class: "soft" }, `Cost: ${number(trial.cost)}`) : null,
    limitsOf(trial, study.problem),
    trial.given && Object.keys(trial.given).length ? el("p", { class: "soft" }, `Given: ${Object.entries(trial.given).map(([name, value]) => `${name} = ${shown(value)}${unitOf(name)}`).join(", ")}`) : null,
    el("p", { class: "why" }, trial.reason),
    study.status.rows > 0 && study.status.quick ? el("div", {}, more, why) : null,
    trial.warnings.map((text) => el("p", { class: "note" }, here(text))),
    form);
  card.overtaken = () => {
    card.root.classList.add("over");
    save.disabled = true;
    fill(place, el("div", { class: "failed", role: "alert" }, el("b", {}, `Trial ${trial.trial} is not under way any more.`), " Somebody else told it, marked it as failed or took it out. What you typed was not saved; the table of trials shows what is there. ",
      el("button", { class: "link", type: "button", onclick: () => card.root.remove() }, "Close")));
  };
  return card;
}

/** Forms of trials that are told in part. Those into which somebody types stay as they are, as long as the same is missing. */
function partialFor(trials) {
  const now = new Map(trials.map((trial) => [`${trial.trial}: ${trial.missing.join(", ")}`, trial]));
  for (const [key, half] of halves) {
    if (now.has(key)) continue;
    if (half.saved || !half.touched()) half.root.remove();
    else half.overtaken();
    halves.delete(key);
  }
  if (!partial.hasChildNodes()) partial.append(el("h3", {}, "Not told in full"));
  for (const [key, trial] of now) {
    if (halves.has(key)) continue;
    const half = halfTold(trial);
    halves.set(key, half);
    partial.append(half.root);
  }
  partial.hidden = partial.childElementCount === 1;
}

function halfTold(trial) {
  const fields = measured(trial);
  const place = el("div", {});
  const half = { saved: false, touched: () => fields.some((one) => one.changed) };
  const save = study.status.read_only ? null : el("button", { class: "button quiet", type: "submit" }, "Save");
  half.root = el("form", { class: "card tell" }, el("h4", {}, `Trial ${trial.trial}`), el("div", { class: "fields" }, fields.map((one) => one.root)), save, place);
  half.root.addEventListener("submit", async (event) => {
    event.preventDefault();
    // Said before the answer, as above.
    half.saved = true;
    try {
      await api(`${study.path}/trials/${trial.trial}/tell`, { method: "POST", body: { values: values(fields, []) } });
      toast(`Trial ${trial.trial}: kept.`);
      await refresh();
    } catch (error) {
      half.saved = false;
      fill(place, failed(error));
    }
  });
  half.overtaken = () => {
    if (save) save.disabled = true;
    fill(place, el("div", { class: "failed", role: "alert" }, el("b", {}, `Somebody else told something of trial ${trial.trial} meanwhile.`), " What you typed was not saved. ",
      el("button", { class: "link", type: "button", onclick: () => { half.root.remove(); partial.hidden = partial.childElementCount === 1; } }, "Close")));
  };
  return half;
}

let wanted = [];
let fitAnyway = false;
async function showSettle() {
  const { status } = study;
  if (known) known.hidden = status.rows === 0;
  if (status.rows === 0) return fill(settle, el("p", { class: "empty" }, "Nothing was measured yet. After the first trials the model says here what to do in the end, what to expect of it, and when to stop."));
  if (!status.quick && !fitAnyway) {
    return fill(settle, el("p", {}, "The model of a study with so many trials or nodes takes a while, so it is not fitted by itself."),
      el("button", { class: "button quiet", type: "button", onclick: () => { fitAnyway = true; showSettle(); } }, "Fit it now"));
  }
  const mine = study.event;
  settle.setAttribute("aria-busy", "true");
  if (!settle.hasChildNodes()) fill(settle, waiting("Fitting the model…"));
  try {
    const query = new URLSearchParams(wanted.map((word) => ["given", word]));
    if (fitAnyway) query.append("anyway", "1");
    const best = await api(`${study.path}/best?${query}`);
    if (mine !== study.event) return;
    const { recommendation, words, suspicions } = best;
    // What does not fit may be said by both.
    const odd = suspicions.map((one) => here(one.message));
    const warnings = words.warnings.map(here).filter((text) => !odd.includes(text));
    fill(settle, doing(recommendation),
      words.expected ? el("p", {}, glued(words.expected)) : null,
      limitsOf(recommendation, study.problem),
      words.best ? el("p", {}, words.best) : null,
      el("p", { class: "verdict" }, words.verdict),
      warnings.map((text) => el("p", { class: "note" }, text)),
      odd.length ? el("details", { open: true }, el("summary", {}, "Does not fit"), odd.map((text) => el("p", { class: "note" }, text))) : null);
  } catch (error) {
    if (mine === study.event) fill(settle, failed(error));
  } finally {
    settle.removeAttribute("aria-busy");
  }
}

function contextForm() {
  const known = contextFields();
  if (!known.length) return null;
  const place = el("div", {});
  return el("form", { class: "given", onsubmit: (event) => {
    event.preventDefault();
    fill(place);
    try { wanted = given(known); showSettle(); } catch (error) { fill(place, failed(error)); }
  } }, el("div", { class: "fields" }, known.map((one) => one.root)), el("button", { class: "button quiet", type: "submit" }, "Recommend for this"), place);
}

async function showHistory() {
  if (study.status.rows === 0) return fill(history, el("p", { class: "empty" }, "The history begins with the first trial that is measured."));
  const mine = study.event;
  try {
    const address = `${study.path}/pictures/history.svg`;
    const svg = await picture(address, `History: ${study.problem.objective.node} of every trial, and what is best`);
    if (mine === study.event) fill(history, figure(svg, address));
  } catch (error) {
    fill(history, failed(error));
  }
}

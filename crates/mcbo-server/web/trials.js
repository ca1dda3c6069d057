// All trials in a table that sorts, filters and pages; one of them in a dialog, to put right or take out.
import { api, byId, el, failed, fill, number, sentence, toast, waiting, when } from "./common.js";
import { component, field, leverValue, levers, shown, slots, withUnit } from "./forms.js";

let study, refresh, body, pager, head, columns;
const view = { page: 1, per: 25, sort: "trial", order: "desc", state: "", q: "" };

export function begin(of, room, tools) {
  study = of;
  refresh = tools.refresh;
  const states = [["", "all"], ["pending", "under way"], ["complete", "measured"], ["partial", "not told in full"], ["failed", "failed"], ["voided", "taken out"], ["corrected", "corrected"], ["otherwise", "done otherwise"]];
  const state = el("select", { id: "filter-state", onchange: () => { view.state = state.value; view.page = 1; load(); } }, states.map(([value, text]) => el("option", { value }, text)));
  let timer;
  const words = el("input", { id: "filter-words", type: "search", placeholder: "number, person, reason", oninput: () => { clearTimeout(timer); timer = setTimeout(() => { view.q = words.value; view.page = 1; load(); }, 200); } });
  head = el("tr", {});
  body = el("tbody", {});
  pager = el("nav", { class: "pager", "aria-label": "Pages of the table" });
  fill(room, el("h2", {}, "All trials"),
    el("div", { class: "row filters" }, el("label", {}, "Show ", state), el("label", {}, "Find ", words), el("span", { class: "spacer" }), el("a", { class: "button quiet", href: `${of.path}/export.csv` }, "Download CSV")),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All trials" }, el("table", { class: "trials" }, el("caption", { class: "hidden" }, "All trials"), el("thead", {}, head), body)),
    pager);
}

function build() {
  const { problem } = study;
  columns = [
    { key: "trial", title: "Trial", cell: (trial) => el("button", { class: "link", type: "button", onclick: () => open(trial.trial) }, String(trial.trial)) },
    { key: "state", title: "State", cell: (trial) => el("span", { class: `state ${trial.state}` }, stateOf(trial)) },
    ...levers(problem).map((lever) => ({ key: lever.label, title: withUnit(lever.label, lever.unit), number: !lever.choices, cell: (trial) => shown(leverValue(lever, trial.done ?? trial.intervention)) })),
    ...problem.nodes.flatMap((node) => slots(node).map((slot, place) => ({ key: `value:${slot}`, title: withUnit(slot, node.unit), number: !node.choices, goal: node.reward, cell: (trial) => shown(trial.values && component(trial.values[node.name], place)) }))),
    { key: "worker", title: "Who", cell: (trial) => trial.worker ?? "" },
    { key: "told", title: "Told", cell: (trial) => (trial.told ? when(trial.told) : "") },
    { title: "Remarks", cell: (trial) => remarks(trial) },
  ];
  fill(head, columns.map((column) => {
    const sorted = column.key === view.sort;
    return el("th", { scope: "col", class: column.number ? "number" : "", "aria-sort": sorted ? (view.order === "asc" ? "ascending" : "descending") : undefined },
      column.key ? el("button", { class: "sort", type: "button", onclick: () => sort(column.key) }, column.title, el("span", { "aria-hidden": "true" }, sorted ? (view.order === "asc" ? " ▲" : " ▼") : "")) : column.title);
  }));
}

function sort(key) {
  view.order = view.sort === key && view.order === "desc" ? "asc" : "desc";
  view.sort = key;
  view.page = 1;
  const focused = columns.findIndex((column) => column.key === key);
  build();
  head.children[focused]?.querySelector("button")?.focus();
  load();
}

const stateOf = (trial) => ({ pending: "under way", complete: trial.missing.length ? "in part" : "measured", failed: "failed", voided: "taken out" })[trial.state] ?? trial.state;

function remarks(trial) {
  const all = [...trial.done_instead];
  if (trial.void_reason) all.push(trial.void_reason);
  if (trial.error) all.push(trial.error);
  if (trial.corrected) all.push("corrected");
  return all.join("; ");
}

export async function update() {
  build();
  await load();
}

let turn = 0;
async function load() {
  const mine = ++turn;
  try {
    const page = await api(`${study.path}/trials?${new URLSearchParams(view)}`);
    if (mine !== turn) return;
    if (page.trials.length === 0) {
      fill(body, el("tr", {}, el("td", { colspan: String(columns.length), class: "empty" }, page.all === 0 ? "No trial yet." : "No trial is like that.")));
    } else {
      fill(body, page.trials.map((trial) => el("tr", { class: trial.state }, columns.map((column, place) =>
        el(place === 0 ? "th" : "td", { scope: place === 0 ? "row" : undefined, class: [column.number ? "number" : "", column.goal ? "goal" : ""].join(" ").trim() }, column.cell(trial))))));
    }
    const last = Math.max(1, Math.ceil(page.total / page.per));
    const go = (to, text, label) => el("button", { class: "button quiet", type: "button", disabled: to < 1 || to > last || to === page.page, "aria-label": label, onclick: () => { view.page = to; load(); } }, text);
    fill(pager, go(1, "«", "First page"), go(page.page - 1, "‹", "Page before"), el("span", { role: "status" }, `Page ${page.page} of ${last}, ${page.total} ${page.total === 1 ? "trial" : "trials"}`), go(page.page + 1, "›", "Page after"), go(last, "»", "Last page"));
  } catch (error) {
    if (mine === turn) fill(body, el("tr", {}, el("td", { colspan: String(columns.length) }, failed(error))));
  }
}

/** One trial: what was done, what came out, and how to put it right. */
async function open(number_) {
  const dialog = byId("dialog");
  fill(dialog, waiting("Reading…"));
  dialog.showModal();
  dialog.oncancel = null;
  try {
    const trial = await api(`${study.path}/trials/${number_}`);
    show(dialog, trial);
  } catch (error) {
    fill(dialog, failed(error), el("button", { class: "button quiet", type: "button", onclick: () => dialog.close() }, "Close"));
  }
}

function show(dialog, trial) {
  const path = `${study.path}/trials/${trial.trial}`;
  const place = el("div", {});
  const close = el("button", { class: "close", type: "button", "aria-label": "Close", onclick: () => dialog.close() }, "×");
  const act = async (request, said) => {
    try {
      await request();
      dialog.close();
      toast(said);
      await refresh();
    } catch (error) {
      fill(place, failed(error), error.status === 409 ? el("button", { class: "link", type: "button", onclick: () => open(trial.trial) }, "Show it as it is now (what you typed here is lost)") : null);
    }
  };
  const lever = levers(study.problem).filter((one) => one.kind === "action").map((one) => ({ one, value: leverValue(one, trial.done ?? trial.intervention) }));
  const told = [];
  for (const node of study.problem.nodes) {
    slots(node).forEach((slot, at) => {
      const value = trial.values && component(trial.values[node.name], at);
      if (typeof value === "number" || (node.choices && value)) told.push(field(slot, { unit: node.unit, value: String(value), choices: node.choices }));
    });
  }
  const done = trial.values ? lever.map(({ one, value }) => field(one.name, { unit: one.unit, value: String(value), choices: one.choices })) : [];
  const reason = el("input", { id: "mend-reason", autocomplete: "off" });
  const out = trial.state === "voided";
  const mend = study.status.read_only ? null : el("form", { class: "tell" },
    told.length ? [el("h3", {}, "Put it right"), el("div", { class: "fields" }, done.map((one) => one.root), told.map((one) => one.root))] : null,
    el("div", { class: "field" }, el("label", { for: "mend-reason" }, "Why, for the log"), reason),
    el("div", { class: "buttons" },
      el("button", { class: out ? "button quiet" : "button danger", type: "button", onclick: () =>
        act(() => api(`${study.path}/${out ? "restore" : "void"}`, { method: "POST", body: { trials: [trial.trial], reason: reason.value, event: trial.event } }), out ? `Trial ${trial.trial} is back; the model learns from it again.` : `Trial ${trial.trial} is taken out; the model does not learn from it.`) }, out ? "Put it back" : "Take it out"),
      told.length ? el("button", { class: "button", type: "submit" }, "Correct") : null),
    place);
  mend?.addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      const values = {};
      for (const one of [...done, ...told]) if (one.changed && one.value !== null) values[one.name] = one.value;
      if (Object.keys(values).length === 0) throw Object.assign(new Error("Nothing is changed."), { hint: "Change what is wrong." });
      act(() => api(`${path}/correct`, { method: "POST", body: { values, reason: reason.value, event: trial.event } }), `Trial ${trial.trial} is put right.`);
    } catch (error) {
      fill(place, failed(error));
    }
  });
  const facts = [["State", stateOf(trial)], ["By", trial.strategy], ["Who", trial.worker], ["Asked", trial.asked && when(trial.asked)], ["Told", trial.told && when(trial.told)], ["Missing", trial.missing.join(", ")], ["Remarks", remarks(trial)], ["Cost", trial.cost === undefined ? "" : number(trial.cost)]];
  fill(dialog, close, el("h2", { id: "dialog-title" }, `Trial ${trial.trial}`),
    el("p", { class: "lead" }, trial.doing), el("p", {}, sentence(trial.reason)),
    el("dl", { class: "facts" }, facts.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])), mend);
}

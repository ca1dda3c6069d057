// The log, downloads, and the study as a whole: copied, renamed, deleted, its problem changed.
import { api, ask, el, failed, fill, studyPage, toast, when } from "./common.js";
import { editor, slots } from "./forms.js";

let study, refresh, log, pager, page = 1, edit = null, editEvent = 0;

export function begin(of, room, tools) {
  study = of;
  refresh = tools.refresh;
  log = el("div", {});
  pager = el("nav", { class: "pager", "aria-label": "Pages of the log" });
  const file = (name, text) => el("li", {}, el("a", { href: `${of.path}/${name}` }, text));
  const place = el("div", {});
  fill(room,
    el("section", { "aria-labelledby": "h-files" }, el("h2", { id: "h-files" }, "Files"), el("ul", { class: "files" },
      el("li", {}, el("a", { href: `${of.path}/report.html` }, "One page about the study"), " – ", el("a", { href: `${of.path}/report.html?download=1` }, "as a file")),
      file("export.csv", "All trials as CSV"), file("export.json", "All trials as JSON"), file("problem.toml", "The problem file"))),
    el("section", { "aria-labelledby": "h-log" }, el("h2", { id: "h-log" }, "Who did what"), log, pager),
    of.status.read_only ? null : before(),
    of.status.read_only ? null : el("section", { "aria-labelledby": "h-problem" }, el("h2", { id: "h-problem" }, "The problem"), place),
    of.status.read_only ? null : el("section", { "aria-labelledby": "h-whole" }, el("h2", { id: "h-whole" }, "The study"),
      el("div", { class: "row" },
        el("button", { class: "button quiet", type: "button", onclick: copy }, "Copy…"),
        el("button", { class: "button quiet", type: "button", onclick: rename }, "Rename…"),
        el("button", { class: "button danger", type: "button", onclick: remove }, "Delete…"))));
  const change = el("button", { class: "button quiet", type: "button", onclick: () => openEditor(place, change) }, "Change the problem file");
  fill(place, el("p", { class: "soft" }, "Nodes and actions can be added and ranges changed; what was measured stays."), change);
}

/** Measurements from before: a table from a file or pasted, taken as a whole or not at all. */
function before() {
  const area = el("textarea", { id: "rows", class: "code", rows: "6", spellcheck: "false", wrap: "off", "aria-describedby": "rows-hint", placeholder: [...study.problem.actions.map((action) => action.name), ...study.problem.nodes.flatMap(slots)].join(",") });
  const file = el("input", { id: "rows-file", type: "file", accept: ".csv,text/csv,text/plain", onchange: async () => { if (file.files[0]) area.value = await file.files[0].text(); } });
  const neutral = el("input", { id: "rows-neutral", type: "checkbox" });
  const known = el("select", { id: "rows-known" }, [["refuse", "are a mistake: add nothing"], ["skip", "are left out"], ["take", "are repeated measurements"]].map(([value, text]) => el("option", { value }, text)));
  const said = el("div", { role: "status" });
  const add = async (event) => {
    event.preventDefault();
    try {
      const { added, there, skipped, note } = await api(`${study.path}/add`, { method: "POST", body: { csv: area.value, neutral: neutral.checked, known: known.value } });
      const also = [there ? `${there} were there already` : null, skipped ? `${skipped} of trials without measurements were left out` : null, note].filter(Boolean);
      fill(said, el("p", { class: "fine" }, `✓ ${added} ${added === 1 ? "row" : "rows"} added${also.length ? `; ${also.join(", ")}` : ""}.`));
      area.value = "";
      file.value = "";
      await refresh();
    } catch (error) {
      fill(said, failed(error));
    }
  };
  return el("section", { "aria-labelledby": "h-rows" }, el("h2", { id: "h-rows" }, "Measurements from before"),
    el("form", { onsubmit: add },
      el("p", { id: "rows-hint", class: "soft" }, "A table as CSV: a line of column names (actions and nodes), then a line for every experiment; empty where nothing was measured."),
      el("div", { class: "field" }, el("label", { for: "rows-file" }, "From a file"), file),
      el("div", { class: "field" }, el("label", { for: "rows" }, "The table"), area),
      el("div", { class: "row" }, el("label", { class: "check", for: "rows-neutral" }, neutral, " Actions without a value were neutral"), el("div", { class: "field" }, el("label", { for: "rows-known" }, "Rows that the study has already"), known)),
      el("button", { class: "button", type: "submit" }, "Add the rows"), said));
}

async function openEditor(place, button) {
  try {
    const { toml, event } = await api(`${study.path}/problem`);
    editEvent = event;
    let valid = true;
    edit = editor(toml, (result) => { valid = result.valid; });
    const said = el("div", {});
    const save = el("button", { class: "button", type: "button", onclick: async () => {
      try {
        if (!valid) throw Object.assign(new Error("The problem file has mistakes."), { hint: "They are listed above." });
        await api(`${study.path}/problem`, { method: "PUT", body: { problem: edit.text, event: editEvent } });
        toast("The study goes on with the changed problem.");
        location.reload();
      } catch (error) {
        fill(said, failed(error), error.status === 409 ? el("button", { class: "link", type: "button", onclick: async () => { editEvent = (await api(`${study.path}/problem`)).event; fill(said, el("p", { class: "note" }, "Look at the log for what happened, then save again.")); } }, "I have seen what happened") : null);
      }
    } }, "Go on with this");
    button.remove();
    fill(place, edit.root, el("div", { class: "row" }, save), said);
  } catch (error) {
    fill(place, failed(error));
  }
}

export async function update() {
  try {
    const found = await api(`${study.path}/log?per=50&page=${page}`);
    fill(log, el("ol", { class: "log", reversed: true }, found.events.map((one) => el("li", { value: String(one.event) }, when(one.at), " ", el("b", {}, one.who ?? "somebody"), ` ${one.words}`))));
    const last = Math.max(1, Math.ceil(found.total / 50));
    const go = (to, text) => el("button", { class: "button quiet", type: "button", disabled: to < 1 || to > last, onclick: () => { page = to; update(); } }, text);
    fill(pager, last > 1 ? [go(page - 1, "Newer"), el("span", {}, `Page ${page} of ${last}`), go(page + 1, "Older")] : null);
  } catch (error) {
    fill(log, failed(error));
  }
}

async function another(title, text, button, verb) {
  const input = el("input", { id: "new-name", value: verb === "copy" ? `${study.name} copy` : study.name, required: true, maxlength: "200", autocomplete: "off" });
  const to = await ask(title, el("div", { class: "field" }, el("p", {}, text), el("label", { for: "new-name" }, "New name"), input), button, { value: () => input.value.trim() });
  if (!to) return;
  try {
    await api(`${study.path}/${verb}`, { method: "POST", body: { to } });
    location.href = studyPage(to);
  } catch (error) {
    toast(`${error.message} ${error.hint ?? ""}`, "bad");
  }
}

const copy = () => another("Copy the study", "The copy has everything that ever happened to this one; from there they go their own ways.", "Copy", "copy");
const rename = () => another("Rename the study", "Whoever works with it goes on working with it.", "Rename", "rename");

async function remove() {
  const input = el("input", { id: "sure-name", required: true, autocomplete: "off" });
  const typed = await ask("Delete the study", el("div", { class: "field" }, el("p", {}, "Everything that was measured goes with it, and cannot be brought back."), el("label", { for: "sure-name" }, `Type its name, ${study.name}`), input), "Delete for good", { danger: true, value: () => input.value });
  if (typed === null) return;
  try {
    await api(study.path, { method: "DELETE", body: { study: typed } });
    location.href = "/";
  } catch (error) {
    toast(`${error.message} ${error.hint ?? ""}`, "bad");
  }
}

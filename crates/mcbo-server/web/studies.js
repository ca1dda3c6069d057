// The list of studies.
import { api, begin, byId, el, failed, fill, listen, number, sentence, studyPage, studyPath, table, when } from "./common.js";

begin();
const list = byId("list");
let readOnly = false;

function empty() {
  return el("div", { class: "empty" },
    el("h2", {}, "No studies yet"),
    el("p", {}, "A study keeps everything: what to do next and why, what was measured, and what the model has learned from it. ",
      readOnly ? "" : "Begin one from an example; it takes a minute."),
    readOnly ? null : el("p", {}, el("a", { class: "button", href: "/new" }, "Begin the first study")));
}

function state(study) {
  const parts = [`${study.complete} measured`];
  if (study.pending) parts.push(`${study.pending} under way`);
  if (study.failed) parts.push(`${study.failed} failed`);
  return parts.join(", ");
}

async function show() {
  try {
    const studies = await api("/api/studies");
    studies.sort((a, b) => (a.changed < b.changed ? 1 : -1));
    if (studies.length === 0) return fill(list, empty());
    const more = studies.map(() => ({ goal: el("span", { class: "soft" }), best: el("span", {}) }));
    fill(list, table("Studies", ["Study", "Goal", "Trials", "Best measured", "Last change"], studies.map((study, place) => [
      el("a", { href: studyPage(study.study) }, study.study), more[place].goal, state(study), more[place].best, when(study.changed)])));
    // What takes longer comes after.
    for (const [place, study] of studies.slice(0, 60).entries()) {
      const status = await api(studyPath(study.study)).catch(() => null);
      if (!status) continue;
      more[place].goal.textContent = sentence(status.objective).replace(/\.$/, "");
      const [verb, node] = [status.objective.split(" ")[0], status.objective.split(" ").slice(1).join(" ")];
      const best = status.best && (verb === "minimize" ? -status.best.reward : status.best.reward);
      more[place].best.textContent = status.best ? `${node} = ${number(best)} (trial ${status.best.trial})` : "–";
    }
  } catch (error) {
    fill(list, failed(error));
  } finally {
    list.removeAttribute("aria-busy");
  }
}

api("/api/about").then((about) => {
  readOnly = about.read_only;
  if (readOnly) byId("new").remove();
}).catch(() => {}).finally(show);
let known = null;
listen(null, (event) => { if (known !== null && event !== known) show(); known = event; });

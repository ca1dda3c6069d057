// One study: its parts behind tabs, kept up to date while one looks.
import { api, begin, byId, el, failed, fill, listen, number, studyPath, toast } from "./common.js";
import * as next from "./next.js";
import * as whatif from "./whatif.js";
import * as trials from "./trials.js";
import * as model from "./model.js";
import * as manage from "./manage.js";

const name = decodeURIComponent(location.pathname.split("/")[2]);
begin([name, location.pathname]);
document.title = `${name} – mcbo`;
byId("name").textContent = name;

/** What all parts know. */
export const study = { name, path: studyPath(name), status: null, problem: null, event: 0 };

const parts = [
  ["now", "Now", next],
  ["what-if", "What if", whatif],
  ["trials", "Trials", trials],
  ["model", "What was learned", model],
  ["manage", "Log and files", manage],
];
const rooms = new Map();

fill(byId("tabs"), el("ul", {}, parts.map(([id, title]) => el("li", {}, el("a", { href: `#${id}`, id: `tab-${id}` }, title)))));
for (const [id, title] of parts) {
  const room = el("section", { id: `part-${id}`, hidden: true, "aria-label": title });
  rooms.set(id, { room, seen: -1, begun: false });
  byId("parts").append(room);
}

function here() {
  const asked = location.hash.slice(1).split("/")[0];
  return parts.find(([id]) => id === asked) ?? parts[0];
}

/** Shows the part of the address, and what has changed of it since it was seen last. */
function show() {
  const [id, , part] = here();
  for (const [other] of parts) {
    rooms.get(other).room.hidden = other !== id;
    const tab = byId(`tab-${other}`);
    if (other === id) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (!study.status) return;
  const state = rooms.get(id);
  if (!state.begun) {
    state.begun = true;
    part.begin(study, state.room, { refresh });
  }
  if (state.seen !== study.event) {
    state.seen = study.event;
    // What takes long is not waited for: whoever asked goes on at once.
    part.update(study).catch((error) => toast(error.message, "bad"));
  }
}

function lead() {
  const { status } = study;
  const counts = [`${status.complete} measured`];
  for (const [count, what] of [[status.pending, "under way"], [status.partial, "not told in full"], [status.failed, "failed"], [status.voided, "taken out"], [status.corrected, "corrected"]]) {
    if (count) counts.push(`${count} ${what}`);
  }
  const goal = status.objective.charAt(0).toUpperCase() + status.objective.slice(1);
  fill(byId("lead"), el("b", {}, goal), `. ${counts.join(", ")}.`, status.spent !== null && status.spent !== undefined ? ` Spent so far:\u00a0${number(status.spent)}.` : "",
    status.read_only ? el("span", { class: "badge" }, "to look at only") : null);
}

let turn = 0;
/** Reads where the study stands, and shows it. */
export async function refresh() {
  const mine = ++turn;
  try {
    const status = await api(study.path);
    study.problem ??= (await api(`${study.path}/problem`)).problem;
    if (mine !== turn) return;
    study.status = status;
    study.event = status.event;
    lead();
    show();
  } catch (error) {
    if (error.status === 404) {
      fill(byId("gone"), el("h1", {}, "This study is not here"), el("p", { class: "lead" }, `There is no study “${name}”. It may have been renamed or deleted.`), el("p", {}, el("a", { class: "button", href: "/" }, "All studies")));
      byId("gone").hidden = false;
      byId("study").hidden = true;
    } else if (!study.status) {
      fill(byId("lead"), failed(error));
    } else {
      toast(`${error.message} ${error.hint ?? ""}`, "bad");
    }
  }
}

addEventListener("hashchange", show);
await refresh();
listen(name, (event) => { if (event === null || event !== study.event) refresh(); });

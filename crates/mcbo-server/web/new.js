// A new study: an example or a drawn graph, made one's own, with the checker's messages as one types.
import { Failure, api, ask, begin, byId, el, failed, fill, studyPage } from "./common.js";
import { editor } from "./forms.js";

begin(["New study", "/new"]);
const preview = byId("preview");
let valid = false;
let untouched = "";

function checked(result) {
  valid = result.valid;
  if (!result.valid) {
    const title = preview.querySelector("h3");
    if (title) title.textContent = "What it said when it was valid last";
    return;
  }
  const svg = document.importNode(new DOMParser().parseFromString(result.graph, "image/svg+xml").documentElement, true);
  svg.removeAttribute("height");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `The graph: ${result.problem.nodes.map((node) => (node.parents.length ? `${node.parents.join(" and ")} to ${node.name}` : node.name)).join(", ")}`);
  fill(preview, el("h3", {}, "What it says"), el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "The graph" }, svg));
}

const edit = editor("", checked);
byId("editor").append(edit.root);

/** Replaces the text, unless something of one's own would be lost. */
async function use(text) {
  if (edit.text.trim() !== "" && edit.text !== untouched) {
    const sure = await ask("Replace what you wrote?", el("p", {}, "The problem file has changes of yours."), "Replace it", { danger: true });
    if (!sure) return;
  }
  untouched = text;
  edit.set(text);
}

function card(name, about, act) {
  return el("button", { type: "button", class: "choice", onclick: act }, el("b", {}, name), el("span", {}, about));
}

async function drawn() {
  const area = el("textarea", { class: "code", rows: "10", "aria-label": "The graph", placeholder: "digraph { dose -> soil -> yield }", spellcheck: "false" });
  const text = await ask("A graph that is drawn already", [el("p", {}, "Paste it as DOT, dagitty or GML. Ranges and the goal are for you to fill in."), area], "Take its arrows", { value: () => area.value });
  if (!text) return;
  try {
    await use((await api("/api/drawn", { method: "POST", body: { graph: text } })).toml);
  } catch (error) {
    fill(byId("problem-error"), failed(error));
  }
}

try {
  const templates = await api("/api/templates");
  fill(byId("templates"), templates.map((one) => card(one.name, one.about, () => use(one.toml))), card("drawn graph", "Arrows from a graph in DOT, dagitty or GML", drawn));
  await use(templates[0].toml);
} catch (error) {
  fill(byId("templates"), failed(error));
}

byId("new").addEventListener("submit", async (event) => {
  event.preventDefault();
  const place = byId("problem-error");
  fill(place);
  try {
    if (!valid) throw new Failure(400, "The problem file has mistakes.", "They are listed below it.");
    const [seed, strategy, aim] = ["seed", "strategy", "aim"].map((id) => byId(id).value.trim());
    if (!/^\d{1,15}$/.test(seed)) throw new Failure(400, "The seed is not a whole number.", "Any from 0 on will do.");
    const body = { study: byId("name").value.trim(), problem: edit.text, seed: Number(seed), strategy };
    if (aim) body.aim = aim;
    const { study } = await api("/api/studies", { method: "POST", body });
    location.href = studyPage(study);
  } catch (error) {
    fill(place, failed(error));
  }
});

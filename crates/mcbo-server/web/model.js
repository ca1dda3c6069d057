// What was learned: what matters, how far to trust it, what speaks against the graph, all trials at once.
import { api, el, failed, figure, fill, glued, number, percent, picture, sentence, table, waiting } from "./common.js";
import { inPage } from "./forms.js";

let study, places, anyway = false;

export function begin(of, room) {
  study = of;
  const part = (id, title) => {
    const place = el("div", {});
    return [place, el("section", { "aria-labelledby": id }, el("h2", { id }, title), place)];
  };
  const [effects, one] = part("h-effects", "What matters");
  const [trust, two] = part("h-trust", "How far the model can be trusted");
  const [doubts, three] = part("h-doubts", "What the data say against the graph");
  const [parallel, four] = part("h-parallel", "All trials at once");
  places = { effects, trust, doubts, parallel };
  fill(room, one, two, three, four);
}

export async function update() {
  const { status } = study;
  if (status.rows === 0) {
    fill(places.effects, el("p", { class: "empty" }, "Nothing was measured yet, so nothing was learned."));
    return [places.trust, places.doubts, places.parallel].forEach((place) => fill(place));
  }
  if (!status.quick && !anyway) {
    return fill(places.effects, el("p", {}, "The model of a study with so many trials or nodes takes a while."), el("button", { class: "button quiet", type: "button", onclick: () => { anyway = true; update(); } }, "Fit it now"));
  }
  await Promise.all([into(places.effects, effects), into(places.trust, trust), into(places.parallel, parallel)]);
  await into(places.doubts, doubts);
}

async function into(place, make) {
  if (!place.hasChildNodes()) fill(place, waiting("Looking at the model…"));
  const mine = study.event;
  try {
    const made = await make();
    if (mine === study.event) fill(place, made);
  } catch (error) {
    fill(place, failed(error));
  }
}

const query = () => (anyway ? "?anyway=1" : "");

async function effects() {
  const found = await api(`${study.path}/effects${query()}`);
  const goal = study.problem.objective.node;
  const largest = Math.max(1e-300, ...found.actions.map((one) => one.effect), ...found.arrows.map((one) => one.effect));
  const meter = (share) => {
    const inner = el("span", {});
    inner.style.width = `${100 * share}%`;
    return el("span", { class: "meter", "aria-hidden": "true" }, inner);
  };
  const cells = (one) => [meter(one.effect / largest), number(one.effect, 4), `${number(one.lower, 4)} to ${number(one.upper, 4)}`];
  const blame = found.unknown.filter((one) => one.share >= 0.01).slice(0, 8);
  return [
    el("p", {}, `Effect: how far the expected ${goal} goes up and down when one thing goes through its range, the rest as recommended.`),
    el("div", { class: "columns" },
      found.actions.length ? table("Actions by their effect", ["Action", "", "Effect", "Its 90 % bounds", `Best ${goal} at`], found.actions.map((one) => [one.name, ...cells(one), bestAt(one)]), { numeric: [2, 3, 4] }) : null,
      found.arrows.length ? table("Arrows by their effect", ["Arrow", "", "Effect", "Its 90 % bounds"], found.arrows.slice(0, 20).map((one) => [`${one.from} → ${one.to}`, ...cells(one)]), { numeric: [2, 3] }) : null),
    blame.length ? el("p", {}, `What is not known of ${goal} there is to blame on: ${blame.map((one) => `${one.node} (${percent(one.share)})`).join(", ")}.`) : null,
  ];
}

function bestAt(effect) {
  return typeof effect.best === "string" ? effect.best : number(effect.best, 4);
}

async function trust() {
  const found = await api(`${study.path}/trust${query()}`);
  const pictures = el("div", {});
  const details = el("details", {}, el("summary", {}, "Pictures of it"), pictures);
  details.addEventListener("toggle", async () => {
    if (!details.open || pictures.hasChildNodes()) return;
    const nodes = [...new Set(found.nodes.map((one) => one.name.replace(/\[\d+\]$/, "")))];
    for (const node of nodes) {
      const address = `${study.path}/pictures/calibration.svg?node=${encodeURIComponent(node)}`;
      await picture(address).then((svg) => pictures.append(figure(svg, address))).catch(() => {});
    }
  });
  return [el("p", {}, glued(found.words)),
    found.nodes.length ? table("How well every node foretells", ["Node", "Trials", "Within 90 % bounds", ""], found.nodes.map((one) => [one.name, String(one.trials), percent(one.share), sentence(one.verdict)]), { numeric: [1, 2] }) : null,
    found.nodes.length ? details : null];
}

async function doubts() {
  const found = await api(`${study.path}/doubts${query()}`);
  if (found.doubts.length === 0) return el("p", {}, "Nothing: what was measured does not contradict the arrows, the formulas and the noise, as far as so many trials can tell.");
  return found.doubts.map((one) => el("p", { class: "note" }, inPage(one.message, study.problem)));
}

async function parallel() {
  const address = `${study.path}/pictures/parallel.svg${query()}`;
  return figure(await picture(address, "Every trial as a line through all that was done and measured"), address);
}

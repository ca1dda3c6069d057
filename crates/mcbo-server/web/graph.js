// The graph as the way in: a node opens its mechanism.
import { api, el, failed, figure, fill, number, percent, picture, waiting } from "./common.js";

let study, drawing, panel, chosen = null, at = 0, drawn = -1;

export function begin(of, room) {
  study = of;
  drawing = el("div", { class: "graph" });
  panel = el("div", { class: "card mechanism", hidden: true });
  fill(room, drawing, panel);
}

/** Makes the nodes of a graph choosable, by mouse and keyboard. */
export function choosable(svg, choose) {
  svg.setAttribute("role", "group");
  for (const node of svg.querySelectorAll(".g-node")) {
    const name = node.dataset.name;
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    // Its name is what is written in its box.
    node.addEventListener("click", () => choose(name));
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(name); }
    });
  }
  return svg;
}

export async function update(of) {
  study = of;
  const mine = study.event;
  try {
    if (drawn < 0) {
      // At once without the model, then with it.
      const bare = await picture(`${study.path}/pictures/graph.svg?model=no`, "The graph");
      fill(drawing, figure(choosable(bare, open), null));
      drawn = 0;
    }
    const address = `${study.path}/pictures/graph.svg`;
    const svg = await picture(address, "The graph of causes and effects");
    if (mine !== study.event) return;
    const focused = document.activeElement?.closest?.(".g-node")?.dataset.name;
    fill(drawing, figure(choosable(svg, open), address));
    mark();
    if (focused) drawing.querySelector(`.g-node[data-name="${CSS.escape(focused)}"]`)?.focus();
  } catch (error) {
    fill(drawing, failed(error));
  }
  if (chosen) await show();
}

function mark() {
  for (const node of drawing.querySelectorAll(".g-node")) node.classList.toggle("chosen", node.dataset.name === chosen);
}

async function open(name) {
  chosen = name;
  at = 0;
  mark();
  panel.hidden = false;
  await show();
  panel.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

/** Closes the mechanism; whoever came from its node is back there. */
function close() {
  const node = drawing.querySelector(`.g-node[data-name="${CSS.escape(chosen)}"]`);
  chosen = null;
  panel.hidden = true;
  mark();
  node?.focus();
}

/** Replaces what the panel says; whatever had the focus has it again. */
function say(...content) {
  const held = panel.contains(document.activeElement) ? document.activeElement.localName : null;
  fill(panel, ...content);
  if (held) panel.querySelector(held)?.focus();
}

async function show() {
  const node = study.problem.nodes.find((one) => one.name === chosen);
  const head = () => [
    el("button", { class: "close", type: "button", "aria-label": "Close", onclick: close }, "×"),
    el("h3", {}, chosen, node?.unit ? el("small", { class: "soft" }, ` ${node.unit}`) : null),
    el("p", { class: "soft" }, node.kind === "formula" ? "A known formula: it is used as it is." : node.parents.length + node.actions.length === 0 ? "Depends on nothing in the graph: a context." : `Depends on ${[...node.parents, ...node.actions].join(", ")}.`),
  ];
  if (study.status.rows === 0) return say(head(), el("p", {}, "Nothing was measured yet, so nothing is known of it."));
  if (!panel.querySelector("figure")) say(head(), waiting("Looking at the model…"));
  const mine = study.event;
  try {
    const best = await api(`${study.path}/best`);
    const summaries = best.nodes.filter((one) => one.name === chosen || one.name.startsWith(`${chosen}[`));
    const facts = summaries.map((one) => el("p", {}, one.name !== chosen ? el("b", {}, `${one.name}: `) : null,
      one.form ? `${one.form.charAt(0).toUpperCase()}${one.form.slice(1)}. ` : "",
      one.explained === null || one.explained === undefined ? "" : `Foretells ${percent(one.explained)} of the variation of trials it has not seen. `,
      `Learned from ${one.rows} ${one.rows === 1 ? "row" : "rows"}; unsure by ${number(one.uncertainty, 3)}, noise ${number(one.noise, 3)}.`));
    const address = `${study.path}/pictures/mechanism.svg?node=${encodeURIComponent(chosen)}&at=${at}`;
    const svg = await picture(address).catch((error) => (error.status === 404 ? null : Promise.reject(error)));
    if (mine !== study.event) return;
    const select = el("select", { "aria-label": "Held at", onchange: () => { at = Number(select.value); show(); } },
      el("option", { value: "0" }, "what is recommended"),
      Array.from({ length: Math.min(study.status.trials, 500) }, (_, place) => el("option", { value: String(place + 1), selected: at === place + 1 }, `trial ${place + 1}`)));
    say(head(), facts, svg ? [el("label", { class: "inline" }, "Everything else held at ", select), figure(svg, address)] : el("p", { class: "soft" }, "There is no curve to show: it depends on nothing, or nothing depends on it."));
  } catch (error) {
    say(head(), failed(error));
  }
}

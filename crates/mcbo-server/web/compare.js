// Two studies side by side.
import { api, begin, byId, el, failed, figure, fill, number, picture, studyPage, studyPath, waiting } from "./common.js";

begin(["Compare", "/compare"]);
const pick = [byId("one"), byId("other")];

async function side(name) {
  const path = studyPath(name);
  const root = el("section", { class: "card", "aria-label": name }, el("h2", {}, el("a", { href: studyPage(name) }, name)), waiting("Reading…"));
  (async () => {
    try {
      const status = await api(path);
      const [verb, ...node] = status.objective.split(" ");
      const sign = verb === "minimize" ? -1 : 1;
      const best = status.rows > 0 && status.quick ? await api(`${path}/best`) : null;
      const reward = best?.recommendation.reward;
      const facts = [["Goal", status.objective], ["Proposed by", `${status.strategy}, seed ${status.seed}`], ["Trials", `${status.trials} (${status.complete} measured)`],
        ["Best measured", status.best ? `${node.join(" ")} = ${number(sign * status.best.reward)} in trial ${status.best.trial}` : "–"],
        ["Recommended", best ? best.words.doing : "–"],
        ["Expected of it", reward ? `${number(sign * reward.mean)} (${[sign * reward.lower, sign * reward.upper].sort((a, b) => a - b).map((value) => number(value)).join(" to ")})` : "–"],
        ["Left to gain", best ? (best.certificate.gap === null ? "nobody knows" : `at most ${number(best.certificate.gap, 3)}, as far as a search finds`) : "–"]];
      root.querySelector(".waiting").remove();
      root.append(el("dl", { class: "facts" }, facts.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)])));
      for (const kind of ["history", "graph"]) {
        const address = `${path}/pictures/${kind}.svg`;
        root.append(figure(await picture(address), address));
      }
    } catch (error) {
      root.querySelector(".waiting")?.remove();
      root.append(failed(error));
    }
  })();
  return root;
}

async function show() {
  const names = pick.map((select) => select.value).filter(Boolean);
  history.replaceState(null, "", `/compare?${new URLSearchParams(names.map((name) => ["study", name]))}`);
  fill(byId("pair"), await Promise.all(names.map(side)));
}

try {
  const studies = (await api("/api/studies")).map((study) => study.study);
  const wanted = new URLSearchParams(location.search).getAll("study");
  if (studies.length === 0) fill(byId("pair"), el("p", { class: "empty" }, "There are no studies to compare."));
  else {
    pick.forEach((select, place) => {
      fill(select, studies.map((name) => el("option", { value: name }, name)));
      select.value = wanted[place] ?? studies[Math.min(place, studies.length - 1)];
      select.addEventListener("change", show);
    });
    await show();
  }
} catch (error) {
  fill(byId("pair"), failed(error));
}

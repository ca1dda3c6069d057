// Contexts, choices, steps, limits and costs in the browser; measurements from before; who proposes, what for, and the seed.
import { browser, check, looks, page, url } from "./kit.mjs";

const context = await browser();
const one = await page(context);
const problem = `
maximize = "growth"
[nodes.quality]
context = true
unit = "g/l"
[nodes.acid]
parents = ["quality"]
actions = ["feed"]
limit = { below = 4.0, probability = 0.9 }
[nodes.growth]
parents = ["acid", "quality"]
actions = ["strain"]
[actions.feed]
range = [0, 10]
step = 0.5
cost = { fixed = 3, per_unit = 0.2 }
[actions.strain]
choices = ["wild", "mutant"]
`;
// What comes of it: the mutant is better, and too much feed is sour.
const grow = ({ quality, feed, strain }) => {
  const acid = 0.5 * feed + 0.3 * quality;
  return { acid, growth: quality + 2 * acid - 0.3 * acid ** 2 + (strain === "mutant" ? 1 : 0) };
};

await one.goto(`${url}new`);
await one.getByText("The problem is valid").waitFor();
await one.getByRole("textbox", { name: "Problem file" }).fill(problem);
await one.getByText("The problem is valid").waitFor();
await one.getByLabel("Name of the study").fill("yeast");
await one.getByText("More choices").click();
await one.getByLabel("What the trials are for").selectOption("find");
await one.getByLabel("Seed").fill("seven");
await one.getByRole("button", { name: "Begin the study" }).click();
await one.getByText("The seed is not a whole number.").waitFor();
await one.getByLabel("Seed").fill("7");
await looks(one, "new-choices");
await one.getByRole("button", { name: "Begin the study" }).click();
await one.waitForURL("**/studies/yeast");
const status = await one.evaluate(async () => (await fetch("/api/studies/yeast")).json());
check(status.seed === 7 && status.strategy === "mcbo", "the study has its seed");

// Measurements from before: what is wrong is said line by line, and nothing is taken until all is right.
await one.goto(`${url}studies/yeast#manage`);
const table = one.getByLabel("The table");
await table.fill("feed,strain,quality,acid,growth\n1,wild,0.5,0.65,2.1\n2,wilde,0.6,1.2,3\n3,mutant,0.7,lots,4\n");
await one.getByRole("button", { name: "Add the rows" }).click();
await one.getByText("2 bad rows, so none was added").waitFor();
await one.getByText(/Line 3: .*wilde/).waitFor();
await one.getByText(/Line 4: .*lots.*not a number/).waitFor();
await looks(one, "rows-refused");
let rows = "feed,strain,quality,acid,growth\n";
for (let k = 0; k < 8; k++) {
  const did = { feed: (k * 2.5) % 10, strain: k % 2 ? "mutant" : "wild", quality: 0.2 + 0.1 * k };
  const { acid, growth } = grow(did);
  rows += `${did.feed},${did.strain},${did.quality.toFixed(2)},${acid.toFixed(3)},${growth.toFixed(3)}\n`;
}
await one.getByLabel("From a file").setInputFiles({ name: "past.csv", mimeType: "text/csv", buffer: Buffer.from(rows) });
await one.waitForFunction(() => document.querySelector("#rows").value.includes("mutant"));
await one.getByRole("button", { name: "Add the rows" }).click();
await one.getByText("8 rows added").waitFor();
check((await table.inputValue()) === "", "a table that was taken is gone from the form");
await table.fill(rows);
await one.getByRole("button", { name: "Add the rows" }).click();
await one.getByText("The study has 8 rows already, so none was added.").waitFor();
await one.getByLabel("Rows that the study has already").selectOption("skip");
await one.getByRole("button", { name: "Add the rows" }).click();
await one.getByText("0 rows added; 8 were there already").waitFor();

// With what is known beforehand: asked for, told by names, counted by costs and limits.
await one.getByRole("link", { name: "Now" }).click();
for (let round = 9; round < 12; round++) {
  const quality = Number((0.3 + 0.1 * (round - 8)).toFixed(1));
  await one.locator("form.ask").getByLabel("quality").fill(String(quality));
  await one.getByRole("button", { name: "Ask for the next experiment" }).click();
  const card = one.locator(`#trial-${round}`);
  await card.waitFor();
  const did = {};
  for (const entry of await card.locator(".doing > div").all()) did[await entry.locator("dt").innerText()] = await entry.locator("dd").innerText();
  check(["wild", "mutant"].includes(did.strain), `a choice has its name: ${did.strain}`);
  check((Number(did.feed) * 2) % 1 === 0, `a step is kept: ${did.feed}`);
  check((await card.getByLabel("quality").count()) === 0, "what was known is not asked for");
  if (round === 9) await looks(one, "context");
  const outcome = grow({ quality, feed: Number(did.feed), strain: did.strain });
  await card.getByLabel("acid").fill(outcome.acid.toFixed(3));
  await card.getByLabel("growth").fill(outcome.growth.toFixed(3));
  await card.getByRole("button", { name: "Save what was measured" }).click();
  await card.waitFor({ state: "detached" });
}
const trial = await one.evaluate(async () => (await fetch("/api/studies/yeast/trials/11")).json());
const kept = JSON.stringify(trial);
check(kept.includes('"given":{"quality":0.6}'), "the trial keeps what was known");
await one.getByText(/Spent so far:\s\d/).waitFor();
await one.getByText("It should give growth").waitFor();
await one.getByText(/acid/).first().waitFor();
await one.waitForTimeout(800);
await looks(one, "kinds");
const best = await one.evaluate(async () => (await fetch("/api/studies/yeast/best?given=quality=0.9")).json());
const text = JSON.stringify(best);
check(text.includes('"given":{"quality":0.9}') && text.includes('"limits":{"acid"'), "the recommendation is for what is given, and says how surely limits are kept");

// What if, with names and contexts.
await one.getByRole("link", { name: "What if" }).click();
await one.locator(".expect.goal .value").waitFor();
const before = await one.locator(".expect.goal .value").innerText();
await one.getByLabel("strain").selectOption((await one.getByLabel("strain").inputValue()) === "wild" ? "mutant" : "wild");
await one.waitForFunction((was) => document.querySelector(".expect.goal .value").innerText !== was, before);
check(true, "what to expect follows a choice");
await looks(one, "kinds-what-if");

// Nodes with names: known before, set, or only written down.
await one.goto(`${url}new`);
await one.getByText("The problem is valid").waitFor();
await one.getByRole("textbox", { name: "Problem file" }).fill(`
maximize = "gloss"
[nodes.supplier]
choices = ["north", "south"]
context = true
[nodes.operator]
choices = ["ann", "bob"]
[nodes.resin]
choices = ["epoxy", "acrylic"]
do = true
[nodes.gloss]
parents = ["supplier", "resin", "operator"]
actions = ["heat"]
[actions.heat]
range = [0, 1]
`);
await one.getByText("The problem is valid").waitFor();
await one.getByLabel("Name of the study").fill("paint");
await one.getByRole("button", { name: "Begin the study" }).click();
await one.waitForURL("**/studies/paint");
for (let round = 1; round < 5; round++) {
  await one.locator("form.ask").getByLabel("supplier").selectOption(round % 2 ? "south" : "north");
  await one.getByRole("button", { name: "Ask for the next experiment" }).click();
  const card = one.locator(`#trial-${round}`);
  await card.waitFor();
  check((await card.getByLabel("supplier").count()) === 0, "what was known is not asked for");
  const form = card.locator("form.tell > .fields");
  await form.getByLabel("operator").selectOption("bob");
  if (await form.getByLabel("resin").count()) await form.getByLabel("resin").selectOption("epoxy");
  await form.getByLabel("gloss").fill(String(2 * round));
  if (round === 1) await looks(one, "names");
  await card.getByRole("button", { name: "Save what was measured" }).click();
  await card.waitFor({ state: "detached" });
}
const painted = JSON.stringify(await one.evaluate(async () => (await fetch("/api/studies/paint/trials/1")).json()));
check(painted.includes('"supplier":"south"') && painted.includes('"operator":"bob"'), "names are told and kept");
await one.getByRole("link", { name: "Trials" }).click();
await one.getByRole("cell", { name: "south" }).first().waitFor();
await one.getByRole("button", { name: "1", exact: true }).click();
await one.getByRole("dialog").getByLabel("operator").selectOption("ann");
await looks(one, "names-correct");
await one.getByRole("button", { name: "Correct" }).click();
await one.getByText("Trial 1 is put right.").waitFor();
await one.getByRole("cell", { name: "ann" }).first().waitFor();
await one.getByRole("link", { name: "What if" }).click();
await one.locator(".expect.goal .value").waitFor();
const unset = await one.locator(".expect.goal .value").innerText();
await one.getByLabel("supplier: given").check();
await one.getByRole("form", { name: "What is done" }).getByLabel("supplier", { exact: true }).selectOption("north");
await one.getByLabel("resin: set").check();
await one.waitForFunction((was) => document.querySelector(".expect.goal .value").innerText !== was, unset);
check((await one.locator(".expect").filter({ hasText: "operator" }).count()) === 0, "names have no expectation");
await looks(one, "names-what-if");
await one.goto(`${url}studies/yeast`);

// On paper: no buttons and no forms, and nothing wider than the sheet.
await one.getByRole("link", { name: "Now" }).click();
await one.getByText("It should give growth").waitFor();
await one.emulateMedia({ media: "print", colorScheme: "dark" });
const printed = await one.evaluate(() => ({
  buttons: [...document.querySelectorAll("button, form, .tabs, .top")].filter((each) => each.getClientRects().length).length,
  ground: getComputedStyle(document.body).backgroundColor,
}));
check(printed.buttons === 0 && printed.ground === "rgb(255, 255, 255)", "on paper there is no button and no dark ground");
await one.setViewportSize({ width: 794, height: 1123 });
check((await one.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, "it fits on the sheet");
await context.close();
console.log("the whole story");

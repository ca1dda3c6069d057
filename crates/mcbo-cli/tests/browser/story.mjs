// From an empty store to a recommendation, by mouse and keyboard; what others do appears; a conflict is shown.
import { browser, check, looks, page, url } from "./kit.mjs";

const context = await browser();
const one = await page(context);

// The process that is studied: what `mcbo init` describes.
let luck = 1;
const noise = () => { luck = (luck * 16807) % 2147483647; return luck / 2147483647 - 0.5; };
function brew({ sugar, hops }) {
  const water = 6 + noise();
  const mash = 0.5 * water + sugar + 0.1 * noise();
  const wort = 12 - 0.4 * mash + 0.2 * hops + 0.2 * noise();
  return { water, mash, wort, taste: 10 - 0.3 * (mash - 7) ** 2 - 0.2 * (wort - 14) ** 2 + 0.2 * noise() };
}

async function done(card) {
  const values = {};
  for (const entry of await card.locator(".doing > div").all()) values[await entry.locator("dt").innerText()] = Number((await entry.locator("dd").innerText()).replace("−", "-"));
  return values;
}

await one.goto(url);
await one.getByText("No studies yet").waitFor();
await looks(one, "empty");
await one.getByRole("link", { name: "Begin the first study" }).click();

// A mistake is said at its line, as one types.
await one.getByText("The problem is valid").waitFor();
await looks(one, "new");
const editor = one.getByRole("textbox", { name: "Problem file" });
const template = await editor.inputValue();
await editor.fill(template.replace(/maximize = .*/, 'maximize = "tasty"'));
await one.getByRole("button", { name: /Line \d+/ }).first().waitFor();
await looks(one, "new-mistake");
await one.getByLabel("Name of the study").fill("beer");
await one.getByRole("button", { name: "Begin the study" }).click();
await one.getByText("The problem file has mistakes.").waitFor();
check(true, "a problem with mistakes begins no study");
await editor.fill(template);
await one.getByText("The problem is valid").waitFor();
await one.getByRole("button", { name: "Begin the study" }).click();
await one.waitForURL("**/studies/beer");
await one.getByText("Nothing was tried yet").waitFor();
await looks(one, "study-empty");
await one.getByRole("textbox", { name: "You are" }).fill("Ada");
await one.getByRole("textbox", { name: "You are" }).press("Tab");

// By keyboard alone: ask, read, type, save.
for (let round = 0; round < 6; round++) {
  await one.getByRole("button", { name: "Ask for the next experiment" }).focus();
  await one.keyboard.press("Enter");
  const card = one.locator(".trial").last();
  await card.waitFor();
  check((await card.locator(".why").innerText()).startsWith("Why:"), `trial ${round + 1} says why`);
  const outcome = brew(await done(card));
  await card.getByLabel("water").focus();
  for (const name of ["water", "mash", "wort", "taste"]) {
    await one.keyboard.type(outcome[name].toFixed(3));
    if (name !== "taste") await one.keyboard.press("Tab");
  }
  if (round === 0) { await looks(one, "study-pending"); await card.getByLabel("taste").focus(); }
  await one.keyboard.press("Enter");
  await card.waitFor({ state: "detached" });
}
await one.getByText("It should give taste").waitFor();
check(true, "six trials by keyboard lead to a recommendation");
await one.locator("figure svg[role]").first().waitFor();
await one.waitForTimeout(800);
await looks(one, "study");

// The graph is the way in.
await one.locator('.g-node[data-name="taste"]').focus();
await one.keyboard.press("Enter");
await one.locator(".mechanism figure svg[role]").waitFor();
await looks(one, "mechanism");
await one.locator(".mechanism select").selectOption("2");
await one.locator(".mechanism figure svg[role]").waitFor();

// What if: everything follows the sliders; "Ask for this" puts it under way.
await one.getByRole("link", { name: "What if" }).click();
const goal = one.locator(".expect.goal .value");
await goal.waitFor();
const before = await goal.innerText();
const slider = one.getByLabel("sugar", { exact: true });
await slider.focus();
for (let press = 0; press < 12; press++) await one.keyboard.press("ArrowRight");
await one.waitForFunction((text) => document.querySelector(".expect.goal .value").innerText !== text, before);
check(true, "what to expect follows the slider, by keyboard");
await looks(one, "what-if");
const times = await one.evaluate(async () => {
  const took = [];
  for (let n = 0; n < 20; n++) {
    const begun = performance.now();
    await (await fetch(`/api/studies/beer/predict?doing=sugar=${2 + n / 10}&doing=hops=20`)).json();
    took.push(performance.now() - begun);
  }
  return took.sort((a, b) => a - b);
});
console.log(`what if: median ${times[10].toFixed(1)} ms`);
await one.getByRole("button", { name: "Ask for this" }).click();
const mine = one.locator("#trial-7");
await mine.getByText("asked for by hand").waitFor();

// Told in parts, with what was really done.
await mine.getByText("Something else was done").click();
await mine.locator('input[name="hops"]').fill("21.5");
await mine.getByLabel("water").fill("6.1");
await mine.getByRole("button", { name: "Save what was measured" }).click();
await one.getByRole("heading", { name: "Not told in full" }).waitFor();
const rest = one.locator("form.card.tell");
for (const [name, value] of [["mash", "6.9"], ["wort", "13.6"], ["taste", "9.8"]]) await rest.getByLabel(name).fill(value);
await rest.getByRole("button", { name: "Save" }).click();
await rest.waitFor({ state: "detached" });
check(true, "a trial is told in parts, with what was really done");

// Somebody else, in another browser: what one types stays, what the other does appears, a conflict is shown.
const elsewhere = await browser();
const two = await page(elsewhere);
await two.goto(`${url}studies/beer`);
await two.getByRole("textbox", { name: "You are" }).fill("Bob");
await one.getByRole("button", { name: "Ask for the next experiment" }).click();
await one.locator("#trial-8").waitFor();
const begun = Date.now();
await two.locator("#trial-8").waitFor();
check(Date.now() - begun < 10000, `what Ada asked for appears at Bob's after ${Date.now() - begun} ms`);
await one.locator("#trial-8").getByLabel("taste").fill("7.7");
await two.locator("#trial-8").getByLabel("taste").fill("8.8");
await two.locator("#trial-8").getByRole("button", { name: "Save what was measured" }).click();
await one.locator("#trial-8").getByText("is not under way any more").waitFor();
check((await one.locator("#trial-8").getByLabel("taste").inputValue()) === "7.7", "what Ada typed is still there, and she is told that Bob was quicker");
await looks(one, "conflict");

// The table: correct, and a correction of what somebody else has corrected meanwhile is refused.
await one.goto(`${url}studies/beer#trials`);
await one.getByRole("button", { name: "8", exact: true }).click();
await one.locator("dialog").getByLabel("taste").fill("8.1");
await two.goto(`${url}studies/beer#trials`);
await two.getByRole("button", { name: "8", exact: true }).click();
await two.locator("dialog").getByLabel("taste").fill("8.6");
await looks(two, "correct");
await two.locator("dialog").getByLabel("Why, for the log").fill("<b>mistyped</b>");
await two.getByRole("button", { name: "Correct", exact: true }).click();
await two.locator("dialog").waitFor({ state: "hidden" });
await one.getByRole("button", { name: "Correct", exact: true }).click();
await one.getByText("was changed meanwhile").waitFor();
check(true, "a correction that would overwrite another one is refused");
await one.getByRole("button", { name: /Show it as it is now/ }).click();
await one.getByRole("button", { name: "Take it out" }).click();
await one.locator("dialog").waitFor({ state: "hidden" });
await one.getByText("taken out").first().waitFor();
await one.locator("th", { hasText: "taste" }).getByRole("button").click();
await one.locator('th[aria-sort="descending"]', { hasText: "taste" }).waitFor();
await looks(one, "trials");

await one.getByRole("link", { name: "What was learned" }).click();
await one.getByText("Effect: how far").waitFor();
await one.getByText("Every trial was foretold").waitFor();
await one.locator("#part-model figure svg[role]").first().waitFor();
await one.locator("#h-doubts ~ div :is(.note, p:not(.waiting))").first().waitFor();
await one.waitForFunction(() => !document.querySelector("#part-model .waiting"));
await one.getByText("Pictures of it").click();
await one.locator("#h-trust ~ div figure").first().waitFor();
await looks(one, "model");

await one.getByRole("link", { name: "Log and files" }).click();
await one.getByText("<b>mistyped</b>").waitFor();
check((await one.locator(".log b b").count()) === 0, "what users write stays text");
await looks(one, "log");
const file = one.waitForEvent("download");
await one.getByRole("link", { name: "All trials as CSV" }).click();
check((await (await file).path()) !== null, "the data can be downloaded");
await one.getByRole("button", { name: "Copy…" }).click();
await one.getByLabel("New name").fill("beer & more/β");
await one.getByRole("button", { name: "Copy", exact: true }).click();
await one.getByRole("heading", { name: "beer & more/β" }).waitFor();
await one.getByText("It should give taste").waitFor();
await one.goto(`${url}compare`);
await one.locator(".pair figure svg[role]").nth(3).waitFor();
await looks(one, "compare");
await one.goto(url);
await one.getByRole("link", { name: "beer & more/β" }).waitFor();
await one.getByText("taste = ").first().waitFor();
await looks(one, "list");
await one.goto(`${url}studies/${encodeURIComponent("beer & more/β")}#manage`);
await one.getByRole("button", { name: "Delete…" }).click();
await one.locator("dialog input").fill("beer & more/β");
await one.getByRole("button", { name: "Delete for good" }).click();
await one.getByRole("link", { name: "beer", exact: true }).waitFor();
await one.goto(`${url}studies/beer%20%26%20more%2F%CE%B2`);
await one.getByText("This study is not here").waitFor();
await looks(one, "gone");
await one.goto(`${url}api/studies/beer/report.html`);
await one.getByText("What to settle for, and when to stop").first().waitFor();
await looks(one, "report");
await context.close();
await elsewhere.close();
console.log("the whole story");

// The whole story by keyboard alone: from an empty store to a recommendation, a question, a correction and a copy. Nothing is clicked, nothing is focused but by keys.
import { browser, check, page, url } from "./kit.mjs";

const context = await browser();
const one = await page(context);
const press = (key) => one.keyboard.press(key);
const type = (text) => one.keyboard.type(text);
/** Says what has the focus as a screen reader would name it: by its label, its content, its name. */
const here = () => one.evaluate(() => {
  const at = document.activeElement;
  const label = at.getAttribute("aria-label") ?? at.labels?.[0]?.innerText ?? at.dataset?.name ?? at.innerText ?? at.textContent ?? "";
  return `${at.getAttribute("role") ?? at.tagName.toLowerCase()}: ${label.trim().replace(/\s+/g, " ")}`;
});
/** Goes on by Tab until something has the focus; fails if it cannot be reached, or is not seen when it has it. */
async function to(wanted, key = "Tab") {
  const passed = [];
  for (let step = 0; step < 120; step++) {
    await press(key);
    const at = await here();
    passed.push(at);
    if (!wanted.test(at)) continue;
    const seen = await one.evaluate(() => {
      const box = document.activeElement.getBoundingClientRect();
      const style = getComputedStyle(document.activeElement);
      return { inside: box.bottom > 0 && box.top < innerHeight, ring: style.outlineStyle !== "none" || document.activeElement.matches(".g-node") };
    });
    if (!seen.inside || !seen.ring) throw new Error(`${at} has the focus and is not seen: ${JSON.stringify(seen)}`);
    return at;
  }
  throw new Error(`${wanted} cannot be reached from ${passed.slice(0, 30).join(" | ")}`);
}

await one.goto(url);
await one.getByText("No studies yet").waitFor();
await press("Tab");
check((await here()) === "a: To the content", "the first step leads past the head of the page");
await to(/^a: Begin the first study/);
await press("Enter");
await one.getByText("The problem is valid").waitFor();
await to(/^textarea: Problem file/);
await press("Control+End");
const mistake = "\n[nodes.more]\nparents = [\"nothing\"]\n";
await type(mistake);
await one.getByRole("button", { name: /Line \d+/ }).first().waitFor();
await to(/^button: Line \d+/);
await press("Enter");
check((await here()).startsWith("textarea"), "a message leads to its line");
await press("Control+End");
for (const _ of mistake) await press("Backspace");
await one.getByText("The problem is valid").waitFor();
await to(/^input: Name of the study/);
await type("beer");
await press("Enter");
await one.waitForURL("**/studies/beer");
await one.getByText("Nothing was tried yet").waitFor();

let luck = 3;
const noise = () => { luck = (luck * 16807) % 2147483647; return luck / 2147483647 - 0.5; };
for (let round = 1; round <= 6; round++) {
  await to(/^button: Ask for the next experiment/);
  await press("Enter");
  await one.locator(`#trial-${round}`).waitFor();
  await one.waitForFunction((wanted) => document.activeElement.closest(wanted), `#trial-${round}`);
  if (round === 1) check(true, "whoever has asked is led to the answer");
  await to(/^input: water/);
  await type((6 + noise()).toFixed(2));
  for (const name of ["mash", "wort", "taste"]) {
    await press("Tab");
    check((await here()) === `input: ${name}`, `${name} follows`);
    await type((7 + round + noise()).toFixed(2));
  }
  await press("Enter");
  await one.locator(`#trial-${round}`).waitFor({ state: "detached" });
}
await one.getByText("It should give taste").waitFor();
check(true, "six trials lead to a recommendation");
await one.locator("figure .g-node").first().waitFor();
await one.waitForTimeout(1500);
await to(/^button: wort$/);
await press("Enter");
await one.locator(".mechanism figure svg[role]").waitFor();
await to(/^select: Held at/);
await press("ArrowDown");
await one.getByText("Everything else held at").waitFor();
await one.waitForTimeout(500);
await to(/^button: Close/, "Shift+Tab");
await press("Enter");
await one.locator(".mechanism").waitFor({ state: "hidden" });
check((await here()) === "button: wort", "who closes a mechanism is back at its node");

await to(/^a: What if/, "Shift+Tab");
await press("Enter");
await one.locator(".expect.goal .value").waitFor();
const before = await one.locator(".expect.goal .value").innerText();
await to(/^input: sugar/);
for (let k = 0; k < 10; k++) await press("ArrowLeft");
await one.waitForFunction((was) => document.querySelector(".expect.goal .value").innerText !== was, before);
await to(/^button: Ask for this/);
await press("Enter");
await one.locator("#trial-7").waitFor();
await to(/^summary: It could not be run/);
await press("Enter");
await to(/^input: Why/);
await type("no hops left");
await to(/^button: Mark as failed/);
await press("Enter");
await one.locator("#trial-7").waitFor({ state: "detached" });

await to(/^a: Trials/, "Shift+Tab");
await press("Enter");
await one.getByText("Page 1 of 1, 7 trials").waitFor();
await to(/^button: taste/);
await press("Enter");
await one.locator('th[aria-sort="descending"]', { hasText: "taste" }).waitFor();
check((await here()).startsWith("button: taste"), "a column that sorts keeps the focus");
await to(/^button: 3$/);
await press("Enter");
await one.locator("dialog h2").waitFor();
await to(/^input: taste/);
await press("Control+A");
await type("8.25");
await to(/^input: Why, for the log/);
await type("misread");
await press("Enter");
await one.locator("dialog").waitFor({ state: "hidden" });
await one.getByText("Trial 3 is put right").waitFor();
await to(/^button: 3$/);
await press("Enter");
await one.locator("dialog h2").waitFor();
await press("Escape");
await one.locator("dialog").waitFor({ state: "hidden" });
check((await here()) === "button: 3", "Escape leads back to where one was");

await to(/^a: Log and files/, "Shift+Tab");
await press("Enter");
await one.getByText("misread").waitFor();
await to(/^button: Copy…/);
await press("Enter");
await one.locator("dialog input").waitFor();
check((await here()).startsWith("input: New name"), "a dialog begins at its field");
await press("Control+A");
await type("beer 2");
await press("Enter");
await one.getByRole("heading", { name: "beer 2" }).waitFor();
await to(/^a: Studies/);
await press("Enter");
await one.waitForURL(url);
await one.getByRole("link", { name: "beer 2" }).waitFor();
await to(/^a: beer 2/);
await context.close();
console.log("the whole story");

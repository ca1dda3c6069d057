// A study of ten thousand trials: the first view and the pages of the table.
import { browser, check, page, url } from "./kit.mjs";

// Machines that test are busy, and the browser is then slower than what it shows: the server's answers are held to what is promised.
const first = 5000;
const answered = 200;
const context = await browser();
const one = await page(context);
const begun = Date.now();
await one.goto(`${url}studies/beer`);
await one.locator("#lead", { hasText: "10000 measured" }).waitFor();
const cold = Date.now() - begun;
const again = Date.now();
await one.reload();
await one.locator("#lead", { hasText: "10000 measured" }).waitFor();
const warm = Date.now() - again;
console.log(`first view: ${cold} ms, again: ${warm} ms`);
check(cold < first, "the first view comes at once");
await one.getByText("takes a while, so it is not fitted").waitFor();
check(true, "a model that takes long is not fitted by itself");
await one.getByRole("link", { name: "Trials" }).click();
await one.getByText("Page 1 of 400").waitFor();
const took = [];
for (let turn = 2; turn <= 6; turn++) {
  const start = Date.now();
  await one.getByRole("button", { name: "Page after" }).click();
  await one.getByText(`Page ${turn} of 400`).waitFor();
  took.push(Date.now() - start);
}
await one.locator("th", { hasText: "taste" }).getByRole("button").click();
await one.locator('th[aria-sort="descending"]', { hasText: "taste" }).waitFor();
took.sort((a, b) => a - b);
console.log(`pages of the table: median ${took[2]} ms, slowest ${took[4]} ms`);
const answers = await one.evaluate(() => performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/trials?")).map((entry) => entry.duration).sort((a, b) => a - b));
console.log(`their answers: median ${answers[answers.length >> 1].toFixed(0)} ms`);
check(answers[answers.length >> 1] < answered, "pages of the table come at once");
await one.getByLabel("Find").fill("9999");
await one.getByText("Page 1 of 1, 1 trial").waitFor();
await context.close();
console.log("the whole story");

// A server that is killed under an open page, and started again.
import { createInterface } from "node:readline";
import { browser, check, page, url } from "./kit.mjs";

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const wait = async (word) => { console.log(word); await input.next(); };
const context = await browser();
const one = await page(context);
await one.goto(`${url}studies/beer`);
await one.getByRole("button", { name: "Ask for the next experiment" }).click();
const card = one.locator("#trial-1");
await card.getByLabel("water").fill("6.1");
await wait("kill it");
await one.getByText("not connected").waitFor();
await card.getByLabel("taste").fill("7.25");
await card.getByRole("button", { name: "Save what was measured" }).click();
await card.getByText("The server does not answer.").waitFor();
check(true, "the page says that nobody answers, and keeps what was typed");
await wait("start it");
await one.getByText("live", { exact: true }).waitFor();
check((await card.getByLabel("water").inputValue()) === "6.1", "what was typed is still there");
await card.getByRole("button", { name: "Save what was measured" }).click();
await card.waitFor({ state: "detached" });
await one.getByText("1 measured").waitFor();
await context.close();
console.log("the whole story");
process.exit(0);

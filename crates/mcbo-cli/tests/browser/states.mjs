// States that the stories do not come by: nodes that can be set, vectors, units and long names; a model against which the data speak; dialogs; a server
// that is not there, that shows only, that wants a token; addresses without a page.
import { browser, check, looks, page, url } from "./kit.mjs";

const problem = `
name = "waterworks"
minimize = "cost_of_treatment"
[nodes.rainfall_of_the_last_week]
context = true
unit = "mm"
[nodes.turbidity]
parents = ["rainfall_of_the_last_week"]
actions = ["coagulant", "method"]
unit = "NTU"
do = [0.1, 2.0]
limit = { below = 1.5, probability = 0.8 }
[nodes.residue]
parents = ["turbidity"]
dim = 2
unit = "µg/l"
[nodes.cost_of_treatment]
parents = ["turbidity", "residue"]
actions = ["coagulant"]
unit = "€/m³"
[actions.coagulant]
range = [0, 80]
step = 0.5
unit = "mg/l"
cost = { fixed = 1, per_unit = 0.05 }
[actions.method]
choices = ["alum", "ferric chloride", "polyaluminium chloride with lime"]
[constraints]
max_interventions = 2
`;
let luck = 7;
const noise = () => { luck = (luck * 16807) % 2147483647; return luck / 2147483647 - 0.5; };
function treat({ rain, coagulant, method }) {
  const turbidity = Math.max(0.05, 1.2 + 0.02 * rain - 0.02 * coagulant - 0.15 * method + 0.1 * noise());
  const residue = [3 + 4 * turbidity + 0.3 * noise(), 9 - 2 * turbidity + 0.3 * noise()];
  return { turbidity, residue, cost: 0.8 + 0.004 * coagulant + 0.5 * turbidity ** 2 + 0.01 * residue[0] + 0.02 * noise() };
}
const methods = ["alum", "ferric chloride", "polyaluminium chloride with lime"];
let rows = "coagulant,method,rainfall_of_the_last_week,turbidity,residue[0],residue[1],cost_of_treatment\n";
for (let k = 0; k < 24; k++) {
  const [rain, coagulant, method] = [30 + 50 * noise(), (k * 7.5) % 80, k % 3];
  const out = treat({ rain, coagulant, method });
  // One of them is mistyped.
  const cost = k === 11 ? 10 * out.cost : out.cost;
  rows += [coagulant, methods[method], rain.toFixed(1), out.turbidity.toFixed(3), out.residue[0].toFixed(2), out.residue[1].toFixed(2), cost.toFixed(3)].join(",") + "\n";
}

const context = await browser();
const one = await page(context);
await one.goto(`${url}new`);
await one.getByText("The problem is valid").waitFor();
const name = "treatment of drinking water, north-western works, winter";
const begun = await one.evaluate(async ([study, problem, csv]) => {
  const send = (path, body) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const path = `/api/studies/${encodeURIComponent(study)}`;
  return [(await send("/api/studies", { study, problem })).status, (await send(`${path}/add`, { csv })).status];
}, [name, problem, rows]);
check(begun.every((status) => status < 300), `a study of everything begins: ${begun}`);

// A drawn graph; something of one's own that would be lost.
await one.getByRole("button", { name: /drawn graph/ }).click();
await looks(one, "dialog-drawn");
await one.keyboard.press("Escape");

const home = `${url}studies/${encodeURIComponent(name)}`;
await one.goto(home);
await one.getByText("It should give cost_of_treatment").waitFor();
await one.getByText(/It should give cost_of_treatment = [-\d.]+ €\/m³/).waitFor();
await one.getByText("Does not fit", { exact: true }).waitFor();
check(true, "a mistyped row is named");
await one.locator("form.ask").getByLabel(/rainfall/).fill("25");
await one.getByLabel("How many").fill("2");
await one.getByRole("button", { name: "Ask for the next experiment" }).click();
await one.locator("#trial-26").waitFor();
await one.locator("#trial-25").getByRole("button", { name: "All its reasons" }).click();
await one.locator("#trial-25 .why + div li").first().waitFor();
await one.locator("#trial-25").getByText("Something else was done").click();
await one.locator("#trial-25").getByText("It could not be run").click();
await one.locator("#trial-26").getByLabel(/cost_of_treatment/).fill("cheap");
await one.locator("#trial-26").getByRole("button", { name: "Save what was measured" }).click();
await one.locator("#trial-26").getByText("is not a number").waitFor();
await one.locator('.g-node[data-name="turbidity"]').click();
await one.locator(".mechanism figure svg[role]").waitFor();
await one.waitForTimeout(800);
await looks(one, "everything");
await one.locator("#trial-26").getByText("It could not be run").click();
await one.locator("#trial-26").getByLabel("Why").fill("pump broken");
await one.locator("#trial-26").getByRole("button", { name: "Mark as failed" }).click();
await one.locator("#trial-26").waitFor({ state: "detached" });

await one.getByRole("link", { name: "What if" }).click();
await one.locator(".expect.goal .value").waitFor();
await one.getByLabel("given").check();
await one.locator(".what-if .slider").first().getByRole("checkbox").click();
await one.waitForTimeout(500);
await looks(one, "everything-what-if");
await one.getByRole("link", { name: "Trials" }).click();
await one.getByText("Page 1 of 2").waitFor();
await looks(one, "everything-trials");
await one.getByLabel("Show").selectOption("voided");
await one.getByText("No trial is like that").waitFor();
await looks(one, "trials-none");
await one.getByRole("link", { name: "What was learned" }).click();
await one.getByText("Effect: how far").waitFor();
await one.locator("#h-doubts ~ div :is(.note, p:not(.waiting))").first().waitFor();
await one.waitForFunction(() => !document.querySelector("#part-model .waiting"));
await one.getByText("Pictures of it").click();
await one.locator("#h-trust ~ div figure").nth(2).waitFor();
await looks(one, "everything-model");
await one.getByRole("link", { name: "Log and files" }).click();
await one.getByRole("button", { name: "Change the problem file" }).click();
await one.getByRole("textbox", { name: "Problem file" }).waitFor();
await looks(one, "change-problem");
await one.getByRole("button", { name: "Delete…" }).click();
await one.getByLabel(/Type its name/).fill("another");
await looks(one, "dialog-delete");
await one.getByRole("button", { name: "Delete for good" }).click();
await one.locator(".toast.bad").waitFor();
await looks(one, "toast");

// An address without a page; one that shows only; one that wants a token.
await one.goto(`${url}nowhere`);
await one.getByText("There is nothing here").waitFor();
await looks(one, "nowhere");
await one.goto(`${process.env.MCBO_URL_READ_ONLY}studies/${encodeURIComponent(name)}`);
await one.getByText("to look at only").waitFor();
await one.getByText("It should give cost_of_treatment").waitFor();
await one.locator("#trial-25").waitFor();
await one.locator("figure svg[role]").nth(1).waitFor();
await looks(one, "read-only");
await one.goto(`${process.env.MCBO_URL_READ_ONLY}studies/${encodeURIComponent(name)}#manage`);
await one.getByRole("heading", { name: "Files" }).waitFor();
check((await one.locator("#part-manage").getByRole("button", { name: /Delete|Rename|Copy|Add the rows|Change/ }).count()) === 0, "who looks only finds no button that changes something");
await looks(one, "read-only-log");
const secret = new URL(process.env.MCBO_URL_TOKEN);
await one.goto(secret.origin);
await one.getByLabel("Token").waitFor();
await looks(one, "token");
await one.getByLabel("Token").fill(secret.searchParams.get("token"));
await one.getByRole("button", { name: "Open" }).click();
await one.getByRole("link", { name }).waitFor();
await looks(one, "list-long");

// A server that does not answer: what is there stays, and what is asked for says so.
await one.goto(home);
await one.getByText("It should give cost_of_treatment").waitFor();
await one.locator("form.ask").getByLabel(/rainfall/).fill("30");
await one.route("**/api/**", (route) => route.abort());
await one.getByRole("button", { name: "Ask for the next experiment" }).click();
await one.getByText("The server does not answer.").first().waitFor();
await looks(one, "no-answer");
await one.goto(`${url}studies/${encodeURIComponent(name)}?again`);
await one.getByText("The server does not answer.").first().waitFor();
await looks(one, "no-answer-at-first");
await context.close();
console.log("the whole story");

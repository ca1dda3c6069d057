// What the tests in a browser share: the browser itself, and the rules that every page keeps.
import { createRequire } from "node:module";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(join(process.env.MCBO_BROWSER_MODULES, "index.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const url = process.env.MCBO_URL;
const pictures = process.env.MCBO_PICTURES;
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** A browser with an empty profile, which never leaves this computer. */
export async function browser(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), "mcbo-browser-"));
  const context = await chromium.launchPersistentContext(profile, { executablePath: process.env.MCBO_CHROMIUM, headless: true, args: flags, viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  context.setDefaultTimeout(60000);
  // To look at pages that are being worked on, without building the program anew.
  const fresh = process.env.MCBO_WEB;
  await context.route("**/*", (route) => {
    const address = new URL(route.request().url());
    if (address.hostname !== "127.0.0.1") return route.abort();
    const name = address.pathname.startsWith("/assets/") && address.pathname.slice("/assets/".length);
    if (fresh && name && name !== "report.css") return route.fulfill({ path: join(fresh, name), contentType: { js: "text/javascript", css: "text/css", svg: "image/svg+xml" }[name.split(".").pop()] });
    return route.continue();
  });
  return context;
}

/** A page that reports what goes wrong in it. */
export async function page(context) {
  const opened = await context.newPage();
  opened.on("pageerror", (error) => { throw new Error(`error in the page: ${error.message}`); });
  opened.on("console", (message) => {
    // Answers that refuse something are a part of the story; scripts and styles that the policy stops are not.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) throw new Error(`console: ${message.text()}`);
  });
  return opened;
}

export function check(holds, what) {
  if (!holds) throw new Error(what);
  console.log(`ok: ${what}`);
}

/** Nothing on the page that keeps people out, as it is now. */
export async function accessible(opened, name) {
  // The policy of the page allows no script that is written into it; the browser's own door is open.
  await opened.evaluate(axe);
  const { violations } = await opened.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter((one) => one.impact === "serious" || one.impact === "critical");
  check(serious.length === 0, `${name}: axe finds nothing serious${serious.map((one) => `\n  ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160) + " " + (node.any[0]?.message ?? "")).slice(0, 3).join(" | ")}`).join("")}`);
}

/** A page as people meet it, in both themes and three widths: nothing keeps them out, and no part is wider than the window. Pictures of all six if they are wanted. */
export async function looks(opened, name) {
  if (pictures) mkdirSync(pictures, { recursive: true });
  for (const theme of ["light", "dark"]) {
    await opened.emulateMedia({ colorScheme: theme });
    await accessible(opened, `${name}, ${theme}`);
    for (const width of [360, 768, 1920]) {
      await opened.setViewportSize({ width, height: 900 });
      const wide = await opened.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      check(wide <= 0, `${name}, ${theme}: fits into ${width} pixels`);
      if (!pictures) continue;
      await opened.evaluate(() => scrollTo(0, 0));
      await opened.waitForTimeout(150);
      // The whole page, but of a dialog what is seen with it.
      const fullPage = (await opened.locator("dialog[open]").count()) === 0;
      await opened.screenshot({ path: join(pictures, `${name}-${theme}-${width}.png`), fullPage });
    }
  }
  await opened.emulateMedia({ colorScheme: "light" });
  await opened.setViewportSize({ width: 1280, height: 900 });
}

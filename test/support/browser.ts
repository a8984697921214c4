import { readFileSync } from "node:fs";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { findTool } from "../../tools/system-tools.ts";

/** Undefined if Debian's chromium is not installed. */
export const chrome = findTool("chromium");

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
/** Runs in the page, which has no types here. */
const WATCHER = `
  addEventListener("securitypolicyviolation", (event) => fault([event.violatedDirective, "broken by", event.blockedURI, event.sourceFile, event.lineNumber, location.pathname].join(" ")));
  globalThis.alert = () => fault("a script of somebody else ran");
`;
const GRAVE = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => id + " " + nodes[0].target.join(" ")))`;

export interface TestBrowser {
  readonly browser: Browser;
  /** Forbidden actions of pages: violated the policy, sent requests elsewhere, ran foreign text, threw. */
  readonly faults: readonly string[];
  context(options?: NonNullable<Parameters<Browser["newContext"]>[0]>): Promise<BrowserContext>;
  close(): Promise<void>;
}

/** Every context may ask the origin alone. */
export async function startBrowser(origin: () => string): Promise<TestBrowser> {
  const browser = await chromium.launch({ executablePath: chrome ?? "", args: FLAGS });
  const faults: string[] = [];
  return {
    browser,
    faults,
    context: async (options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", ...options });
      context.setDefaultTimeout(60_000);
      await context.exposeFunction("fault", (text: string) => void faults.push(text));
      await context.addInitScript({ content: WATCHER });
      context.on("request", (request) => void (new URL(request.url()).origin === origin() || faults.push(`asked ${request.url()}`)));
      context.on("weberror", (error) => void faults.push(String(error.error())));
      return context;
    },
    close: () => browser.close(),
  };
}

/** Serious and critical accessibility violations of the current page. */
export async function graveViolations(page: { evaluate<T>(script: string): Promise<T> }): Promise<readonly string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(GRAVE);
}

const OUTSIDE = `(() => {
  const found = document.documentElement.scrollWidth <= innerWidth ? [] : ["the page scrolls sideways"];
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const shortens = (element) => getComputedStyle(element).textOverflow === "ellipsis";
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const { right, width, height } = range.getBoundingClientRect();
    if (right <= innerWidth + 1 || width === 0 || height <= 1) continue;
    let element = texts.currentNode.parentElement;
    while (element && !scrolls(element) && !shortens(element)) element = element.parentElement;
    if (!element) found.push(texts.currentNode.textContent.slice(0, 80));
  }
  return found;
})()`;

/** Texts whose end is outside the window, and that no scrolling element brings into view. Empty on a page that fits. */
export const textsOutside = (page: { evaluate<T>(script: string): Promise<T> }): Promise<readonly string[]> =>
  page.evaluate<string[]>(OUTSIDE);

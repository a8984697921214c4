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
  // The page and its dialogs scroll down, and are then ready to scroll sideways as well, which hides a text that is too wide.
  const frames = [document.documentElement, ...document.querySelectorAll("main, [role=dialog]")];
  const found = frames.filter((frame) => frame.scrollWidth > frame.clientWidth).map((frame) => frame.tagName + " scrolls sideways");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const { left, right, width, height } = range.getBoundingClientRect();
    if (width === 0 || height <= 1) continue;
    let isOutside = right > innerWidth + 1 || left < -1;
    for (let element = texts.currentNode.parentElement; element; element = element.parentElement) {
      if (frames.includes(element)) continue;
      const { overflowX, textOverflow, clipPath, position } = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      if (["auto", "scroll"].includes(overflowX) || textOverflow === "ellipsis" || clipPath !== "none" || (position === "absolute" && right < 0)) {
        isOutside = false;
        break;
      }
      isOutside ||= overflowX !== "visible" && (right > box.right + 1 || left < box.left - 1);
    }
    if (isOutside) found.push(texts.currentNode.textContent.slice(0, 80));
  }
  return found;
})()`;

/** Texts with an end outside the window or outside a box that cuts them off, unless an inner element scrolls to it. Empty on a page that fits. */
export const textsOutside = (page: { evaluate<T>(script: string): Promise<T> }): Promise<readonly string[]> =>
  page.evaluate<string[]>(OUTSIDE);

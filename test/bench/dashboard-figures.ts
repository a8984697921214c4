import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, startBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { startSelvedge } from "../support/selvedge.ts";

/**
 * `node test/bench/dashboard-figures.ts [RECORDS]`: the dashboard with 100,000 records in Chromium, against a server of its own. Prints the
 * script of the first load, the time until rows are there, frames while the list scrolls, and the time until a letter in the filter is drawn.
 */
const RECORDS = Number(process.argv[2] ?? 100_000);
const ZONE = "large.example";
const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyzABCD";
const PATH = `/zones/${ZONE}/dns/records`;
const ROUNDS = 5;
const SECONDS = 5;

/** Runs in the page. */
const FRAMES = (step: number, ms: number): string => `new Promise((resolve) => {
  const box = [...document.querySelectorAll("*")].filter((one) => one.scrollHeight > 100000 && getComputedStyle(one).overflowY !== "visible")
    .toSorted((a, b) => a.scrollHeight - b.scrollHeight)[0] ?? document.scrollingElement;
  const began = performance.now();
  let frames = 0;
  const frame = (now) => {
    frames++;
    box.scrollTop += ${step};
    if (now - began < ${ms}) requestAnimationFrame(frame);
    else resolve(box.scrollTop === 0 ? 0 : frames / (now - began) * 1000);
  };
  requestAnimationFrame(frame);
})`;
/** Milliseconds until the frame after a letter. */
const LETTER = `new Promise((resolve) => {
  const field = document.querySelector("input[data-search], [data-search] input");
  field.focus();
  const began = performance.now();
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  set.call(field, field.value + "1");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
})`;

if (chrome === undefined) throw new Error("chromium is not installed");
const server = await startSelvedge({
  args: ["--dns-import-bytes-max", "20000000", "--dns-records-per-free-zone-max", "1000000"],
  env: { SELVEDGE_BOOTSTRAP_TOKEN: TOKEN },
});
const { origin } = new URL(server.ready.api);
const { browser, context, close } = await startBrowser(() => origin);
try {
  await fill();
  const cookie = await signedIn();
  await firstLoad(browser);
  const cold: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const fresh = await context();
    await fresh.addCookies([cookie]);
    const page = await fresh.newPage();
    cold.push(await untilRows(page));
    warm.push(await untilRows(page));
    if (round === ROUNDS - 1) {
      console.log(`rows of ${RECORDS} there, cold: ${shown(cold)} ms (goal 1500); warm: ${shown(warm)} ms (goal 500)`);
      await scrollAndFilter(page);
    }
    await fresh.close();
  }
} finally {
  await close();
  await server.stop();
}

async function fill(): Promise<void> {
  const call = apiCaller(server.ready, TOKEN);
  const { id } = await succeed(call("POST", "/zones", { account: { id: server.ready.account_id }, name: ZONE }));
  const lines = Array.from({ length: RECORDS }, (_, at) => `h${at}.${ZONE}. 300 IN A 192.0.2.${at % 250}`);
  const form = new FormData();
  form.set("file", new File([lines.join("\n")], "zone.txt"));
  const url = `${server.ready.api}/zones/${id}/dns_records/import`;
  const answer = await fetch(url, { method: "POST", headers: { authorization: `Bearer ${TOKEN}` }, body: form });
  if (!answer.ok) throw new Error(`the import was answered with ${answer.status}: ${await answer.text()}`);
  await eventually(async () => (await succeed(call("GET", `/zones/${id}/dns_records/usage`))).record_usage >= RECORDS);
}

async function signedIn() {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const answer = await fetch(`${server.ready.api}/user/sessions`, { method: "POST", headers, body: "{}" });
  const [name = "", value = ""] = (answer.headers.get("set-cookie") ?? "").split(";", 1)[0]?.split("=") ?? [];
  return { name, value, url: origin, httpOnly: true, sameSite: "Strict" } as const;
}

/** Script that the page has fetched when its rows are there, compressed like the server does. */
async function firstLoad(of: Browser): Promise<void> {
  const fresh = await of.newContext();
  await fresh.addCookies([await signedIn()]);
  const page = await fresh.newPage();
  const scripts = new Set<string>();
  page.on("response", (response) => void (response.request().resourceType() === "script" && scripts.add(new URL(response.url()).pathname)));
  await untilRows(page);
  const dist = new URL("../../dashboard/dist/", import.meta.url);
  const sizes = [...scripts].map((path) => gzipSync(readFileSync(new URL(`.${path}`, dist))).length);
  console.log(`first load: ${(sizes.reduce((sum, size) => sum + size, 0) / 1000).toFixed(0)} kB of script, gzipped (goal 250)`);
  await fresh.close();
}

async function untilRows(page: Page): Promise<number> {
  const began = performance.now();
  await page.goto(origin + PATH, { waitUntil: "commit" });
  await page.getByText("192.0.2.").first().waitFor();
  return performance.now() - began;
}

async function scrollAndFilter(page: Page): Promise<void> {
  for (const [name, step] of [
    ["slow", 60],
    ["fast", 900],
    ["flung", 12_000],
  ] as const) {
    await page.evaluate("document.querySelectorAll('*').forEach((one) => (one.scrollTop = 0))");
    const perSecond = await page.evaluate<number>(FRAMES(step, SECONDS * 1000));
    console.log(`scrolling, ${name} (${step} px a frame): ${perSecond.toFixed(1)} frames/s (goal 50)`);
  }
  const letters: number[] = [];
  for (let at = 0; at < ROUNDS; at++) letters.push(await page.evaluate<number>(LETTER));
  console.log(`a letter in the filter is drawn after ${shown(letters)} ms (goal 100)`);
}

function shown(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b).map((value) => value.toFixed(0));
  return `${sorted[Math.floor(sorted.length / 2)]} (${sorted[0]} to ${sorted.at(-1)})`;
}

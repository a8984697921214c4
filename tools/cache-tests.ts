/**
 * Runs the cache tests of https://github.com/http-tests/cache-tests through an edge: `node tools/cache-tests.ts DIRECTORY [TEST]`.
 * They are not part of this repository, and need `npm install undici@7` beside them. Prints the required tests that fail and how many of each kind pass; with the id of a
 * test, what it says. Fails if a required test fails.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { apiCaller, succeed } from "../test/support/api.ts";
import { eventually } from "../test/support/eventually.ts";
import { startSelvedge } from "../test/support/selvedge.ts";
import { freePort } from "../test/bench/program.ts";

const [directory, only = ""] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: node tools/cache-tests.ts DIRECTORY [TEST]");
  process.exit(2);
}

const HOST = "www.caches.test";
/** The tests' client looks names up as every program does; this one has no place in the DNS. */
const LOOKUP = `data:text/javascript,import dns from "node:dns";const real=dns.lookup;dns.lookup=(name,options,done)=>real(name.endsWith(".test")?"127.0.0.1":name,options,done)`;

const runs = (script: string, env: Readonly<Record<string, string>>) =>
  spawn(process.execPath, ["--no-warnings", "--import", LOOKUP, join("test-engine", script)], {
    cwd: directory,
    env: { ...process.env, npm_package_config_id: "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });

const port = await freePort();
const origin = runs("server/server.mjs", { npm_config_protocol: "http", npm_config_port: String(port), npm_config_pidfile: "/dev/null" });
origin.stdout.resume();
await eventually(async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null)) !== null, 100);

const selvedge = await startSelvedge();
const { ready } = selvedge;
const call = apiCaller(ready, ready.token ?? "");
const { id } = await succeed(call("POST", "/zones", { account: { id: ready.account_id }, name: "caches.test" }));
await succeed(call("POST", `/zones/${id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
const put = (phase: string, action: string, action_parameters: object) =>
  succeed(call("PUT", `/zones/${id}/rulesets/phases/${phase}/entrypoint`, { rules: [{ action, expression: "true", action_parameters }] }));
await put("http_request_origin", "route", { origin: { port } });
// As a cache by the standard: whatever the path, only as long as the origin says, here and in browsers.
const ttl = { edge_ttl: { mode: "bypass_by_default" }, browser_ttl: { mode: "respect_origin" } };
await put("http_request_cache_settings", "set_cache_settings", { cache: true, ...ttl });

const client = runs("cli.mjs", { npm_config_base: `http://${HOST}:${new URL(ready.http).port}`, npm_config_id: only });
let text = "";
client.stdout.setEncoding("utf8").on("data", (part: string) => void (text += part));
const [code] = (await once(client, "close")) as [number];
origin.kill();
await selvedge.stop();
if (only !== "" || code !== 0) {
  console.log(text);
  process.exit(code);
}

interface CacheTest {
  readonly id: string;
  readonly name: string;
  readonly kind?: "required" | "optimal" | "check";
  readonly browser_only?: boolean;
}
type Outcome = readonly [mark: string, colour: string, symbol: string];
const load = (path: string) => import(pathToFileURL(resolve(directory, path)).href);
const { default: suites } = (await load("tests/index.mjs")) as { default: readonly { readonly tests: readonly CacheTest[] }[] };
const { determineTestResult } = (await load("test-engine/lib/results.mjs")) as {
  determineTestResult(suites: unknown, id: string, results: unknown): Outcome;
};
const results = JSON.parse(text.slice(text.indexOf("{"))) as Readonly<Record<string, true | readonly [string, string]>>;

/** Outcomes that say nothing about the cache, as the suite's own pages show them. */
const NOT_JUDGED: Readonly<Record<string, string>> = {
  "⚪️": "not judged, because one it depends on does not pass",
  "🔹": "not judged, because what it begins with does not happen",
  "↻": "not judged, because the request was sent again",
};
const counts = new Map<string, number>();
let failures = 0;
for (const test of suites.flatMap(({ tests }) => tests)) {
  if (test.browser_only === true || results[test.id] === undefined) continue;
  const { kind = "required" } = test;
  const [, , symbol] = determineTestResult(suites, test.id, results);
  const isPassed = symbol === "✅" || symbol === "Y";
  const isFailed = symbol === "⛔️" || symbol === "⁉️";
  const outcome = `${kind}: ${isPassed ? "pass" : (NOT_JUDGED[symbol] ?? "do not pass")}`;
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  if (isFailed) failures++;
  if (kind !== "check" && !isPassed) console.log(`${symbol} ${kind} ${test.id}: ${test.name}: ${JSON.stringify(results[test.id])}`);
}
for (const [outcome, count] of [...counts].sort()) console.log(`${count} ${outcome}`);
process.exit(failures === 0 ? 0 : 1);

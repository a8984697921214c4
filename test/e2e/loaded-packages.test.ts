import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { startSelvedge } from "../support/selvedge.ts";

const HOOKS = pathToFileURL(join(import.meta.dirname, "../support/loaded-packages.ts")).href;
/** Packages that `fastify` and `pino` load. */
const OF_FASTIFY = [
  ...[
    "@fastify/error",
    "abstract-logging",
    "@fastify/forwarded",
    "@fastify/proxy-addr",
    "avvio",
    "fast-decode-uri-component",
    "fast-deep-equal",
  ],
  ...["fast-json-stringify", "fast-querystring", "fastq", "find-my-way", "ipaddr.js", "process-warning", "ret", "reusify", "rfdc"],
  ...["safe-regex2", "secure-json-parse", "semver", "toad-cache"],
];
const OF_PINO = [
  ...["@pinojs/redact", "atomic-sleep", "on-exit-leak-free", "pino-std-serializers", "quick-format-unescaped"],
  ...["safe-stable-stringify", "sonic-boom", "thread-stream"],
];
/** The binary of koffi. */
const NATIVE = `@koromix/koffi-${process.platform}-${process.arch}`;
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  main: ["commander", "fastify", "koffi", NATIVE, "mmdb-lib", "pino", "re2js", "smol-toml", "tldts", ...OF_FASTIFY, ...OF_PINO],
  // The table of prices is loaded some seconds after the start.
  gateway: ["@pydantic/genai-prices", "koffi", NATIVE, "re2js", "tldts"],
};
/** 168 when this was written. */
const MODULES_MAX = 200;
/** Files of the build that a thread loads: 48 in the main thread and 5 in that of events when this was written; the gateway shares its chunks. */
const BUILT_MAX: Readonly<Record<string, number>> = { main: 50, gateway: 80 };
const BUILT_IN_THREAD_MAX = 12;

test("a start loads the packages that it needs, and each thread few", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-loaded-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const selvedge = await startSelvedge({ env: { NODE_OPTIONS: `--import=${HOOKS}`, LOADED_PACKAGES_FOLDER: folder } });
  // Starts the thread of the AI gateway.
  await (await fetch(selvedge.ready.gateway)).arrayBuffer();
  await selvedge.stop();
  const threads = readdirSync(folder);
  assert.ok(threads.includes("main") && threads.includes("gateway"), threads.join());
  for (const thread of threads) {
    const loaded = readFileSync(join(folder, thread), "utf8").trim().split("\n");
    const built = loaded.filter((path) => path.startsWith("dist/"));
    const builtMax = BUILT_MAX[thread] ?? BUILT_IN_THREAD_MAX;
    assert.ok(built.length > 0 && built.length <= builtMax, `${thread} loads ${built.length} files of the build`);
    const modules = loaded.filter((path) => !path.startsWith("dist/"));
    const packages = new Set(modules.map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path));
    const allowed = new Set(ALLOWED[thread]);
    assert.deepEqual(
      [...packages].filter((name) => !allowed.has(name)),
      [],
      thread,
    );
    assert.ok(modules.length <= MODULES_MAX, `${thread} loads ${modules.length} modules of packages`);
  }
});

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { LAYERS } from "./layers.ts";

const root = dirname(dirname(import.meta.dirname));
const run = promisify(execFile);

/** A file, and the rules that must speak up on it, once for each time that they are named. */
interface Sample {
  readonly path: string;
  readonly text: string;
  readonly fires: readonly string[];
}

const LAYER = "selvedge(layers)";
const CLOCK = "selvedge(clock)";
const SHAPE = "selvedge(shape)";

const SAMPLES: readonly Sample[] = [
  { path: "src/edge/static.ts", text: `import { openStore } from "#store/open.ts"; openStore();`, fires: [LAYER] },
  { path: "src/edge/type.ts", text: `import type { Store } from "#store/store.ts"; export type S = Store;`, fires: [LAYER] },
  { path: "src/edge/type-import.ts", text: `export type S = import("#store/store.ts").Store;`, fires: [LAYER] },
  { path: "src/edge/side-effect.ts", text: `import "#api/route.ts";`, fires: [LAYER, "import(no-unassigned-import)"] },
  { path: "src/gateway/from.ts", text: `export { commit } from "#control/commit.ts";`, fires: [LAYER] },
  { path: "src/gateway/all.ts", text: `export * from "#control/commit.ts";`, fires: [LAYER, SHAPE] },
  { path: "src/nameserver/dynamic.ts", text: `export const load = () => import("#store/open.ts");`, fires: [LAYER] },
  { path: "src/nameserver/computed.ts", text: `export const load = (name: string) => import(name);`, fires: [LAYER] },
  { path: "src/nameserver/url.ts", text: `export const u = new URL("../store/open.ts", import.meta.url);`, fires: [LAYER] },
  { path: "src/nameserver/relative.ts", text: `import { x } from "../kernel/clock.ts"; x();`, fires: [LAYER] },
  { path: "src/rules/snapshot.ts", text: `import type { Op } from "#snapshot/entries.ts"; export type O = Op;`, fires: [LAYER] },
  { path: "src/store/snapshot.ts", text: `import type { Op } from "#snapshot/entries.ts"; export type O = Op;`, fires: [LAYER] },
  { path: "src/kernel/unknown.ts", text: `import { x } from "#utils/x.ts"; x();`, fires: [LAYER] },
  { path: "src/edge/database.ts", text: `import { DatabaseSync } from "node:sqlite"; export const d = DatabaseSync;`, fires: [LAYER] },
  { path: "src/control/pg.ts", text: `import pg from "pg"; export const p = pg;`, fires: [LAYER] },
  { path: "src/edge/kysely.ts", text: `import type { Kysely } from "kysely"; export type K = Kysely<unknown>;`, fires: [LAYER] },
  { path: "src/control/kysely.ts", text: `import { sql } from "kysely"; export const s = sql;`, fires: [LAYER] },
  { path: "src/control/kysely-type.ts", text: `import type { Kysely } from "kysely"; export type K = Kysely<unknown>;`, fires: [] },
  { path: "src/edge/outside.ts", text: `import { x } from "../../tools/x.ts"; x();`, fires: [LAYER] },
  { path: "src/edge/support.ts", text: `import { x } from "../../test/support/x.ts"; x();`, fires: [LAYER] },
  { path: "test/e2e/relative.ts", text: `import { x } from "../../src/kernel/x.ts"; x();`, fires: [LAYER] },

  { path: "src/edge/good.ts", text: `import { x } from "#rules/x.ts"; import { y } from "./y.ts"; x(y);`, fires: [] },
  { path: "src/control/dns/good.ts", text: `import { x } from "../commit.ts"; import { y } from "#store/y.ts"; x(y);`, fires: [] },
  { path: "src/store/good.ts", text: `import { DatabaseSync } from "node:sqlite"; export const d = DatabaseSync;`, fires: [] },
  {
    path: "src/app/good.ts",
    text: `export const u = new URL("../edge/worker.ts", import.meta.url); export const load = (n: string) => import(n);`,
    fires: [],
  },
  { path: "src/edge/support.test.ts", text: `import { x } from "../../test/support/x.ts"; x();`, fires: [] },
  { path: "src/edge/below.test.ts", text: `import { x } from "#acme/x.ts"; x();`, fires: [] },
  { path: "src/edge/above.test.ts", text: `import { x } from "#app/x.ts"; x();`, fires: [LAYER] },
  { path: "test/e2e/good.ts", text: `import { x } from "#store/x.ts"; import { y } from "../support/y.ts"; x(y);`, fires: [] },

  { path: "src/edge/date-now.ts", text: `export const t = Date.now();`, fires: [CLOCK] },
  { path: "src/edge/date-now-value.ts", text: `export const t = [1].map(Date.now);`, fires: [CLOCK] },
  { path: "src/edge/date-now-computed.ts", text: `export const t = globalThis.Date["now"]();`, fires: [CLOCK] },
  { path: "src/edge/new-date.ts", text: `export const t = new Date();`, fires: [CLOCK] },
  { path: "src/edge/date-call.ts", text: `export const t = Date();`, fires: [CLOCK] },
  { path: "src/edge/performance.ts", text: `export const t = performance.now() + performance.timeOrigin;`, fires: [CLOCK, CLOCK] },
  {
    path: "src/edge/hrtime.ts",
    text: `export const t = [process.hrtime(), process.hrtime.bigint(), process.uptime()];`,
    fires: [CLOCK, CLOCK, CLOCK],
  },
  { path: "src/edge/destructured.ts", text: `const { now } = Date; export const t = now();`, fires: [CLOCK] },
  { path: "src/edge/imported.ts", text: `import { performance as p } from "node:perf_hooks"; export const t = p.now();`, fires: [CLOCK] },
  { path: "src/kernel/clock.ts", text: `export const t = Date.now() + performance.now();`, fires: [] },
  {
    path: "src/edge/clock-good.ts",
    text: `export const f = (ms: number) => [new Date(ms), Date.parse("2024-01-01"), setTimeout(() => {}, 1)];`,
    fires: [],
  },
  { path: "src/edge/clock.test.ts", text: `export const t = Date.now();`, fires: [] },
  { path: "test/e2e/clock.ts", text: `export const t = performance.now();`, fires: [] },

  {
    path: "src/edge/base.ts",
    text: `export class Handler { run() {} }\nexport class Special extends Handler { stop() {} }`,
    fires: [SHAPE],
  },
  { path: "src/edge/error.ts", text: `export class ProblemError extends RangeError {}`, fires: [] },
  { path: "src/edge/default.ts", text: `export default function run() {}`, fires: ["import(no-default-export)"] },
  { path: "src/edge/camelCase.ts", text: `export const x = 1;`, fires: ["unicorn(filename-case)"] },
  { path: "src/edge/any.ts", text: `export const x: any = 1;`, fires: ["typescript(no-explicit-any)"] },
];

let directory = "";
const found = new Map<string, string[]>();

before(async () => {
  directory = await mkdtemp(join(tmpdir(), "selvedge-lint-"));
  for (const { path, text } of SAMPLES) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  const args = ["--config", join(root, ".oxlintrc.json"), "--format=json", directory];
  const { stdout } = await run(join(root, "node_modules/.bin/oxlint"), args).catch((error: { stdout: string }) => error);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { code: string; filename: string }[] };
  for (const { code, filename } of diagnostics) {
    const path = filename.slice(filename.indexOf(directory.slice(1)) + directory.length);
    found.set(path, [...(found.get(path) ?? []), code]);
  }
});

after(() => rm(directory, { recursive: true, force: true }));

for (const { path, fires } of SAMPLES) {
  test(`lint: ${path} ${fires.length === 0 ? "passes" : `breaks ${[...new Set(fires)].join(", ")}`}`, () => {
    assert.deepEqual((found.get(path) ?? []).sort(), [...fires].sort());
  });
}

test("layers only import what stands below them, so there are no circles", () => {
  const below = new Set<string>();
  for (const { name, mayImport } of LAYERS) {
    for (const other of mayImport) assert.ok(below.has(other), `${name} imports ${other}, which does not stand below it`);
    below.add(name);
  }
});

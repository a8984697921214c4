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
const LINEAR = "selvedge(linear)";
/** Something that makes statements. */
const DB =
  "interface Db {\n  readonly deleteFrom: (table: string) => Db;\n  readonly updateTable: (table: string) => Db;\n  readonly selectFrom: (table: string) => Db;\n  readonly set: (values: object) => Db;\n  readonly where: (column: string, is: string, value: string | number) => Db;\n  readonly execute: () => void;\n}\n";
const STATEMENTS = "selvedge(statements)";
const COPIES = "selvedge(copies)";
const LOGGED = "selvedge(logged)";
const SLICES = "selvedge(slices)";

const SAMPLES: readonly Sample[] = [
  { path: "src/control/slices.ts", text: `import { setImmediate } from "node:timers/promises"; await setImmediate();`, fires: [SLICES] },
  { path: "src/api/renamed.ts", text: `import { setImmediate as turn } from "node:timers/promises"; await turn();`, fires: [SLICES] },
  { path: "src/control/pause.ts", text: `import { setTimeout } from "node:timers/promises"; await setTimeout(1);`, fires: [] },
  { path: "src/edge/static.ts", text: `import { openStore } from "#store/database/open.ts"; openStore();`, fires: [LAYER] },
  { path: "src/edge/type.ts", text: `import type { Store } from "#store/database/store.ts"; export type S = Store;`, fires: [LAYER] },
  { path: "src/edge/type-import.ts", text: `export type S = import("#store/database/store.ts").Store;`, fires: [LAYER] },
  { path: "src/edge/side-effect.ts", text: `import "#api/route.ts";`, fires: [LAYER, "import(no-unassigned-import)"] },
  { path: "src/gateway/from.ts", text: `export { commit } from "#control/commit.ts";`, fires: [LAYER] },
  { path: "src/gateway/all.ts", text: `export * from "#control/commit.ts";`, fires: [LAYER, SHAPE] },
  { path: "src/nameserver/dynamic.ts", text: `export const load = () => import("#store/database/open.ts");`, fires: [LAYER] },
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
  { path: "src/edge/http/above.ts", text: `import type { E } from "#edge/exchange/exchange.ts"; export type X = E;`, fires: [LAYER] },
  { path: "src/edge/cache/key/above.ts", text: `import { f } from "../fill/fill.ts"; f();`, fires: [LAYER] },
  { path: "src/nameserver/zones/top.ts", text: `import { f } from "#nameserver/nameserver.ts"; f();`, fires: [LAYER] },
  { path: "src/edge/unplaced/file.ts", text: `import { f } from "#edge/http/media-type.ts"; f();`, fires: [LAYER] },
  { path: "src/edge/exchange/below.ts", text: `import { f } from "#edge/http/media-type.ts"; f();`, fires: [] },
  { path: "src/edge/http/above.test.ts", text: `import { f } from "#edge/exchange/exchange.ts"; f();`, fires: [] },
  { path: "src/edge/testing/any.ts", text: `import { f } from "#edge/edge.ts"; f();`, fires: [] },
  { path: "src/edge/helped.ts", text: `import { f } from "./testing/edge.ts"; f();`, fires: [LAYER] },
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
    path: "test/e2e/at-once.test.ts",
    text: `import assert from "node:assert/strict"; declare const server: { log(): string }; assert.match(server.log(), /ready/);`,
    fires: [LOGGED],
  },
  {
    path: "test/e2e/never.test.ts",
    text: `import assert from "node:assert/strict"; declare const server: { log(): string }; assert.doesNotMatch(server.log(), /ready/);`,
    fires: [],
  },

  {
    path: "src/edge/base.ts",
    text: `export class Handler { run() {} }\nexport class Special extends Handler { stop() {} }`,
    fires: [SHAPE],
  },
  { path: "src/edge/error.ts", text: `export class ProblemError extends RangeError {}`, fires: [] },
  { path: "src/edge/default.ts", text: `export default function run() {}`, fires: ["import(no-default-export)"] },
  { path: "src/edge/camelCase.ts", text: `export const x = 1;`, fires: ["unicorn(filename-case)"] },
  { path: "src/edge/any.ts", text: `export const x: any = 1;`, fires: ["typescript(no-explicit-any)"] },

  // Patterns that took seconds, and what stands in their place.
  ...[
    String.raw`/\{\s*(\d*)\s*(,?)\s*(\d*)\s*\}/y`,
    String.raw`/(\\*"[\w-]{0,40}secret[\w-]{0,40}\\*"\s*:\s*\\*")((?:[^"\\]|\\+[^"\\])+)/gi`,
    String.raw`/[ \t]*,[ \t]*/g`,
    String.raw`/^[ \t]+|[ \t]+$/g`,
    String.raw`/[^",]*(?:"(?:[^"\\]|\\.)*"[^",]*)*/g`,
    "/ +$/",
    String.raw`/\\*$/`,
    String.raw`/^\s*(?:bearer|token|key|basic)?\s*$/i`,
    String.raw`/^([A-Za-z-]+):[ \t]*(.*)$/`,
    String.raw`/\/+$/`,
    String.raw`new RegExp("\\/+$")`,
    String.raw`RegExp(String.raw${"`"}\/+$${"`"}, "g")`,
  ].map((pattern, i) => ({ path: `src/edge/slow-${i}.ts`, text: `export const pattern = ${pattern};`, fires: [LINEAR] })),
  ...[
    String.raw`/^(?:bearer|token|key|basic)?$/i`,
    String.raw`/^[A-Za-z-]+$/`,
    String.raw`/(?<![ \t])[ \t]+$/g`,
    String.raw`/(?<!\\)\\*$/`,
    String.raw`/^[^"]*(?:"(?:[^"\\]|\\[^])*"[^"]*)*$/`,
    String.raw`/\bkey=[^&]/`,
    String.raw`/"(?:[^"\\]|\\[^])*"/y`,
    String.raw`new RegExp("^[a-z]+$", "i")`,
  ].map((pattern, i) => ({ path: `src/edge/quick-${i}.ts`, text: `export const pattern = ${pattern};`, fires: [] })),
  {
    path: "src/edge/marked.ts",
    text: "// linear: pumped\nexport const one = /[^=]+=*|=+/g;\n// linear: at most 1024 bytes (a longer path is of no known kind)\nexport const other = /\\/models(?:\\/[^:]*)?$/;",
    fires: [],
  },
  // A mark needs its number and its reason, and a pattern that was tried with so many bytes.
  { path: "src/edge/marked-badly.ts", text: "// linear: at most 1024 bytes\nexport const p = /\\/models(?:\\/[^:]*)?$/;", fires: [LINEAR] },
  { path: "src/edge/never-pumped.ts", text: "// linear: pumped\nexport const p = /\\/models(?:\\/[^:]*)?$/;", fires: [LINEAR] },
  { path: "src/edge/marked-in-vain.ts", text: "// linear: pumped\nexport const p = / +$/;", fires: [LINEAR] },
  { path: "src/edge/built.ts", text: "export const p = (text: string) => new RegExp(text);", fires: [LINEAR] },
  { path: "src/rules/regex/regex.ts", text: "export const p = (text: string) => new RegExp(text);", fires: [] },
  { path: "src/edge/template.ts", text: "const A = ' +';\nexport const p = new RegExp(`${A}$`);", fires: [LINEAR] },
  { path: "src/edge/slow.test.ts", text: "export const p = / +$/;", fires: [] },

  {
    path: "src/edge/copies-1.ts",
    text: "export let x: number[] = [];\nexport const f = (y: number) => void (x = [...x, y]);",
    fires: [COPIES],
  },
  {
    path: "src/edge/copies-2.ts",
    text: "export let x = Buffer.alloc(0);\nexport const f = (y: Buffer) => void (x = x.length === 0 ? y : Buffer.concat([x, y]));",
    fires: [COPIES],
  },
  {
    path: "src/edge/copies-3.ts",
    text: "export let x = new Map<string, string>();\nexport const f = () => void (x = new Map(x));",
    fires: [COPIES],
  },
  {
    path: "src/edge/copies-4.ts",
    text: "export const f = (m: Map<string, number[]>, y: number) => m.set('a', [...(m.get('a') ?? []), y]);",
    fires: [COPIES],
  },
  {
    path: "src/edge/copies-5.ts",
    text: "export let x: object = {};\nexport const f = (y: object) => void (x = { ...x, ...y });",
    fires: [COPIES],
  },
  {
    path: "src/edge/copies-6.ts",
    text: "export let x: object = {};\nexport const f = (key: string) => void (x = { ...x, [key]: 1 });",
    fires: [COPIES],
  },
  {
    path: "src/edge/copies-members.ts",
    text: "export let x = { a: 1, b: 2 };\nexport const f = () => void (x = { ...x, a: 2 });",
    fires: [],
  },
  {
    path: "src/edge/copies-few.ts",
    text: "export let x: number[] = [];\nexport const f = (y: number) => {\n  // few: one for each thread\n  x = [...x, y];\n};",
    fires: [],
  },
  {
    path: "src/edge/copies-none.ts",
    text: "export let x: number[] = [];\nexport const f = (y: number[], m: Map<string, number[]>) => {\n  x = [...y, 1];\n  m.set('a', [...y]);\n};",
    fires: [],
  },
  {
    path: "src/store/statements-1.ts",
    text: DB + 'export const f = (db: Db, zone: string) => db.deleteFrom("certificates").where("zone_id", "=", zone).execute();',
    fires: [STATEMENTS],
  },
  {
    path: "src/store/statements-2.ts",
    text:
      DB +
      'export const f = (db: Db) => db.updateTable("zones").set({ paused: 1 }).where("paused", "=", 0).execute();\nexport const g = (db: Db) => db.selectFrom("zones").where("id", "=", "z").execute();',
    fires: [STATEMENTS],
  },
  {
    path: "src/store/statements-by-key.ts",
    text:
      DB +
      'export const f = (db: Db) => db.deleteFrom("zones").where("id", "=", "z").execute();\nexport const g = (db: Db) => db.deleteFrom("counters").where("name", "=", "rev").execute();',
    fires: [],
  },
  {
    path: "src/store/statements-few.ts",
    text:
      DB +
      'export const f = (db: Db) =>\n  // few: one for each node\n  db.deleteFrom("event_count_nodes").where("counted_ms", "<", 1).execute();',
    fires: [],
  },
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

test("layers import only lower layers, so that they form no circles", () => {
  const below = new Set<string>();
  for (const { name, mayImport } of LAYERS) {
    for (const other of mayImport) assert.ok(below.has(other), `${name} imports ${other}, which does not stand below it`);
    below.add(name);
  }
});

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createLog } from "#app/log/log.ts";
import { createLevelChanges } from "./level-changes.ts";
import { FOR_MS_MAX, type LevelOutcome, type LevelRequest, writeLevelRequest } from "./level-request.ts";

function server(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-levels-"));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const lines: string[] = [];
  const log = createLog({ level: "warn", levels: { gateway: "error" } }, { write: (line) => void lines.push(line) });
  const answers: LevelOutcome[] = [];
  // A request of yesterday is not carried out.
  writeLevelRequest(dataDir, { id: "old", changes: [{ area: "other", level: "silent" }], for_ms: null });
  const changes = createLevelChanges({
    dataDir,
    log,
    clock: fixedClock("2026-01-02T03:04:05Z"),
    onDone: (answer) => answers.push(answer),
  });
  t.after(() => changes.close());
  const ask = (wanted: LevelRequest["changes"], for_ms: number | null = null): LevelOutcome => {
    writeLevelRequest(dataDir, { id: `request-${answers.length}`, changes: wanted, for_ms });
    changes.take();
    return answers.at(-1)!;
  };
  const logs = (area: "edge" | "gateway"): boolean => {
    const before = lines.length;
    log.area(area).debug({}, "seen");
    return lines.length > before;
  };
  return { dataDir, lines, log, answers, changes, ask, logs };
}

const levelOf = (answer: LevelOutcome, name: string) => answer.levels.find(({ area }) => area === name);

test("a request sets levels of areas, a reload keeps them, and configured takes them back", (t) => {
  const { log, lines, ask, logs, dataDir } = server(t);
  assert.deepEqual(levelOf(ask([]), "other"), { area: "other", level: "warn", configured: "warn", until: null });
  assert.equal(logs("edge"), false);
  const set = ask([
    { area: "edge", level: "debug" },
    { area: "gateway", level: "debug" },
  ]);
  assert.deepEqual(levelOf(set, "edge"), { area: "edge", level: "debug", configured: "warn", until: "restart" });
  assert.deepEqual(levelOf(set, "gateway"), { area: "gateway", level: "debug", configured: "error", until: "restart" });
  assert.deepEqual([logs("edge"), logs("gateway")], [true, true]);
  assert.match(lines.join(""), /"levels":\{"edge":"debug","gateway":"debug"\},"for_seconds":null,"msg":"log levels are changed/);
  log.use({ level: "error", levels: { edge: "info" } });
  assert.deepEqual(levelOf(ask([]), "edge"), { area: "edge", level: "debug", configured: "info", until: "restart" });
  assert.deepEqual([logs("edge"), logs("gateway")], [true, true]);
  const back = ask([{ area: "edge", level: null }]);
  assert.deepEqual(levelOf(back, "edge"), { area: "edge", level: "info", configured: "info", until: null });
  assert.deepEqual([logs("edge"), logs("gateway")], [false, true]);
  assert.deepEqual(readdirSync(dataDir), [], "requests do not stay");
});

test("a level for a time gives way to the configured one, and a later request counts", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { log, lines, ask, logs } = server(t);
  log.use({ level: "info", levels: {} });
  const first = ask([{ area: "edge", level: "debug" }], 60_000);
  assert.equal(levelOf(first, "edge")?.until, "2026-01-02T03:05:05.000Z");
  t.mock.timers.tick(59_000);
  assert.equal(logs("edge"), true);
  ask([{ area: "edge", level: "debug" }], 60_000);
  t.mock.timers.tick(59_000);
  assert.equal(logs("edge"), true, "the time of the first request does not end the second");
  t.mock.timers.tick(1_000);
  assert.equal(logs("edge"), false);
  assert.match(lines.at(-1) ?? "", /"area":"edge","msg":"the time is over: the configured log level is in force again"/);
  assert.equal(levelOf(ask([]), "edge")?.until, null);
  ask([{ area: "edge", level: "debug" }], 60_000);
  ask([{ area: "edge", level: "debug" }]);
  t.mock.timers.tick(FOR_MS_MAX);
  assert.equal(logs("edge"), true, "without a time it holds until the end");
});

test("a damaged request changes nothing and is logged, and a signal without one does nothing", (t) => {
  const { dataDir, lines, answers, changes } = server(t);
  changes.take();
  assert.deepEqual([lines, answers], [[], []]);
  const file = join(dataDir, "log-level.request");
  const wrong = [
    "{",
    "null",
    '{"id":"a","changes":[{"area":"edges","level":"info"}],"for_ms":null}',
    '{"id":"a","changes":[{"area":"edge","level":"loud"}],"for_ms":null}',
    '{"id":"a","changes":[],"for_ms":0}',
    `{"id":"a","changes":[],"for_ms":${FOR_MS_MAX + 1}}`,
    `"${"x".repeat(20_000)}"`,
  ];
  for (const text of wrong) {
    writeFileSync(file, text);
    changes.take();
    assert.match(lines.at(-1) ?? "", /a request of selvedge log level was not carried out/);
    assert.equal(existsSync(file), false);
  }
  assert.equal(lines.length, wrong.length);
  assert.deepEqual(answers, []);
  changes.close();
  writeLevelRequest(dataDir, { id: "later", changes: [], for_ms: null });
  changes.take();
  assert.deepEqual(answers, [], "the process that takes over answers it");
  assert.equal(existsSync(file), true);
});

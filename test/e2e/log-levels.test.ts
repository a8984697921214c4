import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ShownLevel } from "#app/operations/level-request.ts";
import { eventually } from "../support/eventually.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");

interface Result {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (...args: readonly string[]): Promise<Result> =>
  new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }));
  });

test("log levels of areas change while the server runs, come back after their time, and a restart forgets them", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-log-levels-"));
  const config = join(dataDir, "selvedge.toml");
  await writeFile(config, '[log]\nlevels = { gateway = "error" }\n');
  const selvedge = await startSelvedge({ dataDir, args: ["--config", config] });
  t.after(async () => {
    await selvedge.stop();
    await removeDirectory(dataDir);
  });
  const level = (...args: readonly string[]): Promise<Result> => run("log", "level", "--data", dataDir, ...args);
  const levels = async (...args: readonly string[]): Promise<Readonly<Record<string, ShownLevel>>> => {
    const { code, stdout, stderr } = await level(...args, "--json");
    assert.equal(code, 0, stderr);
    return Object.fromEntries((JSON.parse(stdout) as { levels: ShownLevel[] }).levels.map((one) => [one.area, one]));
  };
  const call = async (): Promise<void> => void (await fetch(`${selvedge.ready.api}/user/tokens/verify`));
  const requests = (): number => selvedge.log().match(/"msg":"request"/g)?.length ?? 0;
  const shown = (area: string, now: string, configured: string, until: string | null) => ({ area, level: now, configured, until });

  const first = await levels();
  assert.deepEqual(
    [first["api"], first["gateway"], first["other"]],
    [shown("api", "info", "info", null), shown("gateway", "error", "error", null), shown("other", "info", "info", null)],
  );
  await call();
  assert.equal(requests(), 0);

  const set = await level("api=debug", "gateway=warn");
  assert.equal(set.code, 0, set.stderr);
  assert.match(set.stdout, /^AREA +LEVEL +CONFIGURED +UNTIL$/m);
  assert.match(set.stdout, /^api +debug +info +the next restart$/m);
  assert.match(set.stdout, /^edge +info +info$/m);
  await eventually(async () => {
    await call();
    return requests() > 0;
  });
  await selvedge.logged(/"levels":\{"api":"debug","gateway":"warn"\}/);

  const reloaded = await run("reload", "--data", dataDir);
  assert.equal(reloaded.code, 0, reloaded.stderr);
  assert.deepEqual((await levels())["api"], shown("api", "debug", "info", "restart"));

  const limited = (await levels("all=configured", "api=debug", "--for", "1s"))["api"];
  assert.match(limited?.until ?? "", /^\d{4}-/);
  await eventually(() => selvedge.log().includes("the configured log level is in force again"));
  const after = await levels();
  assert.deepEqual([after["api"], after["gateway"]], [first["api"], first["gateway"]]);
  const before = requests();
  await call();
  assert.equal(requests(), before);

  assert.deepEqual((await levels("all=error"))["edge"], shown("edge", "error", "info", "restart"));
  const restarted = await run("restart", "--data", dataDir);
  assert.equal(restarted.code, 0, restarted.stderr);
  assert.deepEqual(await levels(), first);
});

test("selvedge log level names unknown areas and levels, with the nearest and the known ones", async (t) => {
  const empty = await mkdtemp(join(tmpdir(), "selvedge-log-levels-"));
  t.after(() => removeDirectory(empty));
  const refused: readonly (readonly [args: readonly string[], code: number, error: RegExp])[] = [
    [["egde=debug"], 2, /unknown area "egde"; did you mean "edge"\? Areas: api, jobs, .*, other, all/],
    [["edge=debgu"], 2, /unknown level "debgu"; did you mean "debug"\? Levels: debug, info, warn, error, silent, configured/],
    [["edge=x"], 2, /unknown level "x"\. Levels: debug/],
    [["edge"], 2, /"edge" has no level: write AREA=LEVEL, such as edge=debug\. Areas: api, .*Levels: debug/],
    [["edge=debug", "--for", "soon"], 2, /--for takes a number and a unit, such as 90d, 12h, 30m or 600s, not "soon"/],
    [["edge=debug", "--for", "8d"], 2, /--for takes at most 7d/],
    [["--for", "5m"], 2, /--for needs a level to set/],
    [["edge=debug"], 3, /no server runs on/],
  ];
  for (const [args, code, error] of refused) {
    const { stderr, ...result } = await run("log", "level", "--data", empty, ...args);
    assert.equal(result.code, code, stderr);
    assert.match(stderr, error);
  }
  assert.deepEqual(JSON.parse((await run("log", "level", "--data", empty, "--json")).stdout), { status: "not running", data: empty });
});

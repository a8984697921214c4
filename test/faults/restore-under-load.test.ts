import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { findTool } from "../../tools/system-tools.ts";
import { PATIENCE_MS } from "../support/eventually.ts";
import { startPostgres } from "../support/postgres.ts";
import { api, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

/** Requests while half of the dump is loaded. */
const DURING = 40;

/**
 * A dump that is loaded statement by statement, as `pg_restore` does, first removes all tables, and then has tables without rows. A client
 * that asks meanwhile must not hear that its token is invalid, or that its zones are gone: it would act on that.
 */
test(
  "while a dump is loaded into the running database clients get retryable errors, and never that an object does not exist",
  { skip: toolOrSkip("postgres"), timeout: 200_000 },
  async (t) => {
    const postgres = startPostgres();
    t.after(() => postgres.stop());
    const bin = dirname(realpathSync(findTool("postgres") ?? ""));
    const url = await postgres.createDatabase();
    const scratch = mkdtempSync(join(tmpdir(), "selvedge-restore-load-"));
    t.after(() => rmSync(scratch, { recursive: true, force: true }));
    const selvedge = await startSelvedge({ args: ["--database-url", url] });
    t.after(() => selvedge.kill());
    const token = selvedge.ready.token ?? "";
    const account = { id: selvedge.ready.account_id };
    const zone = (await api(selvedge, token, "POST", "/zones", { name: "kept.example", account })).body.result.id;

    const dump = join(scratch, "dump.sql");
    const dumped = spawnSync(join(bin, "pg_dump"), ["--clean", "--if-exists", `--file=${dump}`, `--dbname=${url}`], { encoding: "utf8" });
    assert.equal(dumped.status, 0, dumped.stderr);
    const parts = readFileSync(dump, "utf8")
      .replaceAll(/^\\(?:un)?restrict .*$/gm, "")
      .split(/^(?=COPY public\.tokens )/m);
    assert.equal(parts.length, 2, "the dump has rows of tokens");
    const load = async (part: string, n: number): Promise<void> => {
      writeFileSync(`${dump}.${n}`, part);
      const child = spawn(join(bin, "psql"), ["-q", "-v", "ON_ERROR_STOP=1", `--file=${dump}.${n}`, `--dbname=${url}`], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      assert.deepEqual(await once(child, "close"), [0, null]);
    };

    const answers = new Map<string, number>();
    let asked = 0;
    let isOver = false;
    const calls: readonly (readonly [method: string, path: string, body?: object])[] = [
      ["GET", "/zones?name=kept.example"],
      ["GET", `/zones/${zone}`],
      ["GET", `/zones/${zone}/dns_records`],
      ["POST", `/zones/${zone}/dns_records`, { type: "TXT", name: "kept.example", content: '"here"', ttl: 60 }],
    ];
    const clients = calls.map(async ([method, path, body]) => {
      while (!isOver) {
        const answer = await api(selvedge, token, method, path, body);
        const { errors, result } = answer.body;
        const found = Array.isArray(result) && path.startsWith("/zones?") ? ` ${result.length} zones` : "";
        // The record exists after the first time.
        const shown = errors[0]?.code === 81058 ? "200" : `${answer.status}${errors[0] ? ` ${errors[0].code}` : ""}${found}`;
        answers.set(shown, (answers.get(shown) ?? 0) + 1);
        asked++;
      }
    });
    await load(parts[0] ?? "", 0);
    const before = asked;
    for (const until = performance.now() + PATIENCE_MS; asked < before + DURING; await delay(20))
      assert.ok(performance.now() < until, "the clients got no further");
    await load(parts[1] ?? "", 1);
    for (const until = performance.now() + PATIENCE_MS; ; await delay(50)) {
      if ((await api(selvedge, token, "GET", `/zones/${zone}`)).status === 200) break;
      assert.ok(performance.now() < until, "the API did not come back");
    }
    isOver = true;
    await Promise.all(clients);
    t.diagnostic(JSON.stringify(Object.fromEntries(answers)));
    assert.deepEqual(
      [...answers.keys()].filter((shown) => !["200", "200 1 zones", "503 10503"].includes(shown)),
      [],
    );
    assert.ok(answers.has("503 10503"));
  },
);

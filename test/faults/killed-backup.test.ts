import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { api, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");
/** Enough to catch the program before its end. */
const LARGE_BYTES = 48 * 1024 * 1024;

const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SELVEDGE_")));

const run = (...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], { env: environment, timeout: 180_000, killSignal: "SIGKILL" }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), text: out + err }),
    );
  });

/** Kills the program as soon as the condition holds. */
async function killWhen(isTime: () => boolean, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: environment, stdio: "ignore" });
  const closed = once(child, "close");
  while (child.exitCode === null && child.signalCode === null && !isTime()) await delay(1);
  child.kill("SIGKILL");
  const [code, signal] = await closed;
  assert.deepEqual([code, signal], [null, "SIGKILL"], "it was killed before its end");
}

const directory = (t: TestContext): string => {
  const path = mkdtempSync(join(tmpdir(), "selvedge-killed-backup-"));
  t.after(() => removeDirectory(path));
  return path;
};

/** A data directory with a zone and a large part, whose server has stopped. */
async function preparedData(t: TestContext): Promise<{ readonly data: string; readonly token: string }> {
  const data = directory(t);
  const server = await startSelvedge({ dataDir: data });
  const token = server.ready.token ?? "";
  const made = await api(server, token, "POST", "/zones", { name: "kept.example", account: { id: server.ready.account_id } });
  assert.equal(made.status, 200);
  await server.stop();
  // Noise, which no compression makes small.
  const noise = Buffer.alloc(LARGE_BYTES);
  for (let i = 0, state = 1; i < noise.length; i += 4) noise.writeUInt32LE((state = Math.imul(state, 1664525) + 1013904223) >>> 0, i);
  // As the AI gateway leaves it, which has not started here.
  mkdirSync(join(data, "gateway"), { recursive: true });
  writeFileSync(join(data, "gateway", "spend.journal"), noise);
  return { data, token };
}

test("kill -9 of a backup leaves no file of that name, and the next backup deletes its temporary files", async (t) => {
  const { data } = await preparedData(t);
  const place = directory(t);
  const file = join(place, "copy.tar.gz");
  const left = (): readonly string[] => readdirSync(place).filter((name) => name.startsWith(".selvedge-backup-"));
  const isWriting = (): boolean => left().some((name) => existsSync(join(place, name, "backup")));
  for (let round = 1; round <= 2; round++) {
    await killWhen(isWriting, "backup", file, "--data", data);
    assert.equal(existsSync(file), false);
    assert.equal(left().length, 1, "what the kill of the round before left is gone");
  }
  const done = await run("backup", file, "--data", data);
  assert.equal(done.code, 0, done.text);
  assert.deepEqual(readdirSync(place), ["copy.tar.gz"]);
});

test("kill -9 of a restore: no server starts in the directory, and a second restore completes it", async (t) => {
  const { data, token } = await preparedData(t);
  const file = join(directory(t), "copy.tar.gz");
  assert.equal((await run("backup", file, "--data", data)).code, 0);
  const target = join(directory(t), "restored");
  const work = join(target, ".restore");
  await killWhen(() => existsSync(join(work, "gateway", "spend.journal")), "restore", file, "--data", target);
  // As if it had been killed while it moved the files.
  const moved = ["events.db", "seal.key"].filter((name) => existsSync(join(work, name)));
  for (const name of moved) renameSync(join(work, name), join(target, name));

  const refused = await run("start", "--data", target, "--api-port", "0", "--gateway-port", "0", "--dns-port", "0", "--json");
  assert.notEqual(refused.code, 0);
  assert.match(refused.text, /ended halfway: run selvedge restore again/);
  const again = await run("restore", file, "--data", target);
  assert.equal(again.code, 0, again.text);
  const server = await startSelvedge({ dataDir: target });
  t.after(() => server.stop());
  const { body } = await api(server, token, "GET", "/zones?name=kept.example");
  assert.equal(body.result.length, 1);
  const used = await run("restore", file, "--data", target);
  assert.match(used.text, /is not empty/);
});

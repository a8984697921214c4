import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createSealer } from "#kernel/crypto/seal.ts";
import { storeTest } from "../../../test/support/store.ts";
import { openKeyFile, verifyKey } from "./key-file.ts";

function temporaryPath(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-key-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "seal.key");
}

test("a key is created once, readable only by its owner, and read again later", (t) => {
  const path = temporaryPath(t);
  const key = openKeyFile({ path, databaseExists: false });
  assert.equal(key.length, 32);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(path, "..")), ["seal.key"]);
  assert.deepEqual(openKeyFile({ path, databaseExists: true }), key);
  assert.deepEqual(openKeyFile({ path, databaseExists: false }), key);
});

test("the file mask neither loosens nor breaks the mode", (t) => {
  const path = temporaryPath(t);
  const mask = process.umask(0o777);
  t.after(() => process.umask(mask));
  openKeyFile({ path, databaseExists: false });
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("a missing key is not replaced if a database needs the old one", (t) => {
  const path = temporaryPath(t);
  assert.throws(
    () => openKeyFile({ path, databaseExists: true }),
    /missing .* backup, or copy it from another server that uses this database/,
  );
  assert.deepEqual(readdirSync(join(path, "..")), []);
});

test("a key that others can read, or of the wrong size, is refused", (t) => {
  const path = temporaryPath(t);
  openKeyFile({ path, databaseExists: false });
  for (const mode of [0o640, 0o604, 0o620, 0o666]) {
    chmodSync(path, mode);
    assert.throws(() => openKeyFile({ path, databaseExists: true }), /chmod 600/);
  }
  chmodSync(path, 0o600);
  writeFileSync(path, Buffer.alloc(31));
  assert.throws(() => openKeyFile({ path, databaseExists: true }), /31 bytes/);
});

storeTest("a key of another database is detected at the start", async ({ store }) => {
  const right = createSealer(Buffer.alloc(32, 1));
  await verifyKey(store, right, "2026-01-01T00:00:00.000000Z");
  await verifyKey(store, right, "2026-01-02T00:00:00.000000Z");
  await assert.rejects(verifyKey(store, createSealer(Buffer.alloc(32, 2)), "2026-01-01T00:00:00.000000Z"), /does not belong/);
});

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, truncateSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { systemClock } from "#kernel/clock.ts";
import { fillDisk, smallDisk } from "../../../test/support/small-disk.ts";
import { makeBackup } from "./make-backup.ts";

test("a backup on a full disk says which disk is full, and leaves nothing there", async (t) => {
  const disk = smallDisk(t, 1);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-data-"));
  t.after(() => rmSync(dataDir, { recursive: true }));
  writeFileSync(join(dataDir, "seal.key"), Buffer.alloc(32), { mode: 0o600 });
  const controlPath = join(dataDir, "control.db");
  const db = new DatabaseSync(controlPath);
  db.exec("CREATE TABLE t (x); INSERT INTO t VALUES (randomblob(400000))");
  db.close();
  const filler = join(disk, "filler");
  fillDisk(filler);
  const attempt = (name: string) =>
    makeBackup({ dataDir, controlPath, file: join(disk, name), lock: null, version: "0.0.0", clock: systemClock });
  // The last one has room for the copy of the database, and not for the beginning of the backup beside it.
  for (const freeBytes of [0, 8_192, 120_000, statSync(controlPath).size + 20_000]) {
    truncateSync(filler, statSync(filler).size - freeBytes);
    await assert.rejects(attempt("one.tar.gz"), (error: Error) => error.message.startsWith(`the disk of ${disk} is full: `));
    assert.deepEqual(readdirSync(disk), ["filler"], `${freeBytes} bytes`);
    rmSync(filler);
    fillDisk(filler);
  }
  rmSync(filler);
  assert.equal((await attempt("one.tar.gz")).file, join(disk, "one.tar.gz"));
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { systemClock } from "#kernel/clock.ts";
import { allOf, type ObjectServer, startObjectServer } from "../../../test/support/object-server.ts";
import { createObjectStore, ObjectStoreError } from "./object-store.ts";

let server: ObjectServer;
before(async () => {
  server = await startObjectServer();
});
after(() => server.close());

const listed = async (store: ReturnType<typeof createObjectStore>, start: string): Promise<string[]> =>
  (await allOf(store.list(start))).flat().map(({ key }) => key);

test("objects are put, read, listed over several pages and removed, below the prefix only", async () => {
  const store = createObjectStore(server.config("edge one/"), systemClock);
  const bytes = randomBytes(100_000);
  for (const key of ["images/a", "images/b", "images/c", "images/ü+ &?('*)!", "other/d"]) await store.put(key, bytes);
  server.objects.set("elsewhere/images/x", { bytes, modified: new Date() });
  assert.deepEqual(await store.get("images/a", 100_000), bytes);
  assert.equal(await store.get("images/none", 100), null);
  assert.deepEqual((await listed(store, "images/")).slice(0, 3), ["images/a", "images/b", "images/c"]);
  assert.ok(server.objects.has("edge one/images/ü+ &?('*)!"));
  await store.remove("images/a");
  await store.remove("images/a");
  assert.equal(await store.get("images/a", 100_000), null);
  await assert.rejects(store.get("images/b", 99_999), /more than 99999 bytes/);
});

test("a file is put whole", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-s3-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const bytes = randomBytes(3_000_000);
  writeFileSync(join(folder, "file"), bytes);
  await createObjectStore(server.config(), systemClock).putFile("backups/file", join(folder, "file"));
  assert.ok(server.objects.get("backups/file")?.bytes.equals(bytes));
});

test("errors name the operation, the bucket and the server's code, and not the secret", async () => {
  const wrong = createObjectStore({ ...server.config(), secret_access_key: "another secret" }, systemClock);
  await assert.rejects(wrong.put("a", Buffer.from("a")), (error: Error) => {
    assert.ok(error instanceof ObjectStoreError);
    assert.equal(error.message, "PUT a of bucket bucket: the server responded with 403 SignatureDoesNotMatch");
    return true;
  });
  server.fails = 503;
  await assert.rejects(createObjectStore(server.config(), systemClock).get("a", 10), /503 SlowDown/);
  server.fails = 0;
  const silent = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  await assert.rejects(createObjectStore({ ...server.config(), endpoint }, systemClock).get("a", 10), ObjectStoreError);
  silent.close();
});

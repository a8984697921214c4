import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createObjectStore } from "#wire/s3/object-store.ts";
import { allOf, type ObjectServer, startObjectServer } from "../../../test/support/object-server.ts";
import { createImageFiles, type ImageFiles } from "./image-files.ts";

let server: ObjectServer;
before(async () => {
  server = await startObjectServer();
});
after(() => server.close());

function machine(t: TestContext, prefix: string): { readonly directory: string; readonly files: ImageFiles } {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-images-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return { directory, files: createImageFiles(directory, createObjectStore(server.config(prefix), systemClock)) };
}

const names = async (files: ImageFiles, ms: number): Promise<string[]> => [...new Set((await allOf(files.olderThan(ms))).flat())];
const LATER = (): number => systemClock.nowMs() + 60_000;

test("with a bucket, each machine has the files of all, as copies that can go", async (t) => {
  const [one, two] = [machine(t, "shared/"), machine(t, "shared/")];
  const bytes = Buffer.from("the bytes of an image");
  const { blob_id: name } = await one.files.add(bytes);
  assert.equal(await two.files.find(name), null, "not yet kept");
  await one.files.keep(name);
  const path = await two.files.find(name);
  assert.ok(path !== null && path.startsWith(two.directory));
  assert.deepEqual(readFileSync(path), bytes);
  assert.deepEqual(readdirSync(join(two.directory, name.slice(0, 2))), [name], "and no unfinished copy");

  await two.files.evict(LATER());
  assert.deepEqual(readdirSync(join(two.directory, name.slice(0, 2))), []);
  assert.deepEqual(await two.files.read(name), bytes);
  assert.deepEqual(await names(two.files, 0), [], "none is older");

  await one.files.remove(name);
  assert.equal(server.objects.size, 0);
  assert.equal(await one.files.find(name), null);
});

test("files in the bucket that no machine has are found for the sweep", async (t) => {
  const { files } = machine(t, "swept/");
  const kept = await Promise.all(Array.from({ length: 5 }, async () => (await files.add(Buffer.from("x"))).blob_id));
  for (const name of kept) await files.keep(name);
  const other = machine(t, "swept/").files;
  assert.deepEqual((await names(other, LATER())).toSorted(), kept.toSorted());
  for (const name of kept) await other.remove(name);
  assert.deepEqual(await names(other, LATER()), []);
});

test("a bucket that fails is an error of the storage, and a deletion does not wait for it", async (t) => {
  const { files } = machine(t, "failing/");
  const { blob_id: name } = await files.add(Buffer.from("x"));
  server.fails = 500;
  const isStorage = (error: unknown): boolean => error instanceof PlatformError && error.errorName === "image_storage";
  await assert.rejects(files.keep(name), isStorage);
  await assert.rejects(files.find("0".repeat(32)), isStorage);
  await files.remove(name);
  server.fails = 0;
});

test("without a bucket, files are on this machine only, and none is evicted", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-images-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const files = createImageFiles(directory);
  const { blob_id: name, path } = await files.add(Buffer.from("x"));
  await files.keep(name);
  await files.evict(LATER());
  assert.equal(await files.find(name), path);
  assert.deepEqual(await names(files, LATER()), [name]);
});

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Op } from "#snapshot/entries.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";
import { createDiskStore } from "#edge/cache/store/disk-store.ts";
import { writeDescribed } from "#edge/cache/store/disk-writer.ts";
import { fillDisk, smallDisk } from "../support/small-disk.ts";

const LARGE_BYTES = 700_000;

async function get(edge: TestEdge, path: string): Promise<{ readonly cache: string; readonly body: string }> {
  const text = await exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n`);
  return { cache: /svc-cache-status: (\w+)/.exec(text)?.[1] ?? "", body: text.slice(text.indexOf("\r\n\r\n") + 4) };
}

/** The origin's current text for purged responses. */
let generation = "a";

const bodyOf = (path: string): string =>
  `${path} ${path === "/large-first.zip" ? generation : ""} `
    .repeat(Math.ceil(LARGE_BYTES / path.length))
    .slice(0, path.startsWith("/large") ? LARGE_BYTES : 2_000);
const metric = (edge: TestEdge, wanted: string): number => edge.metrics.samples().find(({ name }) => name === wanted)?.value ?? -1;
const faults = (edge: TestEdge): number => metric(edge, "selvedge_edge_cache_disk_faults_total");

test("with a full cache disk clients get whole responses, purges hold, no truncated response is served, and free space ends it", async (t) => {
  const disk = smallDisk(t, 4);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const directory = join(disk, "cache");
  const origin = await httpOrigin((req, res) => {
    res.writeHead(200, { "Cache-Control": "max-age=600", "Content-Length": bodyOf(req.url!).length }).end(bodyOf(req.url!));
  });
  const start = (ops: readonly Op[] = []): Promise<TestEdge> =>
    startEdge([...siteOps(origin.port), ...ops], { cacheMemoryBytesMax: 1_000_000, cacheDisk: { directory, bytesMax: 100_000_000 } });
  let edge = await start();
  t.after(async () => {
    await edge.close();
    origin.close();
  });
  const visit = async (path: string): Promise<string> => {
    const { cache, body } = await get(edge, path);
    assert.ok(body === bodyOf(path), `${path} came whole, ${cache}`);
    return cache;
  };
  await visit("/large-first.zip");
  await eventually(() => readdirSync(directory).some((name) => name.endsWith(".json")));
  assert.equal(await visit("/large-first.zip"), "HIT");

  // The disk is full after five: the limit of the cache itself is far away.
  const paths = Array.from({ length: 12 }, (_, i) => `/large-${i}.zip`);
  for (const path of paths) await visit(path);
  await eventually(() => faults(edge) > 0);
  fillDisk(join(disk, "filler"));
  for (const path of ["/small-1.css", "/small-1.css", "/small-2.css", "/small-2.css", ...paths]) await visit(path);
  assert.equal(await visit("/small-1.css"), "HIT", "from memory");
  await eventually(() => !readdirSync(directory).some((name) => name.endsWith(".new")));

  // A purge that cannot be written down beside the files holds all the same, also after a crash and without control.
  const purge: Op = {
    kind: "purge",
    id: "zone",
    value: { count: 1, recent: [{ by: "files", values: ["http://www.example.com/large-first.zip"] }] },
  };
  const before = faults(edge);
  fillDisk(join(disk, "more"));
  edge.replica.apply([purge]);
  assert.ok(faults(edge) > before, "it could not be written down");
  generation = "b";
  assert.equal(await visit("/large-first.zip"), "MISS");
  await edge.close();
  edge = await start();
  await visit("/large-first.zip");
  assert.ok(edge.errors.length <= 1, "the disk is reported once, and counted");

  for (const name of ["filler", "more"]) rmSync(join(disk, name));
  await edge.close();
  edge = await start();
  let cache = "";
  for (let i = 0; i < 100 && cache !== "HIT"; i++) cache = await visit("/large-new.zip");
  assert.equal(cache, "HIT");
});

test("a file with a header that does not fit on the disk is removed", async (t) => {
  const disk = smallDisk(t, 1);
  if (typeof disk !== "string") return t.skip(disk.skip);
  fillDisk(join(disk, "filler"));
  await assert.rejects(writeDescribed(disk, "0".repeat(24), "a description"), { code: "ENOSPC" });
  assert.deepEqual(readdirSync(disk), ["filler"]);
});

test("a start on a full disk keeps the recorded purges, and records new ones once the disk has space", async (t) => {
  const disk = smallDisk(t, 1);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const directory = join(disk, "cache");
  const errors: unknown[] = [];
  const open = () =>
    createDiskStore({ directory, bytesMax: 1e6, indexBytesMax: 1e6, isGone: () => false, onError: (error) => errors.push(error) });
  const zones = Array.from({ length: 1_000 }, (_, i) => `zone-${i} 1\n`).join("");
  mkdirSync(directory);
  // The end of the last line was lost with the power.
  writeFileSync(join(directory, "purges"), `${zones}torn`);
  fillDisk(join(disk, "filler"));

  const store = open();
  assert.equal((errors[0] as NodeJS.ErrnoException).code, "ENOSPC");
  assert.deepEqual(readdirSync(directory), ["purges"]);
  assert.equal(readFileSync(join(directory, "purges"), "utf8"), `${zones}torn`);

  rmSync(join(disk, "filler"));
  store.notePurges("late", 3);
  assert.equal(readFileSync(join(directory, "purges"), "utf8"), `${zones}late 3\n`);
  await store.close();
});

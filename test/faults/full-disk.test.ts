import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { api, startSelvedge } from "../support/selvedge.ts";
import { fillDisk, smallDisk } from "../support/small-disk.ts";

test("on a full disk writes get their error code, everything else works, and free space ends it", async (t) => {
  const disk = smallDisk(t);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const selvedge = await startSelvedge({ dataDir: join(disk, "state") });
  t.after(() => selvedge.kill());
  const call = (method: string, path: string, body?: object) => api(selvedge, selvedge.ready.token ?? "", method, path, body);
  const zone = await call("POST", "/zones", { name: "full.example", account: { id: selvedge.ready.account_id } });
  const records = `/zones/${zone.body.result.id}/dns_records`;
  const put = (name: string) => call("POST", records, { type: "A", name, content: "192.0.2.1", ttl: 60 });
  const resolver = new Resolver({ tries: 2, timeout: 20_000 });
  resolver.setServers([selvedge.ready.dns]);
  assert.equal((await put("before")).status, 200);

  fillDisk(join(disk, "filler"));
  // Free room in the database's log is used first, however much that is.
  let stored = 1;
  while ((await put(`fits-${stored}`)).status === 200) assert.ok(stored++ < 5_000, "the disk is not full");
  const names = Array.from({ length: 20 }, (_, i) => `full-${i}`);
  const answers = await Promise.all(names.map(async (name) => ({ name, ...(await put(name)) })));
  // Once the log is copied into the file, there is room in it for some more.
  const refusals = answers.filter(({ status }) => status !== 200);
  stored += answers.length - refusals.length;
  assert.ok(refusals.length > 10);
  for (const refused of refusals) {
    assert.equal(refused.status, 507);
    assert.equal(refused.body.errors.length, 1);
    assert.partialDeepStrictEqual(refused.body.errors[0], { code: 10507, message: "The server's storage is full; nothing was changed" });
  }
  assert.equal((await call("GET", records)).body.result_info.total_count, stored, "reading goes on, and nothing was stored");
  const ready = await fetch(`${selvedge.ready.ops}/readyz`);
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), /its disk is full/);
  assert.deepEqual(await resolver.resolve4("before.full.example"), ["192.0.2.1"]);
  await assert.rejects(resolver.resolve4(`${refusals[0]!.name}.full.example`), { code: "ENOTFOUND" });

  rmSync(join(disk, "filler"));
  assert.equal((await put("after")).status, 200);
  assert.deepEqual(await resolver.resolve4("after.full.example"), ["192.0.2.1"]);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});

test("a start on a disk that is full, or soon will be, names the place that needs space in one line", async (t) => {
  const disk = smallDisk(t, 1);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const start = () => startSelvedge({ dataDir: join(disk, "state") });
  // Too little for the tables of the database.
  writeFileSync(join(disk, "filler"), Buffer.alloc(600 << 10));
  await assert.rejects(start(), ({ message }: Error) => {
    assert.match(message, /^selvedge: cannot start: .*full.*(room on|--data)/m);
    assert.doesNotMatch(message, /^ +at .*state/m);
    return message.includes(disk);
  });
  rmSync(join(disk, "state"), { recursive: true });
  fillDisk(join(disk, "filler"));
  await assert.rejects(
    start(),
    ({ message }: Error) => message.includes(disk) && /^selvedge: cannot start: cannot keep state in .*--data$/m.test(message),
  );
});

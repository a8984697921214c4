import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { api, startSelvedge } from "../support/selvedge.ts";

/** A file system of its own that is soon full, or why there can be none. */
function smallDisk(t: TestContext): string | { readonly skip: string } {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-disk-"));
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", directory], { encoding: "utf8" });
  if (status !== 0) {
    rmSync(directory, { recursive: true });
    return { skip: `no small file system can be mounted here: ${stderr ?? "no mount"}` };
  }
  t.after(() => {
    spawnSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** Takes what room there is, to the last byte. */
function fill(file: string): void {
  for (let size = 1 << 20; size >= 1; size = size === 1 ? 0 : size >> 1) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    }
  }
}

test("on a full disk writes are refused by their code, everything else goes on, and room ends it", async (t) => {
  const disk = smallDisk(t);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const selvedge = await startSelvedge({ dataDir: join(disk, "state") });
  t.after(() => selvedge.kill());
  const call = (method: string, path: string, body?: object) => api(selvedge, selvedge.ready.token ?? "", method, path, body);
  const zone = await call("POST", "/zones", { name: "full.example", account: { id: selvedge.ready.account_id } });
  const records = `/zones/${zone.body.result.id}/dns_records`;
  const put = (name: string) => call("POST", records, { type: "A", name, content: "192.0.2.1", ttl: 60 });
  const resolver = new Resolver({ tries: 2, timeout: 2000 });
  resolver.setServers([selvedge.ready.dns]);
  assert.equal((await put("before")).status, 200);

  fill(join(disk, "filler"));
  for (const refused of await Promise.all(Array.from({ length: 20 }, (_, i) => put(`full-${i}`)))) {
    assert.equal(refused.status, 507);
    assert.deepEqual(refused.body.errors, [{ code: 10507, message: "The server's storage is full; nothing was changed" }]);
  }
  assert.equal((await call("GET", records)).body.result_info.total_count, 1, "reading goes on, and nothing was stored");
  assert.deepEqual(await resolver.resolve4("before.full.example"), ["192.0.2.1"]);
  await assert.rejects(resolver.resolve4("full-1.full.example"), { code: "ENOTFOUND" });

  rmSync(join(disk, "filler"));
  assert.equal((await put("after")).status, 200);
  assert.deepEqual(await resolver.resolve4("after.full.example"), ["192.0.2.1"]);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});

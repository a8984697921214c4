import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { api, startSelvedge, type Selvedge } from "../support/selvedge.ts";

const LINES = 20_000;
const FLAGS = ["--dns-import-bytes-max", String(64 * 1024 * 1024), "--api-rate-limit-requests", "0"];

/**
 * kill -9 while a large zone file is being imported. The promise: all of it or nothing. After the restart the nameserver
 * answers none of its records; what had been written is taken back, and the import, whose file was kept, is done again.
 */
test("kill -9 during an import: no server shows it as finished until the next start completes it", { timeout: 180_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-killed-import-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const first = await startSelvedge({ dataDir, args: FLAGS });
  const token = first.ready.token ?? "";
  const zone = (await api(first, token, "POST", "/zones", { name: "killed.example", account: { id: first.ready.account_id } })).body.result
    .id;
  const records = `/zones/${zone}/dns_records`;
  assert.equal((await api(first, token, "POST", records, { type: "A", name: "own", content: "192.0.2.9", ttl: 300 })).status, 200);
  const total = async (server: Selvedge): Promise<number> => (await api(server, token, "GET", records)).body.result_info.total_count;

  const form = new FormData();
  form.set("file", new Blob([Array.from({ length: LINES }, (_, i) => `h${i} 300 A 192.0.2.1\n`).join("")]), "zone.txt");
  const answer = fetch(`${first.ready.api}${records}/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  const outcome = answer.then(({ status }) => `HTTP ${status}`).catch(() => "killed");
  while ((await total(first)) < 2_000) await delay(10);
  await first.kill();
  assert.equal(await outcome, "killed");

  const second = await startSelvedge({ dataDir, args: FLAGS });
  try {
    const resolver = new Resolver({ timeout: 20_000 });
    resolver.setServers([second.ready.dns]);
    assert.deepEqual(await resolver.resolve4("own.killed.example"), ["192.0.2.9"]);
    await assert.rejects(resolver.resolve4("h0.killed.example"), { code: "ENOTFOUND" });
    const deadline = performance.now() + 60_000;
    const imports = async () => (await api(second, token, "GET", `${records}/import`)).body.result;
    while ((await imports())[0].finished_on === null && performance.now() < deadline) await delay(100);
    const [done] = await imports();
    assert.deepEqual([done.status, done.recs_added, done.errors], ["done", LINES, []]);
    assert.equal(await total(second), LINES + 1);
    const { result } = (await api(second, token, "GET", `/zones/${zone}/dns_versions`)).body;
    assert.deepEqual(
      result.map(({ kind }: { kind: string }) => kind),
      ["import", "create"],
    );
    assert.deepEqual(await resolver.resolve4(`h${LINES - 1}.killed.example`), ["192.0.2.1"]);
    assert.deepEqual(await resolver.resolve4("own.killed.example"), ["192.0.2.9"]);
  } finally {
    await second.stop();
  }
});

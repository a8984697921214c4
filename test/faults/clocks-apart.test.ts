import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../support/postgres.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const APART_MS = 300_000;
/** Far below what the clocks are apart, and far above what an answer takes. */
const NEAR_MS = 90_000;
const LINES = 40_000;

const SHIFTED = {
  NODE_OPTIONS: `--import=${join(import.meta.dirname, "../support/shifted-clock.ts")}`,
  TEST_CLOCK_SHIFT_MS: String(APART_MS),
};

const isNear = (time: string, what: string): void => {
  const apartMs = Math.abs(Date.parse(time) - Date.now());
  assert.ok(apartMs < NEAR_MS, `${what} is ${apartMs} ms from the database's time`);
};

test(
  "two servers on one PostgreSQL with clocks five minutes apart agree on timestamps, serials, token expiry and job leases",
  { skip: toolOrSkip("postgres"), timeout: 300_000 },
  async (t) => {
    const postgres = startPostgres();
    t.after(() => postgres.stop());
    const url = await postgres.createDatabase();
    const scratch = mkdtempSync(join(tmpdir(), "selvedge-clocks-apart-"));
    t.after(() => rmSync(scratch, { recursive: true, force: true }));
    const args = ["--database-url", url, "--dns-import-bytes-max", String(64 * 1024 * 1024)];
    const right = await startSelvedge({ dataDir: join(scratch, "right"), args });
    t.after(() => right.kill());
    mkdirSync(join(scratch, "ahead"), { mode: 0o700 });
    cpSync(join(scratch, "right", "seal.key"), join(scratch, "ahead", "seal.key"));
    const ahead = await startSelvedge({ dataDir: join(scratch, "ahead"), args, env: SHIFTED });
    t.after(() => ahead.kill());
    const token = right.ready.token ?? "";
    const call = async (node: Selvedge, method: string, path: string, body?: object) => {
      const answer = await api(node, token, method, path, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.result;
    };
    const account = { id: right.ready.account_id };

    // The other server looks for abandoned work five seconds after its start, while this goes on.
    const large = (await call(right, "POST", "/zones", { name: "large.example", account, plan: { id: "enterprise" } })).id;
    const form = new FormData();
    form.set("file", new Blob([Array.from({ length: LINES }, (_, i) => `h${i} 300 A 192.0.2.1\n`).join("")]), "zone.txt");
    const imported = fetch(`${right.ready.api}/zones/${large}/dns_records/import`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });

    const zone = await call(ahead, "POST", "/zones", { name: "apart.example", account });
    isNear(zone.created_on, "the time of a zone");
    for (const [node, name] of [
      [ahead, "first"],
      [right, "second"],
    ] as const) {
      const record = await call(node, "POST", `/zones/${zone.id}/dns_records`, { type: "A", name, content: "192.0.2.1", ttl: 60 });
      isNear(record.created_on, `the time of the ${name} record`);
    }
    const versions: readonly { readonly created_on: string }[] = await call(right, "GET", `/zones/${zone.id}/dns_versions`);
    const times = versions.map(({ created_on }) => created_on);
    assert.deepEqual(times, times.toSorted().toReversed(), "entries of both servers are in the order of their times");
    const resolver = new Resolver({ tries: 2, timeout: 20_000 });
    resolver.setServers([right.ready.dns]);
    const { serial } = await resolver.resolveSoa("apart.example");
    isNear(new Date(serial * 1000).toISOString(), "the serial");

    const [group] = await call(right, "GET", "/user/tokens/permission_groups?name=Zone%20Read");
    const made = await call(right, "POST", "/user/tokens", {
      name: "for some minutes",
      expires_on: new Date(Date.now() + APART_MS - NEAR_MS).toISOString().replace(/\.\d+Z$/, "Z"),
      policies: [{ effect: "allow", resources: { "com.cloudflare.api.account.zone.*": "*" }, permission_groups: [{ id: group.id }] }],
    });
    for (const node of [right, ahead])
      assert.equal((await api(node, made.value, "GET", "/zones")).status, 200, "the token has not expired");

    const { status } = await imported;
    assert.equal(status, 200);
    const imports = async () => (await call(right, "GET", `/zones/${large}/dns_records/import`))[0];
    while ((await imports()).finished_on === null) await delay(100);
    const { status: end, errors, recs_added } = await imports();
    assert.deepEqual([end, errors, recs_added], ["done", [], LINES]);
    await ahead.logged(/the clock of this machine differs from the database's/);
  },
);

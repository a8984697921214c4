import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";

const ROUNDS = 4;
const ENTRY = "rulesets/phases/http_request_firewall_managed/entrypoint";
const ATTACK = "/?q=1%20UNION%2F**%2FSELECT%20null,null";

/**
 * kill -9 while a zone moves from the previous WAF to the new one. The promise of SPEC 4.6: the zone has one of both, and
 * never neither, whenever the power goes.
 */
test(`SPEC 4.6: kill -9 during a migration leaves exactly one WAF active, over ${ROUNDS} rounds`, { timeout: 300_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-migration-"));
  const origin = createServer((_, res) => res.end("origin"));
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    origin.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const env = { SELVEDGE_EDGE_WORKERS: "1", SELVEDGE_API_RATE_LIMIT_REQUESTS: "0" };
  let selvedge = await startSelvedge({ dataDir, env });
  const token = selvedge.ready.token ?? "";
  const reached = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const zone = await zoneWithPreviousWaf(selvedge, token, `round${round}.test`, (origin.address() as AddressInfo).port);
    const config = (await api(selvedge, token, "GET", `${zone}/waf_migration/config?phase_two=1`)).body.result;
    const put = api(selvedge, token, "PUT", `${zone}/${ENTRY}?waf_migration=pending&phase_two=1`, config).then(
      ({ status }) => status,
      () => null,
    );
    // The last round waits for the answer: what was answered must be there.
    if (round < ROUNDS - 1) await delay(round * 4);
    else await put;
    await selvedge.kill();
    const answered = await put;
    selvedge = await startSelvedge({ dataDir, env });
    const status = (await api(selvedge, token, "GET", `${zone}/waf_migration/status`)).body.result;
    const entry = await api(selvedge, token, "GET", `${zone}/${ENTRY}`);
    const { old_waf_status: old, new_waf_status: now, migration_state: state } = status;
    reached.add(state);
    if (answered === 200) assert.equal(state, "pending");
    assert.deepEqual([old, now, entry.status], state === "pending" ? ["disabled", "enabled", 200] : ["enabled", "disabled", 404]);
    assert.equal(await visit(selvedge, `www.round${round}.test`), 403);
  }
  assert.ok(reached.has("pending"));
  await selvedge.stop();
});

async function zoneWithPreviousWaf(selvedge: Selvedge, token: string, name: string, port: number): Promise<string> {
  const made = await api(selvedge, token, "POST", "/zones", { name, account: { id: selvedge.ready.account_id } });
  const zone = `/zones/${made.body.result.id}`;
  for (const [method, path, body] of [
    ["POST", "dns_records", { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true }],
    [
      "PUT",
      "rulesets/phases/http_request_origin/entrypoint",
      { rules: [{ action: "route", expression: "true", action_parameters: { origin: { port } } }] },
    ],
    ["PATCH", "settings/waf", { value: "on" }],
  ] as const) {
    const answer = await api(selvedge, token, method, `${zone}/${path}`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }
  return zone;
}

const visit = (selvedge: Selvedge, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const req = request(new URL(ATTACK, selvedge.ready.http), { agent: false, headers: { host, "user-agent": "visitor" } }, (res) =>
      res.resume().on("end", () => resolve(res.statusCode ?? 0)),
    );
    req.on("error", reject).end();
  });

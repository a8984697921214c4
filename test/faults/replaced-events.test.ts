import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { eventually, readUntil } from "../support/eventually.ts";
import { PLAIN_GATEWAY } from "../support/plain-gateway.ts";
import { api, startSelvedge } from "../support/selvedge.ts";

/**
 * Somebody removes the events database of a running server, to make room, or puts an older copy in its place. The promise: what is logged
 * from then on is in the file that has the name, and the API shows it; of the gateway's logs, also what was there before.
 */
test("rows go to the events database that is there, after somebody has removed or replaced the file of a running server", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-replaced-events-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const provider = createServer((_, res) => void res.writeHead(200, { "content-type": "application/json" }).end('{"usage":{}}'));
  t.after(() => provider.close().closeAllConnections());
  await once(provider.listen(0, "127.0.0.1"), "listening");
  const { port } = provider.address() as AddressInfo;
  const selvedge = await startSelvedge({ dataDir, args: ["--provider", `openai=http://127.0.0.1:${port}/v1`] });
  t.after(() => selvedge.kill());
  const account = selvedge.ready.account_id;
  const call = async (method: string, path: string, body?: object) => {
    const answer = await api(selvedge, selvedge.ready.token ?? "", method, path, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.result;
  };
  const zone = (await call("POST", "/zones", { name: "site.example", account: { id: account } })).id;
  await call("PUT", `/zones/${zone}/rulesets/phases/http_request_firewall_custom/entrypoint`, {
    rules: [{ action: "block", expression: "true" }],
  });
  await call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "@", content: "192.0.2.1", proxied: true });
  const gateways = `/accounts/${account}/ai-gateway/gateways`;
  await call("POST", gateways, { id: "gw", ...PLAIN_GATEWAY, collect_logs: true });

  const visit = async (path: string): Promise<void> => {
    const [res] = await once(request(new URL(path, selvedge.ready.http), { headers: { host: "site.example" } }).end(), "response");
    res.resume();
    assert.equal(res.statusCode, 403);
  };
  const ask = async (): Promise<void> => {
    const res = await fetch(`${selvedge.ready.gateway}/v1/${account}/gw/openai/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer k" },
      body: JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }),
    });
    assert.equal(res.status, 200, await res.text());
  };
  const paths = async (): Promise<readonly string[]> =>
    (await call("GET", `/zones/${zone}/security/events?per_page=50`)).map(({ path }: { readonly path: string }) => path).toSorted();
  const shown = async (...wanted: readonly string[]): Promise<void> => {
    assert.deepEqual(await readUntil(paths, (found) => found.join() === wanted.join()), wanted);
  };
  const logs = async (): Promise<number> => (await call("GET", `${gateways}/gw/logs`)).length;

  await visit("/one");
  await ask();
  await shown("/one");
  await eventually(async () => (await logs()) === 1);

  const events = join(dataDir, "events.db");
  for (const part of ["", "-wal", "-shm"]) rmSync(events + part, { force: true });
  await visit("/two");
  await shown("/two");
  await ask();
  await eventually(async () => (await logs()) === 2);
  await selvedge.logged(/the events database was removed or replaced while the server was running/);

  // An older copy, in one step, beside a log that is not its own.
  const older = new DatabaseSync(events, { readOnly: true });
  older.exec(`VACUUM INTO '${events}.older'`);
  older.close();
  await visit("/three");
  await shown("/three", "/two");
  renameSync(`${events}.older`, events);
  await visit("/four");
  await shown("/four", "/two");
  await ask();
  await eventually(async () => (await logs()) === 3);
  const after = new DatabaseSync(events, { readOnly: true });
  assert.deepEqual({ ...after.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
  after.close();
});

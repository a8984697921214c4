import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { api, startSelvedge } from "../support/selvedge.ts";

test("kill -9 after a custom hostname is stored: its certificate is ordered by the next start", { timeout: 180_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-killed-hostname-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  // A resolver that never answers: the look-ups of a new hostname take as long as they may.
  const silent = createSocket("udp4").bind(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => silent.close());
  const first = await startSelvedge({ dataDir, args: ["--dns-scan-resolvers", `127.0.0.1:${silent.address().port}`] });
  const token = first.ready.token ?? "";
  const zone = (await api(first, token, "POST", "/zones", { name: "saas.example", account: { id: first.ready.account_id } })).body.result
    .id;
  await api(first, token, "POST", `/zones/${zone}/dns_records`, { type: "A", name: "to", content: "192.0.2.1", ttl: 1, proxied: true });
  await api(first, token, "PUT", `/zones/${zone}/custom_hostnames/fallback_origin`, { origin: "to.saas.example" });
  const path = `/zones/${zone}/custom_hostnames`;
  const asked = once(silent, "message");
  const made = api(first, token, "POST", path, { hostname: "a.customer.example", ssl: { method: "txt", type: "dv" } });
  const outcome = made.then(({ status }) => `HTTP ${status}`).catch(() => "killed");
  await asked;
  await first.kill();
  assert.equal(await outcome, "killed");

  const second = await startSelvedge({ dataDir });
  try {
    const [hostname] = (await api(second, token, "GET", path)).body.result;
    assert.equal(hostname.hostname, "a.customer.example");
    await eventually(
      async () => (await api(second, token, "GET", `${path}/${hostname.id}`)).body.result.ssl.status === "pending_validation",
    );
  } finally {
    await second.stop();
  }
});

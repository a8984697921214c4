import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { recordLines } from "../support/comparable-answers.ts";
import { askTcp, queryFor } from "../support/dns-client.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { recordOp, zoneOp } from "../support/zone-entries.ts";

test("the nameserver starts and stops flattening an alias as soon as the API responds", async (t) => {
  const elsewhere = createNameserver({
    ...NAMESERVER_PARTS,
    replica: createMemoryReplica([zoneOp("z", "shop.example"), recordOp("z", "www.shop.example", "A", "198.51.100.7", { ttl: 120 })]),
    metrics: createMetrics(),
    config: nameserverConfig(),
  });
  const { udp } = await elsewhere.listen();
  t.after(() => elsewhere.close(100));
  const { ready, stop } = await startSelvedge({ args: ["--dns-resolvers", `127.0.0.1:${udp}`] });
  t.after(() => stop());
  const call = apiCaller(ready);
  const port = Number(ready.dns.split(":")[1]);
  const ask = async (name: string): Promise<readonly string[]> => {
    const [response] = await askTcp(port, [queryFor(name, TYPE.A, 1)]);
    return recordLines(decodeMessage(response as Buffer).answers);
  };
  const address = Buffer.of(198, 51, 100, 7).toString("latin1").toLowerCase();

  const zone = await succeed(call("POST", "/zones", { name: "flat.example", account: { id: ready.account_id }, type: "full" }));
  const records = `/zones/${zone.id}/dns_records`;
  await succeed(call("POST", records, { type: "CNAME", name: "@", content: "www.shop.example", ttl: 60 }));
  assert.deepEqual(await ask("flat.example"), [`flat.example 60 a ${address}`]);

  const www = await succeed(call("POST", records, { type: "CNAME", name: "www", content: "www.shop.example", ttl: 300 }));
  const alias = ["www.flat.example 300 cname \u0003www\u0004shop\u0007example\0"];
  assert.deepEqual(await ask("www.flat.example"), alias);
  await succeed(call("PATCH", `${records}/${www.id}`, { settings: { flatten_cname: true } }));
  assert.deepEqual(await ask("www.flat.example"), [`www.flat.example 120 a ${address}`]);
  await succeed(call("PATCH", `${records}/${www.id}`, { settings: { flatten_cname: false } }));
  assert.deepEqual(await ask("www.flat.example"), alias);
  await succeed(call("PATCH", `/zones/${zone.id}/dns_settings`, { flatten_all_cnames: true }));
  assert.deepEqual(await ask("www.flat.example"), [`www.flat.example 120 a ${address}`]);
});

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { apiCaller, succeed } from "../support/api.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const FILE = `$TTL 300
unknown TYPE65280 \\# 3 abcdef
loc LOC 51 30 12.748 N 0 7 39.611 W 0.00m 1.00m 10000.00m 10.00m
svc HTTPS 1 . alpn="h3,h2"
$GENERATE 1-20 host$ A 192.0.2.$
`;

test("the nameserver serves imported records once the import has responded", { skip: toolOrSkip("dig") }, async (t) => {
  const server = await startSelvedge();
  t.after(() => server.stop());
  const { ready } = server;
  const { id } = await succeed(apiCaller(ready)("POST", "/zones", { name: "served.example", account: { id: ready.account_id } }));
  const form = new FormData();
  form.set("file", new File([FILE], "zone.txt"));
  const answer = await fetch(`${ready.api}/zones/${id}/dns_records/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${ready.token ?? ""}` },
    body: form,
    signal: AbortSignal.timeout(60_000),
  });
  assert.deepEqual(((await answer.json()) as { result: unknown }).result, { recs_added: 23, total_records_parsed: 23 });
  const [host = "", port = ""] = ready.dns.split(":");
  const dig = async (name: string, type: string): Promise<string> => {
    const args = [`@${host}`, "-p", port, "+short", `${name}.served.example`, type];
    return (await promisify(execFile)("dig", args, { timeout: 60_000 })).stdout.trim();
  };
  assert.equal(await dig("unknown", "TYPE65280"), "\\# 3 ABCDEF");
  assert.equal(await dig("loc", "LOC"), "51 30 12.748 N 0 7 39.611 W 0.00m 1m 10000m 10m");
  assert.equal(await dig("svc", "HTTPS"), '1 . alpn="h3,h2"');
  assert.equal(await dig("host20", "A"), "192.0.2.20");
});

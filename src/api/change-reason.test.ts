import assert from "node:assert/strict";
import { test } from "node:test";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type ApiServer, ask, startApi } from "../../test/support/api-server.ts";
import { readReason } from "./change-reason.ts";

test("a reason is trimmed text of limited length in the header with the vendor prefix", () => {
  const reason = (text: string): string | undefined => readReason({ "svc-change-reason": text }, "svc");
  assert.equal(reason(" move to the new rack "), "move to the new rack");
  assert.equal(reason(Buffer.from("Umzug nach Köln").toString("latin1")), "Umzug nach Köln");
  assert.equal(reason("K\xf6ln"), "Köln", "what is no UTF-8 is Latin-1");
  assert.equal(reason("  "), undefined);
  assert.equal(readReason({ "svc-change-reason": "x" }, "acme"), undefined);
  assert.equal(reason("x".repeat(500))?.length, 500);
  for (const text of ["x".repeat(501), "a\tb"]) assert.throws(() => reason(text), PlatformError, JSON.stringify(text.slice(0, 5)));
});

test("versions carry the reason of the request that made them", async (t) => {
  const server: ApiServer = await startApi();
  t.after(() => server.close());
  const zone = (await ask(server, "POST", "/zones", { body: { name: "example.test", account: { id: server.account_id } } })).body.result;
  const path = `/zones/${zone.id}/dns_records`;
  const headers = { "svc-change-reason": "launch" };
  const record = (await ask(server, "POST", path, { headers, body: { type: "A", name: "www", content: "192.0.2.1" } })).body.result;
  await ask(server, "POST", `${path}/batch`, { headers: { "svc-change-reason": "clean up" }, body: { deletes: [{ id: record.id }] } });
  const list = (await ask(server, "GET", `/zones/${zone.id}/dns_versions`)).body;
  assert.deepEqual(
    list.result.map(({ kind, reason, actor }: { kind: string; reason: string; actor: { type: string } }) => [kind, reason, actor.type]),
    [
      ["batch", "clean up", "token"],
      ["create", "launch", "token"],
    ],
  );
  const long = await ask(server, "POST", path, { headers: { "svc-change-reason": "x".repeat(501) }, body: {} });
  assert.deepEqual([long.status, long.body.errors[0].code], [400, 10400]);
});

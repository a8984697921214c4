import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

// Requests of published clients (contract.md §3, "Input tolerance"), one by one.
let server: ApiServer;
let records: string;

before(async () => {
  server = await startApi();
  const zone = await ask(server, "POST", "/zones", {
    body: { name: "tolerant.test", account: { id: server.account_id }, jump_start: true },
  });
  assert.equal(zone.status, 200, zone.text);
  records = `/zones/${zone.body.result.id}/dns_records`;
});
after(() => server.close());

const create = async (body: object) => {
  const answer = await ask(server, "POST", records, { body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.result;
};
const names = async (query: string) =>
  (await ask(server, "GET", `${records}?${query}`)).body.result.map(({ name }: { name: string }) => name);

test("records accept content with a trailing dot, relative content, null data and unknown keys", async () => {
  const cname = await create({
    type: "CNAME",
    name: "alias",
    content: "Target.tolerant.test.",
    data: null,
    extra: 1,
    k: "a-token",
    locked: true,
    zone_id: "x",
    zone_name: "y",
  });
  assert.deepEqual([cname.content.toLowerCase(), cname.locked, cname.zone_id], ["target.tolerant.test", undefined, undefined]);
  assert.equal((await create({ type: "CNAME", name: "relative", content: "www" })).content, "www.tolerant.test");
  assert.equal((await create({ type: "MX", name: "@", content: "mail.tolerant.test.", priority: 10 })).content, "mail.tolerant.test");
});

test("requests accept a body on GET and DELETE, an empty JSON body and a trailing slash", async () => {
  const { id } = await create({ type: "A", name: "www", content: "192.0.2.1", ttl: 120 });
  const json = { headers: { "content-type": "application/json" } };
  assert.deepEqual((await ask(server, "GET", "/zones/?name=tolerant.test")).body.result.length, 1);
  assert.equal((await ask(server, "GET", `${records}/${id}/`, json)).body.result.id, id);
  assert.deepEqual((await ask(server, "DELETE", `${records}/${id}`, { raw: "{}" })).body.result, { id });
  assert.equal((await ask(server, "DELETE", `${records}/${id}`, json)).status, 404);
});

test("filters find text with and without quotes, and structured content with tabs", async () => {
  await create({ type: "TXT", name: "_acme-challenge", content: "aBc-_9" });
  await create({ type: "SSHFP", name: "host", data: { algorithm: 4, type: 2, fingerprint: "ab".repeat(32) } });
  for (const content of ["aBc-_9", '"aBc-_9"'])
    assert.deepEqual(await names(`type=TXT&content=${encodeURIComponent(content)}`), ["_acme-challenge.tolerant.test"]);
  assert.deepEqual(await names(`content=${encodeURIComponent(`4\t2\t${"ab".repeat(32)}`)}`), ["host.tolerant.test"]);
});

test("a refused write points at the field, changes nothing and leaves the server running", async () => {
  const before = await server.store.revision();
  const refused: readonly (readonly [body: object, code: number, pointer: string | undefined])[] = [
    [{}, 9020, "/type"],
    [{ type: "A" }, 9000, "/name"],
    [{ type: "A", name: "a", ttl: 7, content: "192.0.2.1" }, 9021, "/ttl"],
    [{ type: "A", name: "a" }, 9005, "/content"],
    [{ type: "TXT", name: "a", content: '"open' }, 9007, "/content"],
    [{ type: "A", name: "a", content: 5 }, 10400, "/content"],
    [{ type: "TXT", name: "alias", content: "x" }, 81054, undefined],
  ];
  for (const [body, code, pointer] of refused) {
    const answer = await ask(server, "POST", records, { body });
    assert.deepEqual(
      [answer.status, answer.body.success, answer.body.result, answer.body.errors[0].code, answer.body.errors[0].source?.pointer],
      [400, false, null, code, pointer],
      answer.text,
    );
  }
  assert.equal(await server.store.revision(), before);
});

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { DnsQueryResult } from "#model/dns/dns-query.ts";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

/** The API's report on an answer equals the nameserver's own answer, with the records that it comes from. */
describe("a query to the nameserver through the API", () => {
  let server: Selvedge;
  let call: ApiCall;
  let base: string;
  let ids: ReadonlyMap<string, string>;

  before(async () => {
    server = await startSelvedge();
    call = apiCaller(server.ready);
    const zone = await succeed(call("POST", "/zones", { account: { id: server.ready.account_id }, name: "asked.example" }));
    base = `/zones/${zone.id}`;
    const { posts } = await succeed(
      call("POST", `${base}/dns_records/batch`, {
        posts: [
          { type: "A", name: "www", content: "192.0.2.1", ttl: 300 },
          { type: "TXT", name: "text", content: '"one"' },
          { type: "CNAME", name: "alias", content: "www.asked.example" },
          { type: "A", name: "edge", content: "192.0.2.2", proxied: true },
          { type: "A", name: "*.wild", content: "192.0.2.3" },
          { type: "NS", name: "below", content: "ns.elsewhere.example" },
        ],
      }),
    );
    ids = new Map(posts.map(({ name, id }: { name: string; id: string }) => [name, id]));
  });
  after(() => server?.stop());

  const ask = (name: string, type?: string): Promise<DnsQueryResult> =>
    succeed(call("POST", `${base}/dns_query`, { name, ...(type === undefined ? {} : { type }) }));

  test("each kind of answer names its cause", async () => {
    for (const [name, type, status, causes, record] of [
      ["www", "A", "NOERROR", ["record"], "www.asked.example"],
      ["WWW.asked.example", "A", "NOERROR", ["record"], "www.asked.example"],
      ["www.asked.example.", "A", "NOERROR", ["record"], "www.asked.example"],
      ["text", "A", "NOERROR", ["no_type"], undefined],
      ["alias", "A", "NOERROR", ["flattened"], "alias.asked.example"],
      ["alias", "CNAME", "NOERROR", ["record"], "alias.asked.example"],
      ["alias", "TXT", "NOERROR", ["alias"], "alias.asked.example"],
      ["edge", "A", "NOERROR", ["proxied"], "edge.asked.example"],
      ["any.wild", "A", "NOERROR", ["wildcard", "record"], "*.wild.asked.example"],
      ["host.below", "A", "NOERROR", ["delegation"], "below.asked.example"],
      ["nowhere", "A", "NXDOMAIN", ["no_name"], undefined],
    ] as const) {
      const found = await ask(name, type);
      assert.deepEqual([found.status, found.because.map(({ cause }) => cause)], [status, causes], name);
      assert.equal(found.because.at(-1)?.record_id, record === undefined ? undefined : ids.get(record), name);
    }
    const { answer, flags } = await ask("www");
    assert.deepEqual(answer, [{ name: "www.asked.example", ttl: 300, type: "A", content: "192.0.2.1" }]);
    assert.deepEqual(flags, ["aa"]);
    assert.deepEqual(
      (await ask("@", "SOA")).answer.map(({ type }) => type),
      ["SOA"],
    );
  });

  test("a signed answer names its key", async () => {
    await succeed(call("PATCH", `${base}/dnssec`, { status: "active" }));
    const { because, answer } = await ask("www");
    assert.ok(answer.some(({ type }) => type === "RRSIG"));
    assert.match(because.at(-1)?.message ?? "", /^It is signed by the key \d+\.$/);
  });

  test("a name outside the zone and an invalid type are refused", async () => {
    for (const [body, source] of [
      [{ name: "www.other.example." }, "/name"],
      [{ name: "a..b" }, "/name"],
      [{ name: "www", type: "NONSENSE" }, "/type"],
    ] as const) {
      const { status, body: answer } = await call("POST", `${base}/dns_query`, body);
      assert.equal(status, 400, JSON.stringify(answer));
      assert.equal((answer.errors[0] as { source?: { pointer: string } }).source?.pointer, source);
    }
  });
});

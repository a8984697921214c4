import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../support/property.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

// Bodies that nobody should send, over a real connection: each is refused with a code or done, and the server lives.

const RUNS = 400;

const TYPES = [
  "A",
  "AAAA",
  "CNAME",
  "TXT",
  "MX",
  "NS",
  "SRV",
  "CAA",
  "PTR",
  "SOA",
  "DS",
  "TLSA",
  "SSHFP",
  "HTTPS",
  "SVCB",
  "URI",
  "NAPTR",
  "LOC",
];
const odd = fc.constantFrom(
  "",
  ".",
  "..",
  "@",
  "*",
  "*.*",
  "a..b",
  "-",
  "_",
  "\\",
  '"',
  '"a',
  '"a" "b"',
  "\\# 4 00",
  "\\# 99999999 00",
  "\u0000",
  "\r\n",
);
const text = fc.oneof(
  odd,
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom("x".repeat(300), "x.".repeat(200), "😀".repeat(80), "\ud800", "127.0.0.1", "::1", "www", "mail.example.net"),
);
const number = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, 60, 65_535, 65_536, 2 ** 31, 2 ** 53, 1e308, 0.5));
const anything = fc.oneof(text, number, fc.boolean(), fc.constant(null), fc.jsonValue({ maxDepth: 3 }));
/** Mostly what belongs there, so that the checks behind the first are met as well. */
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: anything });

const DATA_FIELDS = [
  "priority",
  "weight",
  "port",
  "target",
  "flags",
  "tag",
  "value",
  "key_tag",
  "algorithm",
  "digest_type",
  "digest",
  "usage",
  "selector",
];
const MORE_FIELDS = [
  "matching_type",
  "certificate",
  "type",
  "fingerprint",
  "order",
  "preference",
  "service",
  "regex",
  "replacement",
  "lat_degrees",
];
const data = fc.dictionary(fc.constantFrom(...DATA_FIELDS, ...MORE_FIELDS, "__proto__", "constructor"), fc.oneof(number, text), {
  maxKeys: 8,
});
const wild = fc.record(
  {
    type: mostly(fc.constantFrom(...TYPES)),
    name: mostly(fc.constantFrom("a", "b", "c.d", "@", "*.e", "_sip._tcp", "fuzz.example")),
    content: mostly(
      fc.oneof(text, fc.constantFrom("192.0.2.1", "2001:db8::1", "host.example.net", '0 issue "ca.example"', "10 20 5060 sip.example.net")),
    ),
    data: mostly(data),
    ttl: mostly(fc.constantFrom(1, 60, 300, 86_400)),
    proxied: mostly(fc.boolean()),
    priority: mostly(fc.integer({ min: 0, max: 65_535 })),
    comment: mostly(text),
    tags: mostly(fc.array(text, { maxLength: 4 })),
    settings: mostly(fc.record({ ipv4_only: fc.boolean(), flatten_cname: fc.boolean() })),
  },
  { requiredKeys: [] },
);
/** A sound record of which some fields are anything. */
const nearlySound = fc
  .tuple(
    fc.integer({ min: 0, max: 99 }),
    wild,
    fc.subarray(["type", "name", "content", "data", "ttl", "comment", "tags", "settings"], { maxLength: 2 }),
  )
  .map(([n, odd, keys]) => ({
    type: "TXT",
    name: `n${n}`,
    content: `text ${n}`,
    ...Object.fromEntries(Object.entries(odd).filter(([key]) => keys.includes(key))),
  }));
const record = fc.oneof(wild, nearlySound);
const withId = (ids: readonly string[]) => fc.tuple(record, mostly(fc.constantFrom(...ids))).map(([body, id]) => ({ ...body, id }));

interface Scene {
  readonly server: ApiServer;
  readonly path: string;
  readonly ids: readonly string[];
}

async function scene(server: ApiServer): Promise<Scene> {
  const made = async (path: string, body: object): Promise<any> => (await ask(server, "POST", path, { body })).body.result;
  const zone = await made("/zones", { name: "fuzz.example", account: { id: server.account_id } });
  await ask(server, "PATCH", `/zones/${zone.id}`, { body: { plan: { id: "enterprise" } } });
  const path = `/zones/${zone.id}/dns_records`;
  const records = await Promise.all([
    made(path, { type: "A", name: "first", content: "192.0.2.1" }),
    made(path, { type: "SRV", name: "_sip._tcp", data: { priority: 1, weight: 2, port: 3, target: "a.example" } }),
    made(path, { type: "TXT", name: "text", content: "hello", comment: "c", tags: ["a:b"] }),
  ]);
  return { server, path, ids: [...records.map(({ id }) => id), "0".repeat(32)] };
}

/** Done, or refused with codes; never a failure of the server's own. */
async function answered({ server }: Scene, method: string, path: string, body: unknown): Promise<number> {
  const answer = await ask(server, method, path, { body: body as object });
  const shown = `${method} ${path} ${JSON.stringify(body)} → ${answer.status} ${answer.text.slice(0, 400)}`;
  assert.ok(answer.status < 500, shown);
  assert.equal(answer.body.success, answer.status < 300, shown);
  if (answer.status >= 300) {
    assert.ok(answer.body.errors.length > 0, shown);
    for (const { code, message } of answer.body.errors) assert.ok(Number.isInteger(code) && code >= 1000 && message !== "", shown);
  }
  return answer.status;
}

test("a record write with any body succeeds or gets an error code", async () => {
  const server = await startApi();
  try {
    const at = await scene(server);
    const statuses = new Map<string, number>();
    const count = (method: string, status: number): void =>
      void statuses.set(`${method} ${status < 300}`, (statuses.get(`${method} ${status < 300}`) ?? 0) + 1);
    const options = { numRuns: RUNS };
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: record }, { weight: 1, arbitrary: fc.jsonValue() }), async (body) =>
        count("POST", await answered(at, "POST", at.path, body)),
      ),
      options,
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("PATCH", "PUT"), fc.constantFrom(...at.ids), record, async (method, id, body) =>
        count(method, await answered(at, method, `${at.path}/${id}`, body)),
      ),
      options,
    );
    const part = <T>(item: fc.Arbitrary<T>) => mostly(fc.array(item, { maxLength: 3 }));
    const batch = fc.record(
      {
        deletes: part(fc.record({ id: mostly(fc.constantFrom(...at.ids)) })),
        patches: part(withId(at.ids)),
        puts: part(withId(at.ids)),
        posts: part(record),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(batch, async (body) => count("batch", await answered(at, "POST", `${at.path}/batch`, body))),
      options,
    );
    for (const method of ["POST", "PATCH", "PUT", "batch"])
      for (const done of [true, false])
        assert.ok((statuses.get(`${method} ${done}`) ?? 0) > 0, `${method}: none ${done ? "was done" : "was refused"}`);
    assert.equal(server.logged.filter((line) => line.startsWith("request failed")).length, 0);
    const { status, body } = await ask(server, "GET", `${at.path}?per_page=5000000`);
    assert.deepEqual([status, body.result.length], [200, body.result_info.total_count], "the server lives and its records can be shown");
  } finally {
    await server.close();
  }
});

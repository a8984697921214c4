import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { type NodeMessage, type NodeNotice, NOTICES_MAX, readNodeMessage } from "./node-notices.ts";

const text = fc.string({ maxLength: 100 });
const id = fc.string({ minLength: 1, maxLength: 64 });
const time = fc.nat();
const seen = { zone_id: id, at_ms: time, host: text, page_url: text };
const attributes = fc.record(
  {
    ...{ domain: text, path: text, expires: text, max_age: fc.integer() },
    ...{ secure: fc.boolean(), http_only: fc.boolean(), same_site: fc.constantFrom("lax" as const, "strict" as const, "none" as const) },
  },
  { requiredKeys: ["secure", "http_only"] },
);
const sighting = fc.oneof(
  fc.record({ kind: fc.constantFrom("script" as const, "connection" as const), ...seen, url: text }),
  fc.record({ kind: fc.constant("cookie" as const), ...seen, name: text, attributes }),
);
const notice: fc.Arbitrary<NodeNotice> = fc.oneof(
  fc.record({ kind: fc.constant("notified" as const), zone_id: id, from: text }),
  fc.record({ kind: fc.constant("readdressed" as const), zone_id: id, addresses: text }),
  fc.record({ kind: fc.constant("default-gateway" as const), account_id: id, at_ms: time }),
  fc.record({ kind: fc.constant("sighting" as const), sighting }),
);
const link = fc.record({
  ...{ id, tunnel_id: id, connector_id: id, version: text, arch: text, features: fc.array(text, { maxLength: 20 }) },
  ...{ run_at: text, opened_at: text, address: text, config_version: time, draining: fc.boolean() },
});
const message: fc.Arbitrary<NodeMessage> = fc.oneof(
  fc.record({ notices: fc.array(notice, { maxLength: 20 }) }),
  fc.record({ tunnels: fc.array(link, { maxLength: 20 }) }),
);
const read = (value: unknown): NodeMessage | null => readNodeMessage(Buffer.from(JSON.stringify(value)));

test("property: control reads what a node sends", () => {
  fc.assert(fc.property(message, (sent) => assert.deepEqual(read(sent), JSON.parse(JSON.stringify(sent)))));
});

test("property: any other message gives nothing, or only items with the right shape", () => {
  const item = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom("kind", "zone_id", "sighting", "id", "features"), fc.jsonValue()));
  const others = fc.oneof(fc.jsonValue(), fc.record({ notices: fc.array(item) }), fc.record({ tunnels: fc.array(item) }));
  fc.assert(
    fc.property(others, (sent) => {
      const found = read(sent);
      if (found !== null) assert.deepEqual(read(found), JSON.parse(JSON.stringify(found)));
    }),
  );
  for (const bytes of ["", "{", "\xff", "[".repeat(100_000)]) assert.equal(readNodeMessage(Buffer.from(bytes, "latin1")), null);
  const [long] = ["x".repeat(10_000)];
  assert.deepEqual(read({ notices: [{ kind: "notified", zone_id: long, from: "" }] }), { notices: [] });
  const many = Array.from({ length: 2 * NOTICES_MAX }, () => ({ kind: "notified", zone_id: "z", from: "" }));
  assert.equal((read({ notices: many }) as { readonly notices: readonly unknown[] }).notices.length, NOTICES_MAX);
});

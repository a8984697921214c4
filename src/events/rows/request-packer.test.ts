import assert from "node:assert/strict";
import { test } from "node:test";
import { ulidTimeMs } from "#kernel/crypto/ids.ts";
import { fc } from "../../../test/support/property.ts";
import { rowsIn } from "./packed-rows.ts";
import { eventsOfRequests } from "./request-events.ts";
import { RequestPacker } from "./request-packer.ts";
import type { EventMatch, EventRule, RequestEvent, RequestRow, SecurityEventRow } from "./rows.ts";
import { facetColumns } from "./schema.ts";
import { anyRow, unpacked } from "../../../test/support/event-rows.ts";

interface Request {
  readonly row: RequestRow;
  readonly events: readonly RequestEvent[];
}

const anyRule = anyRow("security_events").map((row): EventRule => pick(row, facetColumns("rule") as (keyof EventRule)[]));
const anyMatches = anyRow("security_events").map(({ matches }): readonly EventMatch[] => matches);
/** Few rules, each one object, as the edge has them. */
const anyRequests = fc.array(anyRule, { minLength: 1, maxLength: 3 }).chain((rules) =>
  fc.array(
    fc.record({
      row: anyRow("requests"),
      events: fc.array(fc.record({ rule: fc.constantFrom(...rules), matches: anyMatches }), { maxLength: 3 }),
    }),
    { maxLength: 150 },
  ),
);

test("property: requests and their events are unpacked unchanged, batch after batch", () => {
  fc.assert(
    fc.property(fc.array(anyRequests, { minLength: 1, maxLength: 3 }), (batches) => {
      const packer = new RequestPacker();
      for (const requests of batches) arrive(packer, requests);
    }),
    { numRuns: 30 },
  );
});

test("property: requests with one event each are unpacked unchanged", () => {
  const one = fc.record({ row: anyRow("requests"), rule: anyRule, matches: anyMatches });
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 150 }), (requests) =>
      arrive(
        new RequestPacker(),
        requests.map(({ row, rule, matches }) => ({ row, events: [{ rule, matches }] })),
      ),
    ),
    { numRuns: 30 },
  );
});

function arrive(packer: RequestPacker, requests: readonly Request[]): void {
  for (const { row, events } of requests) packer.push(row, events);
  const packed = structuredClone(packer.take());
  assert.equal(
    rowsIn([packed]),
    requests.reduce((sum, { events }) => sum + 1 + events.length, 0),
  );
  assert.equal(packer.units, 0);
  assert.deepEqual(
    unpacked("requests", packed),
    requests.map(({ row }) => row),
  );
  const expected = requests.flatMap(({ row, events }) => events.map(({ rule, matches }) => eventRow(row, rule, matches)));
  const arrived = packed.events === undefined ? [] : unpacked("security_events", eventsOfRequests(packed, packed.events));
  assert.deepEqual(
    arrived.map(({ id }) => ulidTimeMs(id)),
    expected.map(({ at_ms }) => at_ms),
  );
  assert.equal(new Set(arrived.map(({ id }) => id)).size, arrived.length);
  assert.deepEqual(
    arrived.map((row) => ({ ...row, id: "" })),
    expected,
  );
}

const SHARED = [
  ...(["ray_id", "at_ms", "account_id", "zone_id", "client_ip", "method", "scheme", "host", "path", "query", "user_agent"] as const),
  ...(["status", "country"] as const),
];

const eventRow = (row: RequestRow, rule: EventRule, matches: readonly EventMatch[]): SecurityEventRow => ({
  id: "",
  ...pick(row, SHARED),
  ...rule,
  matches,
  scan_limited: false,
});

const pick = <T extends object, K extends keyof T>(row: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<T, K>;

import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { admitConnection, type ConnectionPlaces, createConnectionPlaces } from "./connection-places.ts";
import { createMetrics } from "./metrics.ts";

const refusals = (metrics: ReturnType<typeof createMetrics>) =>
  Object.fromEntries(metrics.samples().map(({ labels, value }) => [labels["limit"], value]));

const placesOf = (metrics: ReturnType<typeof createMetrics>, connectionsMax: number, connectionsPerAddressMax: number): ConnectionPlaces =>
  createConnectionPlaces({
    ...{ metrics, clock: { monotonicMs: () => 0 }, listener: "edge", isShared: () => false },
    ...{ connectionsMax, connectionsPerAddressMax },
  });

/** A connection of this address that is busy, or idle since then. */
function connection(address: string, idleSinceMs: number | null = null) {
  let isClosed = false;
  return { client: { address }, occupant: { idleSinceMs, destroy: () => (isClosed = true) }, isClosed: () => isClosed };
}

const hold = (places: ConnectionPlaces, address: string): (() => void) | null => {
  const { client, occupant } = connection(address);
  return places.hold(client, occupant);
};

test("each address, or IPv6 /64, has its own limit of connections, and a closed connection counts no longer", () => {
  const metrics = createMetrics();
  const places = placesOf(metrics, 0, 2);
  const first = hold(places, "192.0.2.1");
  assert.notEqual(first, null);
  assert.notEqual(hold(places, "192.0.2.1"), null);
  assert.equal(hold(places, "192.0.2.1"), null);
  assert.notEqual(hold(places, "192.0.2.2"), null);
  first?.();
  assert.notEqual(hold(places, "192.0.2.1"), null);
  for (const address of ["2001:db8::1", "2001:db8::ffff:2"]) assert.notEqual(hold(places, address), null);
  assert.equal(hold(places, "2001:0db8:0:0:1::"), null);
  assert.notEqual(hold(places, "2001:db8:0:1::1"), null);
  assert.deepEqual(refusals(metrics), { all: 0, address: 2 });
});

test("the total number of connections has a limit, and a refused connection does not count", () => {
  const metrics = createMetrics();
  const places = placesOf(metrics, 2, 0);
  for (let round = 0; round < 3; round++) {
    assert.deepEqual([places.enter(), places.enter(), places.enter()], [true, true, false]);
    for (let i = 0; i < 500; i++) assert.notEqual(hold(places, "192.0.2.1"), null);
    places.leave();
    places.leave();
  }
  assert.deepEqual(refusals(metrics), { all: 3, address: 0 });
});

test("a new connection takes the place of the longest idle one of its address, and at the limit of all, of anybody", () => {
  const metrics = createMetrics();
  const places = placesOf(metrics, 5, 3);
  const open = (address: string, idleSinceMs: number | null) => {
    const one = connection(address, idleSinceMs);
    const isAdmitted = places.enter() && places.hold(one.client, one.occupant) !== null;
    return { ...one, isAdmitted };
  };
  const [busy, late, early] = [open("192.0.2.1", null), open("192.0.2.1", 20), open("192.0.2.1", 10)];
  const other = open("192.0.2.2", 5);
  assert.ok(open("192.0.2.1", null).isAdmitted);
  assert.deepEqual(
    [busy, late, early, other].map((one) => one.isClosed()),
    [false, false, true, false],
  );
  places.leave();
  open("192.0.2.3", null);
  assert.ok(open("192.0.2.4", null).isAdmitted);
  assert.deepEqual(
    [busy, late, other].map((one) => one.isClosed()),
    [false, false, true],
  );
  places.leave();
  assert.ok(open("192.0.2.1", null).isAdmitted);
  assert.ok(late.isClosed());
  assert.equal(open("192.0.2.1", null).isAdmitted, false);
  assert.deepEqual(refusals(metrics), { all: 1, address: 0 });
});

test("property: for any connections, the limits hold, only the longest idle one makes room, and nobody is refused while one is idle", () => {
  interface Open {
    readonly address: string;
    idleSinceMs: number | null;
    readonly closed: (() => void)[];
  }
  const act = fc.record({
    address: fc.constantFrom("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"),
    kind: fc.constantFrom("open", "open", "open", "close", "rest", "work"),
    at: fc.nat(20),
  });
  const networkOf = (address: string): string => (address.startsWith("2001") ? "2001" : address);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 4 }), fc.array(act, { maxLength: 60 }), (all, each, acts) => {
      const places = placesOf(createMetrics(), all, each);
      const open = new Set<Open>();
      const close = (one: Open): void => {
        open.delete(one);
        for (const closed of one.closed.splice(0)) closed();
      };
      const idleAmong = (some: readonly Open[]): Open | undefined =>
        some.filter(({ idleSinceMs }) => idleSinceMs !== null).toSorted((a, b) => a.idleSinceMs! - b.idleSinceMs!)[0];
      for (const [time, { address, kind, at }] of acts.entries()) {
        const one = [...open][at % Math.max(open.size, 1)];
        if (kind === "close" && one !== undefined) close(one);
        if (kind === "rest" && one?.idleSinceMs === null) one.idleSinceMs = time;
        if (kind === "work" && one !== undefined) one.idleSinceMs = null;
        if (kind !== "open") continue;
        // First a place of all is taken, then one of the address.
        const left = new Set(open);
        let isFree = true;
        for (const [limit, among] of [
          [all, () => [...left]],
          [each, () => [...left].filter((other) => networkOf(other.address) === networkOf(address))],
        ] as const) {
          if (!isFree || among().length < limit) continue;
          const idle = idleAmong(among());
          isFree = idle !== undefined;
          if (idle !== undefined) left.delete(idle);
        }
        const made: Open = { address, idleSinceMs: null, closed: [] };
        const occupant = {
          get idleSinceMs() {
            return made.idleSinceMs;
          },
          destroy: () => close(made),
        };
        const isAdmitted = admitConnection(places, address, occupant, (closed) => void made.closed.push(closed));
        if (isAdmitted) open.add(made);
        else close(made);
        assert.equal(isAdmitted, isFree);
        assert.deepEqual(
          [...open].filter((other) => other !== made),
          [...left],
        );
        assert.ok(open.size <= all);
        for (const { address: own } of open)
          assert.ok([...open].filter((other) => networkOf(other.address) === networkOf(own)).length <= each);
      }
      for (const one of open) close(one);
      // All places are there again.
      for (let n = 0; n < Math.min(all, each); n++) {
        assert.ok(places.enter());
        assert.notEqual(hold(places, "198.51.100.1"), null);
      }
    }),
    { numRuns: 300 },
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConnectionPlaces, createConnectionPlaces } from "./connection-places.ts";
import { createMetrics } from "./metrics.ts";

const refusals = (metrics: ReturnType<typeof createMetrics>) =>
  Object.fromEntries(metrics.samples().map(({ labels, value }) => [labels["limit"], value]));

const clock = { monotonicMs: () => 0 };

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
  const places = createConnectionPlaces({
    metrics,
    clock,
    listener: "edge",
    isShared: () => false,
    connectionsMax: 0,
    connectionsPerAddressMax: 2,
  });
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
  const places = createConnectionPlaces({
    metrics,
    clock,
    listener: "edge",
    isShared: () => false,
    connectionsMax: 2,
    connectionsPerAddressMax: 0,
  });
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
  const limits = { connectionsMax: 5, connectionsPerAddressMax: 3 };
  const places = createConnectionPlaces({ metrics, clock, listener: "edge", isShared: () => false, ...limits });
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnectionPlaces } from "./connection-places.ts";
import { createMetrics } from "./metrics.ts";

const refusals = (metrics: ReturnType<typeof createMetrics>) =>
  Object.fromEntries(metrics.samples().map(({ labels, value }) => [labels["limit"], value]));

test("each address, or IPv6 /64, has its own limit of connections, and a closed connection counts no longer", () => {
  const metrics = createMetrics();
  const places = createConnectionPlaces({
    metrics,
    listener: "edge",
    isShared: () => false,
    connectionsMax: 0,
    connectionsPerAddressMax: 2,
  });
  const first = places.hold("192.0.2.1");
  assert.notEqual(first, null);
  assert.notEqual(places.hold("192.0.2.1"), null);
  assert.equal(places.hold("192.0.2.1"), null);
  assert.notEqual(places.hold("192.0.2.2"), null);
  first?.();
  assert.notEqual(places.hold("192.0.2.1"), null);
  for (const address of ["2001:db8::1", "2001:db8::ffff:2"]) assert.notEqual(places.hold(address), null);
  assert.equal(places.hold("2001:0db8:0:0:1::"), null);
  assert.notEqual(places.hold("2001:db8:0:1::1"), null);
  assert.deepEqual(refusals(metrics), { all: 0, address: 2 });
});

test("the total number of connections has a limit, and a refused connection does not count", () => {
  const metrics = createMetrics();
  const places = createConnectionPlaces({
    metrics,
    listener: "edge",
    isShared: () => false,
    connectionsMax: 2,
    connectionsPerAddressMax: 0,
  });
  for (let round = 0; round < 3; round++) {
    assert.deepEqual([places.enter(), places.enter(), places.enter()], [true, true, false]);
    for (let i = 0; i < 500; i++) assert.notEqual(places.hold("192.0.2.1"), null);
    places.leave();
    places.leave();
  }
  assert.deepEqual(refusals(metrics), { all: 3, address: 0 });
});

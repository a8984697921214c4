import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import {
  checkDelayMs,
  CHECKS_MAX,
  HOSTNAME_STATUSES,
  type HostnameEvent,
  type HostnameStatus,
  nextStatus,
  SSL_MOVES,
  SSL_STATUSES,
  sslMayBecome,
  type SslStatus,
} from "./custom-hostname-states.ts";

const EVENTS = ["valid", "invalid", "held", "checks_over", "lost", "edited"] as const satisfies readonly HostnameEvent[];

test("SPEC 3.2 the transitions of a custom hostname", () => {
  const table: readonly [HostnameStatus, HostnameEvent, HostnameStatus][] = [
    ["pending", "valid", "active"],
    ["pending", "invalid", "pending"],
    ["pending", "held", "blocked"],
    ["pending", "checks_over", "moved"],
    ["active", "invalid", "moved"],
    ["active", "lost", "moved"],
    ["active", "held", "active"],
    ["active", "edited", "active"],
    ["moved", "valid", "moved"],
    ["moved", "edited", "pending"],
    ["blocked", "valid", "blocked"],
    ["blocked", "edited", "pending"],
  ];
  for (const [from, event, to] of table) assert.equal(nextStatus(from, event), to, `${from}, ${event}`);
});

test("property: only a check that finds the name valid activates it", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 40 }), (events) => {
      let status: HostnameStatus = "pending";
      for (const event of events) {
        const next: HostnameStatus = nextStatus(status, event);
        assert.ok(HOSTNAME_STATUSES.includes(next));
        if (next === "active" && status !== "active") assert.deepEqual([status, event], ["pending", "valid"]);
        // Nothing but an edit leads out of where checks have ended.
        if ((status === "moved" || status === "blocked") && next !== status) assert.equal(event, "edited");
        status = next;
      }
    }),
  );
});

test("the checks of a pending hostname run for a week, from a minute to four hours apart", () => {
  const delays = Array.from({ length: CHECKS_MAX }, (_, checks) => checkDelayMs(checks));
  assert.deepEqual(delays.slice(0, 4), [60_000, 63_000, 66_000, 69_000]);
  assert.equal(checkDelayMs(10), 242_000);
  assert.equal(delays.at(-1), 14_400_000);
  for (const [index, delay] of delays.entries()) assert.ok(index === 0 || delay >= delays[index - 1]!, String(index));
  const days = delays.reduce((sum, delay) => sum + delay, 0) / 86_400_000;
  assert.ok(days > 7.2 && days < 7.3, String(days));
  assert.equal(checkDelayMs(1_000_000), 14_400_000);
});

test("a certificate's status continues to issue and stays within the table", () => {
  for (const [from, moves] of Object.entries(SSL_MOVES)) {
    assert.ok(SSL_STATUSES.includes(from as SslStatus));
    for (const to of moves) assert.ok(SSL_STATUSES.includes(to), `${from} to ${to}`);
  }
  for (const status of ["initializing", "pending_validation", "pending_issuance", "pending_deployment"] as const) {
    assert.ok(sslMayBecome(status, "active"));
    assert.ok(!sslMayBecome(status, "expired"));
  }
  for (const over of ["validation_timed_out", "issuance_timed_out"] as const) {
    assert.ok(sslMayBecome(over, "initializing"));
    assert.ok(!sslMayBecome(over, "active"), "it starts over first");
  }
  for (const status of SSL_STATUSES) assert.ok(sslMayBecome(status, status));
  assert.ok(!sslMayBecome("deleted", "active"));
});

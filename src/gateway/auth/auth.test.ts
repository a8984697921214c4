import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { GATEWAY_ACCOUNT, gatewayTokenOp } from "../../../test/support/gateway-front.ts";
import { createAuthenticator } from "./auth.ts";

const bearer = (token: string) => ({ "svc-aig-authorization": `Bearer ${token}` });

function stage() {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const replica = createMemoryReplica([gatewayTokenOp("good"), gatewayTokenOp("new")]);
  const { refusal } = createAuthenticator({ replica, clock, vendorPrefix: "svc", failureLimit: { requests: 3, periodSeconds: 300 } });
  const told = (token: string | undefined, address = "192.0.2.1"): string =>
    refusal(token === undefined ? {} : bearer(token), GATEWAY_ACCOUNT, address)?.name ?? "good";
  return { clock, replica, refusal, told };
}

test("an address that guesses tokens is limited, and tokens that it used before keep working after other tokens change", () => {
  const { clock, replica, refusal, told } = stage();
  assert.equal(told("good"), "good");
  for (let i = 0; i < 3; i++) assert.equal(told(`guess-${i}`), "aig_unauthorized");
  const limited = refusal(bearer("guess"), GATEWAY_ACCOUNT, "192.0.2.1");
  assert.deepEqual([limited?.name, limited?.headers], ["aig_rate_limited", ["retry-after", "300"]]);
  assert.match(limited?.message ?? "", /Too many requests with unknown gateway tokens/);
  assert.equal(told("new"), "aig_rate_limited", "nobody has seen it from here");
  assert.deepEqual([told("good"), told("new", "192.0.2.2")], ["good", "good"]);
  replica.apply([gatewayTokenOp("third")]);
  assert.deepEqual([told("good"), told("third")], ["good", "aig_rate_limited"]);
  replica.apply([{ kind: "token", id: "good", value: null }]);
  assert.equal(told("good"), "aig_rate_limited", "one that is no more is a guess like others");
  clock.advance(301_000);
  assert.deepEqual([told("third"), told("good")], ["good", "aig_unauthorized"]);
});

test("a token too long to guess works at its first use, however many others its address tried", () => {
  const { clock, replica, told } = stage();
  const long = "k".repeat(40);
  replica.apply([gatewayTokenOp(long)]);
  for (let i = 0; i < 5; i++) told(`${"g".repeat(40)}${i}`);
  assert.deepEqual([told("g".repeat(40)), told("new"), told(long)], ["aig_rate_limited", "aig_rate_limited", "good"]);
  clock.advance(301_000);
  assert.equal(told("new"), "good");
});

test("missing tokens, expired ones and ones of another account do not count as guesses", () => {
  const { replica, refusal, told } = stage();
  replica.apply([
    { ...gatewayTokenOp("ended"), value: { ...(gatewayTokenOp("ended").value as object), expires_on: "2025-01-01T00:00:00Z" } } as never,
  ]);
  for (let i = 0; i < 5; i++) {
    assert.deepEqual([told(undefined), told("ended")], ["aig_unauthorized", "aig_unauthorized"]);
    assert.equal(refusal(bearer("good"), "b".repeat(32), "192.0.2.1")?.name, "aig_unauthorized");
  }
  assert.equal(told("new"), "good");
});

test("an IPv6 /64 counts as one guesser", () => {
  const { told } = stage();
  for (let i = 0; i < 3; i++) told("guess", `2001:db8:1:2::${i}`);
  assert.deepEqual([told("guess", "2001:db8:1:2:ffff::1"), told("guess", "2001:db8:1:3::1")], ["aig_rate_limited", "aig_unauthorized"]);
});

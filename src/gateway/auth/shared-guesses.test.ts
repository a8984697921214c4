import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { leasedLimits } from "#wire/redis/leases.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { GATEWAY_ACCOUNT } from "../../../test/support/gateway-front.ts";
import { startRedis } from "../../../test/support/redis.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { createAuthenticator } from "./auth.ts";

const LIMIT = { requests: 30, periodSeconds: 3_600 };
/** Guesses that machines accept before they have heard of each other's. */
const UNHEARD_MAX = 15;

test(
  "gateways that share counters accept together as many guesses of tokens as one does",
  { skip: toolOrSkip("redis-server") },
  async (t) => {
    const redis = await startRedis();
    const sealer = createSealer(randomBytes(32));
    const deps = { sealer, subject: "gateway", clock: systemClock, metrics: createMetrics() };
    const machines = [1, 2, 3].map(() => leasedLimits({ url: redis.url, ca: "" }, deps));
    t.after(async () => {
      machines.forEach((machine) => machine.close());
      await redis.stop();
    });
    await eventually(() => machines.every((machine) => machine.isUp()));
    const replica = createMemoryReplica([]);
    const gates = machines.map((sharedLimits) =>
      createAuthenticator({ ...{ replica, clock: systemClock, vendorPrefix: "svc", failureLimit: LIMIT, sharedLimits } }),
    );
    const window = (): number => Math.floor(Date.now() / (LIMIT.periodSeconds * 1000));
    const began = window();
    let accepted = 0;
    for (let round = 0; round < 35; round++) {
      for (const { refusal } of gates) {
        const said = refusal({ "svc-aig-token": `Bearer guess-${round}` }, GATEWAY_ACCOUNT, "192.0.2.1");
        if (said?.name === "aig_unauthorized") accepted++;
      }
      await delay(10);
    }
    assert.ok(window() !== began || (accepted >= 20 && accepted <= LIMIT.requests + UNHEARD_MAX), `${accepted}`);
  },
);

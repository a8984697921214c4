import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Config } from "#app/config/config.ts";
import type { Log } from "#app/log/log.ts";
import { reportLocalDuties } from "./local-duties.ts";

function dutiesOf(
  config: {
    readonly url?: string;
    readonly bus?: string;
    readonly counters?: string;
    readonly events?: string;
    readonly roles?: readonly string[];
  },
  isNode = false,
): readonly string[] {
  const { url = "sqlite:a.db", bus = "", counters = "", events = "", roles = ["control", "edge"] } = config;
  const said: string[] = [];
  const log = { info: ({ duty }: { readonly duty: string }) => said.push(duty) } as unknown as Log;
  const metrics = createMetrics();
  const given = { database: { url }, bus: { url: bus }, counters: { url: counters }, events: { url: events }, roles } as unknown as Config;
  reportLocalDuties({ config: given, isNode, log, metrics });
  const counted = metrics.samples().filter(({ name, value }) => name === "selvedge_local_duties" && value === 1);
  assert.equal(counted.length, said.length);
  return said;
}

test("an installation on several machines says which duties each has alone; one machine says nothing", () => {
  assert.deepEqual(dutiesOf({}), []);
  assert.deepEqual(dutiesOf({ roles: ["edge"] }), []);
  assert.deepEqual(dutiesOf({ url: "postgres://db/x" }), ["changes", "counters", "events"]);
  assert.deepEqual(dutiesOf({ bus: "nats://bus" }), ["control", "counters", "events"]);
  assert.deepEqual(dutiesOf({ url: "postgres://db/x", bus: "nats://bus" }), ["counters", "events"]);
  assert.deepEqual(dutiesOf({ roles: ["edge"] }, true), ["counters"]);
  assert.deepEqual(dutiesOf({ url: "postgres://db/x", bus: "nats://bus", counters: "redis://count" }), ["events"]);
  assert.deepEqual(dutiesOf({ url: "postgres://db/x", bus: "nats://bus", events: "http://clickhouse" }), ["counters"]);
});

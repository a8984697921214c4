import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrap } from "#control/access/bootstrap.ts";
import { type Call, systemActor } from "#control/call.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { openGatewayLogReads } from "#events/read/log-reads.ts";
import { openGatewayLogStore } from "#events/read/store.ts";
import { packed, testGatewayRow } from "#events/testing/rows.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createLongReads } from "#control/long-reads.ts";
import { EVALUATION_TYPES } from "#model/gateways/gateway-dataset.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createGatewayDatasets } from "./datasets.ts";
import { createGatewayEvaluations } from "./evaluations.ts";
import { createGateways } from "./gateways.ts";

const SETTINGS = {
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};
const PAGE = { page: 1, per_page: 20 };

storeTest("datasets are stored and evaluated by cost, speed and feedback, within their gateway", async ({ store }) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-evaluations-"));
  const path = join(directory, "events.db");
  const logs = openGatewayLogStore(path, openGatewayLogReads(path));
  try {
    const clock = systemClock;
    const { account_id } = await bootstrap({ store, clock, sealer: createSealer(Buffer.alloc(32)), email: "admin@example.com" });
    const call: Call = { actor: systemActor("test"), request_id: "r", rev: null };
    const gateways = createGateways({ store, sealer: createSealer(Buffer.alloc(32, 7)), clock: fixedClock("1970-01-01T00:00:00Z") });
    for (const id of ["gw", "other"]) await gateways.create(call, account_id, { id, ...SETTINGS });
    const [key, other] = [
      { account_id, gateway_id: "gw" },
      { account_id, gateway_id: "other" },
    ];
    const datasets = createGatewayDatasets({ store, clock });
    const evaluations = createGatewayEvaluations({ store, clock, logs, longReads: createLongReads() });
    const write = { name: "Dear ones", enable: true, filters: [{ key: "cost" as const, operator: "gt" as const, value: [0.1] }] };
    const dear = await datasets.create(call, key, write);
    const failed = await datasets.create(call, key, {
      name: "failed",
      enable: true,
      filters: [{ key: "success", operator: "eq", value: [false] }],
    });
    const off = await datasets.create(call, key, { name: "off", enable: false, filters: [] });
    assert.deepEqual((await datasets.list(key, { search: "EAR" }, PAGE)).items, [dear]);
    assert.deepEqual((await datasets.list(key, { name: "Failed" }, PAGE)).items, [failed]);
    assert.equal((await datasets.list(other, {}, PAGE)).total_count, 0);

    const types = EVALUATION_TYPES.map(({ id }) => id);
    const early = await evaluations.create(call, key, { name: "early", dataset_ids: [dear.id], evaluation_type_ids: types });
    assert.deepEqual(
      early.results.map(({ result, status }) => [result, status]),
      [
        ["", 2],
        ["", 2],
        ["", 2],
      ],
    );

    const row = (id: string, changes: object) =>
      testGatewayRow({ id, ...key, cost: 0, success: true, duration_ms: 10, feedback: null, ...changes });
    const database = openEventDatabase(path);
    const rows = [
      row("a", { cost: 0.5, duration_ms: 100, feedback: 1 }),
      row("b", { cost: 0.25, duration_ms: 200, success: false, feedback: -1 }),
      row("c", { cost: null, duration_ms: 600, success: false, feedback: 1 }),
      row("d", {}),
      row("e", { cost: 9, gateway_id: "other" }),
    ];
    database.insert([packed("gateway_logs", rows)]);
    database.close();
    const both = await evaluations.create(call, key, {
      name: "both",
      dataset_ids: [dear.id, failed.id, off.id],
      evaluation_type_ids: types,
    });
    assert.deepEqual(
      both.results.map(({ evaluation_type_id, result, total_logs }) => [types.indexOf(evaluation_type_id), Number(result), total_logs]),
      [
        [0, 0.375, 3],
        [1, 300, 3],
        [2, 200 / 3, 3],
      ],
    );
    assert.deepEqual(await evaluations.get(key, both.id), both);
    assert.deepEqual(
      (await evaluations.list(key, {}, PAGE)).items.map(({ name }) => name),
      ["both", "early"],
    );

    const renamed = await datasets.update(call, key, dear.id, { ...write, name: "dear" });
    assert.deepEqual([renamed.name, renamed.created_at], ["dear", dear.created_at]);
    assert.equal((await evaluations.get(key, both.id)).datasets[0]?.name, "Dear ones", "an evaluation says what it looked at");
    const isMissing = (error: unknown): boolean => error instanceof PlatformError && error.code === 7002;
    for (const attempt of [
      () => datasets.get(other, dear.id),
      () => datasets.delete(call, other, dear.id),
      () => evaluations.get(other, both.id),
      () => datasets.create(call, { account_id, gateway_id: "none" }, write),
    ])
      await assert.rejects(attempt, isMissing);
    const isInvalid = (error: unknown): boolean => error instanceof PlatformError && error.code === 7001;
    await assert.rejects(
      datasets.create(call, key, { ...write, filters: [{ key: "cost", operator: "contains", value: ["1"] }] }),
      isInvalid,
    );
    await assert.rejects(evaluations.create(call, other, { name: "x", dataset_ids: [dear.id], evaluation_type_ids: types }), isInvalid);
    await assert.rejects(evaluations.create(call, key, { name: "x", dataset_ids: [dear.id], evaluation_type_ids: ["x"] }), isInvalid);
    await gateways.delete(call, account_id, "gw");
    await assert.rejects(datasets.list(key, {}, PAGE), isMissing);
  } finally {
    logs.close();
    rmSync(directory, { recursive: true });
  }
});

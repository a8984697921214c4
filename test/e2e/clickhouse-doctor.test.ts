import assert from "node:assert/strict";
import { test } from "node:test";
import { startClickHouseStub } from "../support/clickhouse-stub.ts";
import { fleetCommand, fleetDirectory } from "../support/fleet.ts";

test("doctor and config check show ClickHouse without its password, and doctor whether it can be used", async (t) => {
  const stub = await startClickHouseStub(t, "selvedge:hidden-word");
  stub.answers.set("SELECT version()", [{ version: "26.7.2.1" }]);
  const env = { SELVEDGE_EVENTS_URL: stub.url, SELVEDGE_DATA: fleetDirectory(t, "clickhouse-doctor") };
  const checked = await fleetCommand(env, "config", "check");
  assert.equal(checked["events.url"].value, stub.url.replace("selvedge:hidden-word", "[secret]"));
  const finding = (answer: any): string => answer.findings.find(({ what }: { readonly what: string }) => what === "clickhouse").finding;
  assert.equal(finding(await fleetCommand(env, "doctor")), "reachable, ClickHouse 26.7.2.1");
  stub.fault = (response) => response.destroy();
  await assert.rejects(fleetCommand(env, "doctor"), (error: { readonly code: number; readonly stdout: string }) => {
    assert.equal(error.code, 1);
    assert.match(finding(JSON.parse(error.stdout)), /^http:\/\/\[secret\]@127\.0\.0\.1:\d+\/events cannot be used: /);
    assert.doesNotMatch(error.stdout, /hidden-word/);
    return true;
  });
});

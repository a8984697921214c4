import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SCORE_EXCEEDED_RULE_ID, SCORES } from "#rules/managed/request-rulesets.ts";
import { succeed } from "../support/api.ts";
import { exchangeRaw } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";
import { fleetDirectory, startFleet } from "../support/fleet.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("postgres");

/** One rule, which hits each argument with the word. */
const rules = (word: string): string =>
  `SecComponentSignature "OWASP_CRS/${word}"\nSecRule ARGS "@contains ${word}" "id:942100,phase:2,pass,msg:'x',setvar:tx.inbound_anomaly_score_pl1=+5"\n`;

async function status({ ready }: Selvedge, word: string): Promise<number> {
  const { port } = new URL(ready.http);
  const answer = await exchangeRaw(Number(port), `GET /?q=${word} HTTP/1.1\r\nHost: www.crs.example\r\nConnection: close\r\n\r\n`);
  return Number(answer.slice(9, 12));
}

test("a node uses the Core Rule Set that control has compiled, also after a change and without control", { skip }, async (t) => {
  const directory = fleetDirectory(t, "crs");
  const file = join(directory, "rules", "REQUEST-942.conf");
  mkdirSync(join(directory, "rules"));
  writeFileSync(file, rules("firstword"));
  const world = await startFleet(t, { SELVEDGE_WAF_CRS_DIRECTORY: directory });
  const { call, account } = world;
  const { id } = await succeed(call("POST", "/zones", { name: "crs.example", account: { id: account } }));
  await succeed(call("POST", `/zones/${id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
  const overrides = { rules: [{ id: SCORE_EXCEEDED_RULE_ID, action: "block", score_threshold: 5 }] };
  const deployed = { action: "execute", expression: "true", action_parameters: { id: SCORES.id, overrides } };
  await succeed(call("PUT", `/zones/${id}/rulesets/phases/http_request_firewall_managed/entrypoint`, { rules: [deployed] }));

  const dataDir = await world.join("fra-1", "edge");
  const found = { SELVEDGE_WAF_CRS_DIRECTORY: "" };
  let node = await world.start(dataDir, found);
  await eventually(async () => (await status(node, "firstword")) === 403);
  assert.notEqual(await status(node, "secondword"), 403);

  writeFileSync(file, rules("secondword"));
  process.kill(world.controlPid(), "SIGHUP");
  await eventually(async () => (await status(node, "secondword")) === 403);
  assert.notEqual(await status(node, "firstword"), 403);

  // Rules that do not compile leave the last good ones in use.
  writeFileSync(file, `${rules("thirdword")}SecRule ARGS "@nonsense x" "id:1"\n`);
  process.kill(world.controlPid(), "SIGHUP");
  await node.stop();
  await world.nats.kill();
  node = await world.start(dataDir, found);
  assert.equal(await status(node, "secondword"), 403);
  assert.notEqual(await status(node, "thirdword"), 403);
  assert.ok(readFileSync(join(dataDir, "snapshot.last-good")).length > 0);
});

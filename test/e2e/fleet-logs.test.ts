import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { fleetDirectory, startFleet } from "../support/fleet.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("postgres");

test(
  "each server with control has all logs of gateways on nodes, also those from while it was away",
  { skip, timeout: 600_000 },
  async (t) => {
    const provider = createServer((asked, answer) => {
      asked.resume().on("end", () => answer.end(JSON.stringify({ usage: { prompt_tokens: 3, completion_tokens: 4 } })));
    }).listen(0, "127.0.0.1");
    await once(provider, "listening");
    t.after(() => provider.close());
    const world = await startFleet(t);
    const logs = `/accounts/${world.account}/ai-gateway/gateways/main/logs`;
    const settings = { cache_invalidate_on_update: false, cache_ttl: 0, collect_logs: true };
    const unlimited = { rate_limiting_interval: 0, rate_limiting_limit: 0, rate_limiting_technique: "fixed" };
    await succeed(world.call("POST", `/accounts/${world.account}/ai-gateway/gateways`, { id: "main", ...settings, ...unlimited }));

    const otherDir = fleetDirectory(t, "other-control");
    cpSync(join(world.controlDir, "seal.key"), join(otherDir, "seal.key"));
    const env = { ...world.env, SELVEDGE_DATA: otherDir, SELVEDGE_ROLES: "control", SELVEDGE_BUS_URL: world.nats.url };
    let other = await world.start(otherDir, env);
    const others: ApiCall = (...given) => apiCaller(other.ready, world.token)(...given);
    const { port } = provider.address() as AddressInfo;
    const node = await world.start(await world.join("fra-1", "gateway"), {
      SELVEDGE_GATEWAY_PROVIDERS: `openai=http://127.0.0.1:${port}/v1`,
    });
    const chat = async (content: string): Promise<void> => {
      const response = await fetch(`${node.ready.gateway}/v1/${world.account}/main/openai/chat/completions`, {
        ...{ method: "POST", headers: { authorization: "Bearer key", "content-type": "application/json" } },
        body: JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content }] }),
      });
      assert.equal(response.status, 200, await response.text());
    };
    const idsAt = async (call: ApiCall): Promise<readonly string[]> =>
      (await succeed(call("GET", `${logs}?order_by_direction=asc`))).map(({ id }: { readonly id: string }) => id);
    const bothHave = (count: number): Promise<unknown> =>
      eventually(async () => {
        const [here, there] = [await idsAt(world.call), await idsAt(others)];
        return here.length === count && here.join() === there.join();
      });
    await eventually(async () => {
      const [seen] = await succeed(world.call("GET", `/accounts/${world.account}/nodes`));
      return seen.status === "connected" && seen.behind === 0;
    });

    await chat("first");
    await chat("second");
    await bothHave(2);
    const [first, second] = (await idsAt(others)) as [string, string];
    for (const call of [world.call, others]) assert.match(JSON.stringify(await succeed(call("GET", `${logs}/${first}`))), /first/);

    // Feedback and deletions at one server reach the other one.
    await succeed(others("PATCH", `${logs}/${second}`, { feedback: 1 }));
    await eventually(async () => (await succeed(world.call("GET", `${logs}/${second}`))).feedback === 1);
    const only = encodeURIComponent(JSON.stringify([{ key: "id", operator: "eq", value: [first] }]));
    await succeed(world.call("DELETE", `${logs}?filters=${only}`));
    await bothHave(1);
    assert.equal((await others("GET", `${logs}/${first}`)).status, 404);

    // The one that leads ends, or the other one: the node's logs reach both in the end.
    await other.kill();
    await chat("without the other one");
    await eventually(async () => (await idsAt(world.call)).length === 2);
    other = await world.start(otherDir, env);
    await bothHave(2);
    process.kill(world.controlPid(), "SIGSTOP");
    await chat("while the first one stands still");
    await eventually(async () => (await idsAt(others)).length === 3);
    process.kill(world.controlPid(), "SIGCONT");
    await bothHave(3);

    // The second one began later than the gateway.
    const { messages } = (await others("GET", logs)).body;
    assert.match(JSON.stringify(messages), /Logs that another server with control took before .* are not in the list of this server/);
    assert.deepEqual((await world.call("GET", logs)).body.messages, []);
  },
);

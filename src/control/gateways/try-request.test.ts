import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "#kernel/clock.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { PLAIN_GATEWAY } from "../../../test/support/plain-gateway.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createGatewayTries } from "./try-request.ts";

storeTest("a tried request stays below its gateway, however its path is written", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  await control.gateways.create(call(), account_id, { id: "mine", ...PLAIN_GATEWAY });
  const asked: string[] = [];
  const plane = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  plane.listen(0, "127.0.0.1");
  await once(plane, "listening");
  const url = `http://127.0.0.1:${(plane.address() as AddressInfo).port}`;
  const tries = createGatewayTries({ store, clock: systemClock, urlOfGateways: () => url });
  const endpoints = ["x/../../theirs/openai/models", "x/%2e%2e/%2E./theirs/openai", "x/../../../../metrics"];
  for (const endpoint of endpoints)
    await assert.rejects(tries.send(account_id, "mine", { endpoint, query: {} }), failing(7001, "/endpoint"), endpoint);
  await tries.send(account_id, "mine", { endpoint: "x/../compat/chat/completions", query: {} });
  assert.deepEqual(asked, [`/v1/${account_id}/mine/compat/chat/completions`]);
  plane.closeAllConnections();
  plane.close();
});

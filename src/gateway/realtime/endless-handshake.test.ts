import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { WebSocket } from "ws";
import { gatewayFront, gatewayOp } from "../../../test/support/gateway-front.ts";

const HINT = "HTTP/1.1 103 Early Hints\r\n\r\n";

for (const [what, first, more] of [
  ["1xx responses", HINT, HINT],
  ["a refusal", "HTTP/1.1 400 Bad Request\r\n\r\n", "x"],
] as const)
  test(`a provider that answers a handshake with ${what} without end is cut at the time limit`, async (t) => {
    const provider = createServer((socket) => {
      socket.on("error", () => undefined).resume();
      socket.write(first);
      const timer = setInterval(() => socket.write(more), 20);
      socket.on("close", () => clearInterval(timer));
    });
    await new Promise<void>((done) => provider.listen(0, "127.0.0.1", done));
    t.after(() => provider.close());
    const { base } = await gatewayFront(t, {
      ops: [gatewayOp("gw")],
      providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1` },
      limits: { connectTimeoutMs: 300 },
    });
    const client = new WebSocket(`${base.replace("http", "ws")}/gw/openai?model=gpt-realtime`, { headers: { authorization: "Bearer k" } });
    t.after(() => client.terminate());
    const [error] = (await once(client, "error")) as [Error];
    assert.match(error.message, /502|400/);
  });

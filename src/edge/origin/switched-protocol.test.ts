import assert from "node:assert/strict";
import { test } from "node:test";
import { rawClient, rawOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { acceptOf } from "../../../test/support/websocket-server.ts";

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const upgrade = (protocol: string, fields = ""): string =>
  `GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n${fields}\r\n`;
const WEB_SOCKET = upgrade("websocket", `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n`);
const accept = (value: string): string => `Sec-WebSocket-Accept: ${value}\r\n`;
/** A request that no stage of the edge has seen. */
const BEHIND = "GET /behind HTTP/1.1\r\nHost: www.example.com\r\n\r\n";

const CASES: readonly (readonly [what: string, request: string, fields: string, isTunnel: boolean])[] = [
  ["a WebSocket", WEB_SOCKET, `Upgrade: websocket\r\n${accept(acceptOf(KEY))}`, true],
  ["a WebSocket in capitals", WEB_SOCKET, `UPGRADE: WebSocket\r\nSEC-WEBSOCKET-ACCEPT: ${acceptOf(KEY)}\r\n`, true],
  ["another protocol", upgrade("echo/2"), "Upgrade: echo/2\r\n", true],
  ["a status alone", WEB_SOCKET, "", false],
  ["a WebSocket without proof", WEB_SOCKET, "Upgrade: websocket\r\n", false],
  ["a WebSocket of another key", WEB_SOCKET, `Upgrade: websocket\r\n${accept(acceptOf("k"))}`, false],
  ["a WebSocket with two proofs", WEB_SOCKET, `Upgrade: websocket\r\n${accept(acceptOf(KEY))}${accept("x")}`, false],
  ["a proof without a protocol", WEB_SOCKET, accept(acceptOf(KEY)), false],
  ["a protocol that nobody asked for", WEB_SOCKET, `Upgrade: h2c\r\n${accept(acceptOf(KEY))}`, false],
  ["two protocols", WEB_SOCKET, `Upgrade: websocket\r\nUpgrade: h2c\r\n${accept(acceptOf(KEY))}`, false],
  ["a WebSocket without a key", upgrade("websocket"), `Upgrade: websocket\r\n${accept(acceptOf(""))}`, false],
  ["another protocol than that", upgrade("echo/2"), "Upgrade: echo/1\r\n", false],
];

test("a connection becomes a tunnel only if the origin switches to the protocol that the client requested", async () => {
  let tunnelled = "";
  let fields = "";
  const origin = await rawOrigin((socket) => {
    let switched = false;
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      const text = bytes.toString("latin1");
      if (switched) tunnelled += text;
      else if (/^upgrade:/im.test(text)) {
        switched = true;
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${fields}\r\n`);
      } else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
  });
  const site = await startEdge(siteOps(origin.port));
  try {
    for (const [what, request, answer, isTunnel] of CASES) {
      tunnelled = "";
      fields = answer;
      const client = rawClient(site.http);
      client.send(request);
      await client.until(/\r\n\r\n/);
      assert.match(client.received(), isTunnel ? /^HTTP\/1\.1 101 / : /^HTTP\/1\.1 520 /, what);
      client.send(BEHIND);
      if (isTunnel) await eventually(() => tunnelled === BEHIND);
      else await client.until(/HTTP\/1\.1 520 [^]*HTTP\/1\.1 200 /);
      assert.equal(tunnelled, isTunnel ? BEHIND : "", what);
      client.socket.destroy();
    }
  } finally {
    await site.close();
    origin.close();
  }
});

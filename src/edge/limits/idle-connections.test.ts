import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { httpOrigin, rawClient, siteOps, startEdge } from "#edge/testing/edge.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { startSecureEdge } from "../../../test/support/secure-edge.ts";

const H = "Host: www.example.com\r\n";
const PLACES = 3;
const limits = { connectionsPerAddressMax: PLACES };

function open(t: TestContext, port: number): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  t.after(() => socket.destroy());
  return socket.resume();
}

test("connections without a request, with half of one or between two make room for new ones of their address, and one with a request does not", async (t) => {
  const waiting: ServerResponse[] = [];
  const origin = await httpOrigin((req, res) => {
    if (req.url === "/slow") waiting.push(res);
    else res.end("fine");
  });
  const edge = await startEdge(siteOps(origin.port), {}, limits);
  t.after(async () => {
    await edge.close();
    await origin.close();
  });
  const busy = rawClient(edge.http);
  busy.send(`GET /slow HTTP/1.1\r\n${H}Connection: close\r\n\r\n`);
  await eventually(() => waiting.length === 1);
  for (let round = 0; round < 3; round++) {
    const silent = open(t, edge.http);
    const half = open(t, edge.http);
    half.write(`GET /half HTTP/1.1\r\n${H}`);
    await Promise.all([silent, half].map((socket) => socket.connecting && once(socket, "connect")));
    const kept = rawClient(edge.http);
    kept.send(`GET /fine HTTP/1.1\r\n${H}\r\n`);
    await eventually(() => kept.received().includes("fine"));
    kept.send(`GET /fine HTTP/1.1\r\n${H}Connection: close\r\n\r\n`);
    await kept.closed();
  }
  waiting[0]?.end("slow");
  assert.match(await busy.closed(), /slow$/);
});

test("handshakes that do not go on and idle HTTP/2 connections make room for new ones of their address", async (t) => {
  const origin = await httpOrigin((_req, res) => void res.end("fine"));
  const edge = await startSecureEdge(origin.port, limits);
  t.after(async () => {
    await edge.close();
    await origin.close();
  });
  for (let round = 0; round < PLACES + 2; round++) open(t, edge.https);
  for (let round = 0; round < PLACES + 2; round++) {
    const session = edge.session();
    session.on("error", () => undefined);
    const stream = session.request({ ":path": "/fine", ":authority": "www.example.com" });
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    assert.equal(head[":status"], 200);
    await once(stream.resume(), "end");
  }
});

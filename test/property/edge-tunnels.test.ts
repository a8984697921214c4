import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, before, test } from "node:test";
import { connect } from "node:net";
import { once } from "node:events";
import { exchangeRaw, rawOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";
import { fc } from "../support/property.ts";
import { acceptOf } from "../support/websocket-server.ts";

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const HEAD = `GET /tunnel HTTP/1.1\r\nHost: www.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n`;

/** One end of a tunnel: what it has sent and got. */
class End {
  readonly socket: Socket;
  sent: Buffer = Buffer.alloc(0);
  got: Buffer = Buffer.alloc(0);
  hasEnded = false;
  isAborted = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
  }

  take(bytes: Buffer): void {
    this.got = Buffer.concat([this.got, bytes]);
  }

  send(bytes: Buffer): void {
    if (this.hasEnded || this.isAborted || this.socket.destroyed) return;
    this.sent = Buffer.concat([this.sent, bytes]);
    this.socket.write(bytes);
  }

  end(): void {
    this.hasEnded = true;
    this.socket.end();
  }

  abort(): void {
    this.isAborted = true;
    // Node.js never closes a socket that is reset while its end is sent.
    if (this.hasEnded) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }
}

let edge: TestEdge;
let origin: TestOrigin;
/** Those ends of the origin that wait for their visitor's, by the number in a field. */
const origins = new Map<string, End>();

before(async () => {
  origin = await rawOrigin((socket) => {
    const end = new End(socket);
    let head = "";
    socket.on("data", (bytes) => {
      if (head.includes("\r\n\r\n")) return end.take(bytes);
      head += bytes.toString("latin1");
      const at = head.indexOf("\r\n\r\n");
      if (at < 0) return;
      const number = /^x-number: (\d+)/im.exec(head)?.[1];
      if (number === undefined) return void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
      end.take(Buffer.from(head.slice(at + 4), "latin1"));
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${acceptOf(KEY)}\r\n\r\n`,
      );
      origins.set(number, end);
    });
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  await edge.close();
  await origin.close();
});

let opened = 0;

/** Both ends of a new tunnel. `early`: bytes that the visitor sends before it knows of the tunnel. */
async function open(early: Buffer): Promise<readonly [visitor: End, origin: End]> {
  const number = String(opened++);
  const visitor = new End(connect({ port: edge.http, host: "127.0.0.1", allowHalfOpen: true }));
  let head = "";
  const { promise: switched, resolve } = Promise.withResolvers<void>();
  visitor.socket.on("data", (bytes) => {
    if (head.includes("\r\n\r\n")) return visitor.take(bytes);
    head += bytes.toString("latin1");
    const at = head.indexOf("\r\n\r\n");
    if (at < 0) return;
    visitor.take(Buffer.from(head.slice(at + 4), "latin1"));
    resolve();
  });
  await once(visitor.socket, "connect");
  visitor.sent = early;
  visitor.socket.write(Buffer.concat([Buffer.from(`${HEAD}X-Number: ${number}\r\n\r\n`), early]));
  await switched;
  assert.match(head, /^HTTP\/1\.1 101 /);
  return [visitor, origins.get(number)!];
}

const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((some) => Buffer.from(some));
const step = fc.record({
  tunnel: fc.nat(2),
  side: fc.nat(1),
  what: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom("send", "send much") },
    { weight: 3, arbitrary: fc.constantFrom("pause", "resume", "turn") },
    { weight: 2, arbitrary: fc.constantFrom("end", "abort") },
  ),
  data: bytes,
});

/** The bytes that came are the first of those that were sent. */
const isPrefix = (got: Buffer, sent: Buffer): boolean => got.length <= sent.length && sent.subarray(0, got.length).equals(got);

test("property: whatever both ends of tunnels send, and however they end, bytes pass in order, no error is thrown and all connections close", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 3, maxLength: 3 }), fc.array(step, { maxLength: 40 }), async (earlies, steps) => {
      const tunnels = await Promise.all(earlies.map(open));
      for (const { tunnel, side, what, data } of steps) {
        const end = tunnels[tunnel]![side]!;
        if (what === "send") end.send(data);
        else if (what === "send much") end.send(Buffer.alloc(64 * 1024, data));
        else if (what === "pause") end.socket.pause();
        else if (what === "resume") end.socket.resume();
        else if (what === "end") end.end();
        else if (what === "abort") end.abort();
        else await new Promise(setImmediate);
      }
      for (const [visitor, server] of tunnels) {
        visitor.socket.resume();
        server.socket.resume();
        const isUndisturbed = [visitor, server].every((end) => !end.isAborted && !end.hasEnded);
        if (isUndisturbed) await eventually(() => visitor.got.equals(server.sent) && server.got.equals(visitor.sent));
        assert.ok(isPrefix(visitor.got, server.sent) && isPrefix(server.got, visitor.sent), "bytes in order");
        visitor.socket.destroy();
        server.socket.destroy();
      }
      assert.deepEqual(edge.errors, []);
      await eventually(() => openConnections() === 0);
    }),
    { numRuns: 60 },
  );
  assert.match(
    await exchangeRaw(edge.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n"),
    /^HTTP\/1\.1 200 [^]*ok$/,
  );
});

const openConnections = (): number =>
  ["selvedge_edge_connections", "selvedge_edge_origin_connections"].reduce((sum, name) => sum + edge.metrics.gauge(name, "").value, 0);

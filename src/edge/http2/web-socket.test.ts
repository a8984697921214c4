import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { after, before, test } from "node:test";
import { rawOrigin, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { zoneOp } from "#edge/testing/entries.ts";
import { answerOf, type SecureEdge, startSecureEdge } from "../../../test/support/secure-edge.ts";

let origin: TestOrigin;
let edge: SecureEdge;
/** The origin's received bytes, and its responses by path. */
let head = "";
let received = "";
let peer: Socket;
const ANSWERS: Readonly<Record<string, (accept: string) => string>> = {
  "/switch": (accept) =>
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: chat\r\nSet-Cookie: a=1\r\n\r\nfirst;`,
  "/wrong": () => "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: AAAA\r\n\r\nevil",
  "/unproved": () => "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nevil",
  "/200": () => "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
  "/404": () => "HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nnothing",
  "/302": () => "HTTP/1.1 302 Found\r\nLocation: /switch\r\nContent-Length: 0\r\n\r\n",
};

before(async () => {
  origin = await rawOrigin((socket) => {
    peer = socket;
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      // A connection that did not switch serves another request.
      if (head === "" && text.lastIndexOf("GET /") > 0) text = text.slice(text.lastIndexOf("GET /"));
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      if (head === "") {
        head = text.slice(0, end);
        const key = /^sec-websocket-key: (.*)$/im.exec(head)?.[1]?.trim() ?? "";
        const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
        socket.write(ANSWERS[head.split(" ")[1]!.split("?")[0]!]!(accept));
      }
      received = text.slice(end + 4);
    });
  });
  edge = await startSecureEdge(origin.port, { tunnelIdleTimeoutMs: 1500, lingerMs: 100 });
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

async function ready(): Promise<ClientHttp2Session> {
  head = received = "";
  const session = edge.session();
  await once(session, "remoteSettings");
  return session;
}

const ask = (session: ClientHttp2Session, path: string, more: Record<string, string> = {}, endStream = false): ClientHttp2Stream => {
  const fields = { ":method": "CONNECT", ":protocol": "websocket", ":scheme": "https", ":authority": "www.example.com", ":path": path };
  const stream = session.request({ ...fields, "sec-websocket-version": "13", ...more }, { endStream });
  // A refused client sends nothing more.
  stream.on("error", () => undefined).on("response", (fields) => void (fields[":status"] !== 200 && stream.end()));
  return stream;
};

async function opened(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders & { ":status"?: number }> {
  const [fields] = (await once(stream, "response")) as [IncomingHttpHeaders];
  return fields;
}

test("the edge offers extended CONNECT, turns it into an upgrade, and removes fields of the origin's handshake from the response", async () => {
  const session = await ready();
  assert.equal(session.remoteSettings.enableConnectProtocol, true);
  const stream = ask(session, "/switch?a=b", {
    "sec-websocket-protocol": "chat",
    "sec-websocket-key": "forged",
    origin: "https://www.example.com",
  });
  const fields = await opened(stream);
  assert.equal(fields[":status"], 200);
  assert.equal(fields["sec-websocket-protocol"], "chat");
  assert.deepEqual(fields["set-cookie"], ["a=1"]);
  assert.match(String(fields["svc-ray"]), /^[0-9a-f]{16}$/);
  for (const name of ["sec-websocket-accept", "upgrade", "connection"]) assert.equal(fields[name], undefined, name);
  assert.match(head, /^GET \/switch\?a=b HTTP\/1\.1\r\nHost: www\.example\.com\r\n/);
  assert.match(head, /\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n/);
  assert.match(head, /\r\nsec-websocket-version: 13\r\n/);
  assert.match(head, /\r\nsec-websocket-key: [A-Za-z0-9+/]{22}==\r\n/);
  assert.equal(head.match(/sec-websocket-key/gi)?.length, 1);
  assert.doesNotMatch(head, /forged|transfer-encoding|content-length|:protocol/i);
  let text = "";
  stream.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  await eventually(() => text === "first;");
  stream.write("hello");
  await eventually(() => received === "hello");
  peer.write("and back");
  await eventually(() => text === "first;and back");
  stream.end("x".repeat(300_000));
  const closed = once(stream, "close");
  await once(peer, "end");
  assert.equal(received.length, 300_005);
  peer.end("last");
  await closed;
  assert.deepEqual([text, stream.rstCode], ["first;and backlast", 0]);
  await eventually(() => edge.requests.some(({ path, status, bytes_in }) => path === "/switch" && status === 101 && bytes_in > 300_000));
});

test("the origin can end first, and a reset by the origin resets the stream", async () => {
  const session = await ready();
  const first = ask(session, "/switch");
  await opened(first);
  first.resume();
  const closed = once(first, "close");
  peer.end("bye");
  await once(first, "end");
  first.end("still heard");
  await eventually(() => received === "still heard");
  await closed;
  assert.equal(first.rstCode, 0);
  head = "";
  const second = ask(session, "/switch");
  await opened(second);
  second.resume();
  const broken = new Promise((done) => second.on("close", done));
  peer.resetAndDestroy();
  await broken;
  assert.notEqual(second.rstCode, 0);
});

test("a client that resets its stream or disconnects closes the origin connection", async () => {
  const session = await ready();
  for (const leave of [(stream: ClientHttp2Stream) => stream.close(8), () => session.destroy()]) {
    head = "";
    const stream = ask(session, "/switch");
    await opened(stream);
    const closed = new Promise((done) => peer.on("end", done).on("close", done));
    leave(stream);
    await closed;
  }
});

test("an idle tunnel ends after its timeout", async () => {
  const stream = ask(await ready(), "/switch");
  await opened(stream);
  stream.resume();
  await new Promise((done) => stream.on("close", done));
  assert.notEqual(stream.rstCode, 0);
});

test("an origin that refuses the WebSocket sends a normal response, and one that answers 200 gives 520", async () => {
  const session = await ready();
  for (const [path, status, body] of [
    ["/404", 404, "nothing"],
    ["/302", 302, ""],
    ["/200", 520, null],
    ["/wrong", 520, null],
    ["/unproved", 520, null],
  ] as const) {
    head = "";
    const answer = await answerOf(ask(session, path));
    assert.equal(answer.status, status, path);
    if (body !== null) assert.equal(answer.body, body);
    assert.doesNotMatch(answer.body, /evil/);
  }
});

test("the edge refuses other protocols, ended requests, bodies with a length, and zones without WebSockets before it connects to the origin", async () => {
  const session = await ready();
  const status = async (more: Record<string, string>, endStream = false): Promise<number> =>
    (await answerOf(ask(session, "/switch", more, endStream))).status;
  assert.equal(await status({ ":protocol": "connect-udp" }), 501);
  assert.equal(await status({}, true), 400);
  assert.equal(await status({ "content-length": "3" }), 400);
  edge.replica.apply([zoneOp("zone", "example.com", { edge: { websockets: false } })]);
  assert.equal(await status({}), 403);
  edge.replica.apply([zoneOp("zone", "example.com")]);
  assert.equal(head, "");
});

test("a side that does not read stops the other side from sending", async () => {
  const session = await ready();
  const stream = ask(session, "/switch");
  await opened(stream);
  stream.pause();
  const flood = Buffer.alloc(65_536, "x");
  let sent = 0;
  const sender = setInterval(() => {
    while (sent < 256_000_000 && peer.writable && peer.writableLength === 0) {
      sent += flood.length;
      if (!peer.write(flood)) break;
    }
  }, 1);
  let last = -1;
  while (last !== sent) {
    last = sent;
    await new Promise((done) => setTimeout(done, 300));
  }
  clearInterval(sender);
  assert.ok(sent > 0 && sent < 64_000_000, `${sent} bytes were read ahead`);
  let read = 0;
  stream.on("data", (bytes: Buffer) => (read += bytes.length)).resume();
  await eventually(() => read === sent + "first;".length);
  stream.close();
});

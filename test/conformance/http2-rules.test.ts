import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "node:tls";
import { rawOrigin, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually, standstill } from "../support/eventually.ts";
import {
  block,
  END_HEADERS,
  END_STREAM,
  type Field,
  frame,
  FRAME,
  type FrameClient,
  frameClient,
  GET,
  POST,
  request,
} from "../support/http2-frames.ts";
import { type SecureEdge, startSecureEdge } from "../support/secure-edge.ts";

/** Requirements of RFC 9113 and RFC 7541 for a server, by section, each sent as frames on a separate connection. */
let origin: TestOrigin;
let edge: SecureEdge;
const LONG = "x".repeat(100_000);

before(async () => {
  origin = await rawOrigin((socket) => {
    socket.on("data", (bytes) => {
      for (const [, path] of bytes.toString("latin1").matchAll(/(?:GET|POST|OPTIONS) (\/\S*) /g)) {
        if (path === "/never") continue;
        const body = path === "/long" ? LONG : path === "/wide" ? "" : "ok";
        const wide = path === "/wide" ? `X-Wide: ${LONG.slice(0, 16_000)}\r\n` : "";
        socket.write(`HTTP/1.1 200 OK\r\n${wide}Content-Length: ${body.length}\r\n\r\n${body}`);
      }
    });
    socket.on("end", () => socket.end());
  });
  edge = await startSecureEdge(origin.port, { http2StreamsMax: 10 });
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const ACK = 0x1;
const PADDED = 0x8;
const PRIORITIZED = 0x20;
const PUSH_PROMISE = 5;
const uint32 = (value: number): Buffer => Buffer.of(value >>> 24, value >>> 16, value >>> 8, value);
const setting = (id: number, value: number): Buffer => Buffer.concat([Buffer.of(0, id), uint32(value)]);
const ping = (text: string): Buffer => frame(FRAME.PING, 0, 0, text.padEnd(8));
const at = (path: string, method = "GET"): Field[] =>
  GET.map(([name, value]): Field => [name, name === ":path" ? path : name === ":method" ? method : value]);
const headers = (stream: number, flags: number, payload: Buffer): Buffer => frame(FRAME.HEADERS, flags, stream, payload);
const reset = (stream: number, code = 8): Buffer => frame(FRAME.RST_STREAM, 0, stream, uint32(code));
const window = (stream: number, increment: number): Buffer => frame(FRAME.WINDOW_UPDATE, 0, stream, uint32(increment));
/** A request that nobody answers: its stream stays as the client leaves it. */
const never = (stream: number, endStream = true, fields: readonly Field[] = []): Buffer =>
  request(stream, fields, endStream, at("/never", endStream ? "GET" : "POST"));
/** The same, of which nothing is taken before the answer: a WebSocket's. */
const untaken = (stream: number): Buffer => request(stream, [], false, [[":protocol", "websocket"], ...at("/never", "CONNECT")]);
const GET_BLOCK = block(GET);
const END = END_HEADERS | END_STREAM;
const DATA = (stream: number, flags: number, payload: Buffer | string = ""): Buffer => frame(FRAME.DATA, flags, stream, payload);
const CONTINUATION = (stream: number, flags: number, payload: Buffer | string = ""): Buffer =>
  frame(FRAME.CONTINUATION, flags, stream, payload);

/** The first that the edge says against it, or "fine" where it answers a PING that comes last. */
async function verdict(client: FrameClient, ...frames: Buffer[]): Promise<string> {
  client.send(...frames, ping("last"));
  const last = await client
    .next(
      ({ type, flags, payload }) =>
        type === FRAME.GOAWAY || type === FRAME.RST_STREAM || (type === FRAME.PING && flags === ACK && payload.toString() === "last    "),
    )
    .catch(() => null);
  if (last === null) return "closed";
  if (last.type === FRAME.GOAWAY) return `connection ${last.payload.readUInt32BE(4)}`;
  return last.type === FRAME.RST_STREAM ? `stream ${last.payload.readUInt32BE(0)}` : "fine";
}

async function withClient(work: (client: FrameClient) => Promise<void>, settings: Buffer | string = ""): Promise<void> {
  const client = await frameClient(edge.https, edge.rootPem, settings);
  try {
    await work(client);
  } finally {
    client.socket.destroy();
  }
}

/** Frames, and the expected result at the edge: error codes of RFC 9113 §7. */
type Row = readonly [section: string, what: string, frames: readonly Buffer[], verdict: string];

const FRAMES: readonly Row[] = [
  ["4.1", "a frame of an unknown type", [frame(0x16, 0xff, 7, "whatever")], "fine"],
  ["4.1", "an empty frame of an unknown type", [frame(0xff, 0, 0)], "fine"],
  ["4.1", "flags that mean nothing", [frame(FRAME.PING, 0xfe, 0, Buffer.alloc(8))], "fine"],
  ["4.1", "the reserved bit before a stream", [frame(FRAME.PING, 0, 0x8000_0000, Buffer.alloc(8))], "fine"],
  ["4.2", "data of 16,384 bytes", [never(1, false), DATA(1, 0, Buffer.alloc(16_384))], "fine"],
  ["4.2", "data of one byte more", [never(1, false), DATA(1, 0, Buffer.alloc(16_385))], "connection 6"],
  ["4.2", "a head of one byte more", [headers(1, END, Buffer.alloc(16_385))], "connection 6"],
  ["4.2", "an unknown frame of one byte more", [frame(0x16, 0, 0, Buffer.alloc(16_385))], "connection 6"],
  ["4.2", "settings of more than 16,384 bytes", [frame(FRAME.SETTINGS, 0, 0, Buffer.alloc(16_386))], "connection 6"],
  ["4.3", "a header block in pieces, the last of them empty", [headers(1, END_STREAM, GET_BLOCK), CONTINUATION(1, END_HEADERS)], "fine"],
  ["4.3", "a header block that is malformed", [headers(1, END, Buffer.of(0x80))], "connection 9"],
];

const STATES: readonly Row[] = [
  ["5.1", "idle: data", [DATA(1, END_STREAM, "a")], "connection 1"],
  ["5.1", "idle: a reset", [reset(1)], "connection 1"],
  ["5.1", "idle: a window", [window(1, 1)], "connection 1"],
  ["5.1", "idle: a continuation", [CONTINUATION(1, END_HEADERS, GET_BLOCK)], "connection 1"],
  ["5.1", "idle: a priority", [frame(FRAME.PRIORITY, 0, 1, Buffer.alloc(5))], "fine"],
  ["5.1", "half-closed: data", [never(1), DATA(1, END_STREAM, "a")], "stream 5"],
  ["5.1", "half-closed: a head", [never(1), never(1)], "stream 5"],
  ["5.1", "half-closed: a continuation", [never(1), CONTINUATION(1, END_HEADERS, GET_BLOCK)], "connection 1"],
  ["5.1", "half-closed: a window", [never(1), window(1, 1)], "fine"],
  ["5.1", "half-closed: a priority", [never(1), frame(FRAME.PRIORITY, 0, 1, Buffer.alloc(5))], "fine"],
  ["5.1", "half-closed: a reset", [never(1), reset(1)], "fine"],
  ["5.1", "taken back: data", [never(1, false), reset(1), DATA(1, END_STREAM, "a")], "stream 5"],
  ["5.1", "taken back: a head", [never(1, false), reset(1), never(1)], "connection 5"],
  ["5.1", "taken back: a window", [never(1), reset(1), window(1, 1)], "fine"],
  ["5.1", "taken back: another reset", [never(1), reset(1), reset(1)], "fine"],
  ["5.1", "taken back: a priority", [never(1), reset(1), frame(FRAME.PRIORITY, 0, 1, Buffer.alloc(5))], "fine"],
  ["5.1", "taken back: a continuation", [never(1), reset(1), CONTINUATION(1, END_HEADERS)], "connection 1"],
  ["5.1.1", "a stream of the server's", [never(2)], "connection 1"],
  ["5.1.1", "a stream that was passed over", [never(5), never(3)], "connection 1"],
  ["5.1.1", "data of a stream that was passed over", [never(5), DATA(3, 0, "a")], "stream 5"],
  ["5.1.1", "a head of no stream", [headers(0, END, GET_BLOCK)], "connection 1"],
  ["5.1.2", "as many streams as allowed", Array.from({ length: 10 }, (_, i) => never(2 * i + 1)), "fine"],
  ["5.1.2", "one stream too many", Array.from({ length: 11 }, (_, i) => never(2 * i + 1)), "stream 7"],
  ["5.3", "a stream that depends on itself", [never(1), frame(FRAME.PRIORITY, 0, 1, Buffer.of(0, 0, 0, 1, 0))], "fine"],
  ["5.3", "a head with a priority", [headers(1, END | PRIORITIZED, Buffer.concat([Buffer.alloc(5), block(at("/never"))]))], "fine"],
  ["5.3", "a head with half a priority", [headers(1, END | PRIORITIZED, Buffer.alloc(4))], "connection 6"],
  ["5.5", "an unknown frame amid a header block", [headers(1, END_STREAM, GET_BLOCK), frame(0x16, 0, 0)], "connection 1"],
];

const DEFINITIONS: readonly Row[] = [
  ["6.1", "data of no stream", [DATA(0, 0, "a")], "connection 1"],
  ["6.1", "padding", [never(1, false), DATA(1, PADDED, "\x03abc\0\0\0")], "fine"],
  ["6.1", "padding and nothing else", [never(1, false), DATA(1, PADDED, "\x03\0\0\0")], "fine"],
  ["6.1", "padding as long as the frame", [never(1, false), DATA(1, PADDED, "\x04\0\0\0")], "connection 1"],
  ["6.1", "padding without its length", [never(1, false), DATA(1, PADDED)], "connection 6"],
  ["6.2", "another frame amid a header block", [headers(1, 0, GET_BLOCK), ping("amid")], "connection 1"],
  ["6.2", "another head amid a header block", [headers(1, 0, GET_BLOCK), never(3)], "connection 1"],
  ["6.2", "padding", [headers(1, END | PADDED, Buffer.concat([Buffer.of(2), block(at("/never")), Buffer.alloc(2)]))], "fine"],
  ["6.2", "padding longer than the frame", [headers(1, END | PADDED, Buffer.concat([Buffer.of(255), GET_BLOCK]))], "connection 1"],
  ["6.2", "padding without its length", [headers(1, END | PADDED, Buffer.alloc(0))], "connection 6"],
  ["6.2", "padding where the priority should be", [headers(1, END | PADDED | PRIORITIZED, Buffer.of(3, 0, 0, 0, 0, 0))], "connection 1"],
  ["6.3", "a priority of no stream", [frame(FRAME.PRIORITY, 0, 0, Buffer.alloc(5))], "connection 1"],
  ["6.3", "a priority of 4 bytes", [frame(FRAME.PRIORITY, 0, 1, Buffer.alloc(4))], "connection 6"],
  ["6.4", "a reset of no stream", [reset(0)], "connection 1"],
  ["6.4", "a reset of 3 bytes", [never(1), frame(FRAME.RST_STREAM, 0, 1, Buffer.alloc(3))], "connection 6"],
  ["6.4", "a reset of 5 bytes", [never(1), frame(FRAME.RST_STREAM, 0, 1, Buffer.alloc(5))], "connection 6"],
  ["6.4", "a reset with an unknown code", [never(1), reset(1, 0xabcd)], "fine"],
  ["6.5", "settings of a stream", [frame(FRAME.SETTINGS, 0, 1)], "connection 1"],
  ["6.5", "an acknowledgement with settings", [frame(FRAME.SETTINGS, ACK, 0, setting(1, 1))], "connection 6"],
  ["6.5", "settings of 5 bytes", [frame(FRAME.SETTINGS, 0, 0, Buffer.alloc(5))], "connection 6"],
  ["6.5.2", "push neither on nor off", [frame(FRAME.SETTINGS, 0, 0, setting(2, 2))], "connection 1"],
  ["6.5.2", "a window of 2^31", [frame(FRAME.SETTINGS, 0, 0, setting(4, 0x8000_0000))], "connection 3"],
  ["6.5.2", "the largest window", [frame(FRAME.SETTINGS, 0, 0, setting(4, 0x7fff_ffff))], "fine"],
  ["6.5.2", "frames of fewer bytes than everybody takes", [frame(FRAME.SETTINGS, 0, 0, setting(5, 16_383))], "connection 1"],
  ["6.5.2", "frames of more bytes than can be told", [frame(FRAME.SETTINGS, 0, 0, setting(5, 16_777_216))], "connection 1"],
  ["6.5.2", "the longest frames", [frame(FRAME.SETTINGS, 0, 0, setting(5, 16_777_215))], "fine"],
  ["6.5.2", "an unknown setting", [frame(FRAME.SETTINGS, 0, 0, setting(0xff, 1))], "fine"],
  ["RFC 8441 3", "the setting neither on nor off", [frame(FRAME.SETTINGS, 0, 0, setting(8, 2))], "connection 1"],
  ["RFC 9218 2.1", "the setting neither on nor off", [frame(FRAME.SETTINGS, 0, 0, setting(9, 2))], "connection 1"],
  ["RFC 9218 7.1", "a priority of today's kind", [frame(0x10, 0, 0, Buffer.from("\0\0\0\x01u=1"))], "fine"],
  [
    "6.5.3",
    "settings that were never sent are acknowledged",
    [frame(FRAME.SETTINGS, ACK, 0), frame(FRAME.SETTINGS, ACK, 0), frame(FRAME.SETTINGS, ACK, 0)],
    "connection 1",
  ],
  ["6.6", "a promise", [frame(PUSH_PROMISE, END_HEADERS, 1, Buffer.concat([uint32(2), GET_BLOCK]))], "connection 1"],
  ["6.6", "a promise of no stream", [frame(PUSH_PROMISE, END_HEADERS, 0, uint32(2))], "connection 1"],
  ["6.7", "a ping of a stream", [frame(FRAME.PING, 0, 1, Buffer.alloc(8))], "connection 1"],
  ["6.7", "a ping of 7 bytes", [frame(FRAME.PING, 0, 0, Buffer.alloc(7))], "connection 6"],
  ["6.7", "a ping of 9 bytes", [frame(FRAME.PING, 0, 0, Buffer.alloc(9))], "connection 6"],
  ["6.7", "an answer to no ping", [frame(FRAME.PING, ACK, 0, Buffer.alloc(8))], "fine"],
  ["6.8", "a goodbye of a stream", [frame(FRAME.GOAWAY, 0, 1, Buffer.alloc(8))], "connection 1"],
  ["6.8", "a goodbye of 7 bytes", [frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(7))], "connection 6"],
  [
    "6.8",
    "a goodbye with a reason",
    [frame(FRAME.GOAWAY, 0, 0, Buffer.concat([Buffer.alloc(7), Buffer.from("\x01reason")]))],
    "connection 0",
  ],
  ["6.8", "a goodbye", [frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(8))], "connection 0"],
  ["6.9", "a window that does not grow", [window(0, 0)], "connection 1"],
  ["6.9", "a stream's window that does not grow", [never(1), window(1, 0)], "stream 1"],
  ["6.9", "a window of 3 bytes", [frame(FRAME.WINDOW_UPDATE, 0, 0, Buffer.alloc(3))], "connection 6"],
  ["6.9", "the reserved bit before an increment", [window(0, 0x8000_0001)], "fine"],
  ["6.9.1", "a window of more than 2^31-1", [window(0, 0x7fff_ffff)], "connection 3"],
  ["6.9.1", "the largest window", [window(0, 0x7fff_ffff - 65_535)], "fine"],
  ["6.9.1", "a stream's window of more than 2^31-1", [never(1), window(1, 0x7fff_ffff)], "stream 3"],
  [
    "6.9.2",
    "settings by which a stream's window gets too large",
    [never(1), window(1, 0x7fff_ffff - 65_535), frame(FRAME.SETTINGS, 0, 0, setting(4, 65_536))],
    "connection 3",
  ],
  [
    "6.9",
    "more data than a stream has room for",
    [untaken(1), ...Array.from({ length: 9 }, () => DATA(1, 0, Buffer.alloc(16_384)))],
    "stream 3",
  ],
  ["6.10", "a continuation without a head", [CONTINUATION(1, END_HEADERS, GET_BLOCK)], "connection 1"],
  ["6.10", "a continuation behind a whole head", [never(1), CONTINUATION(1, END_HEADERS)], "connection 1"],
  ["6.10", "a continuation of another stream", [headers(1, 0, GET_BLOCK), CONTINUATION(3, END_HEADERS)], "connection 1"],
  ["6.10", "a continuation of no stream", [headers(1, 0, GET_BLOCK), CONTINUATION(0, END_HEADERS)], "connection 1"],
  ["6.10", "data in the place of a continuation", [headers(1, 0, GET_BLOCK), DATA(1, 0, "a")], "connection 1"],
  [
    "10.5.1",
    "32 continuations",
    [headers(1, END_STREAM, block(at("/never"))), ...Array.from({ length: 32 }, (_, i) => CONTINUATION(1, i === 31 ? END_HEADERS : 0))],
    "fine",
  ],
  ["10.5.1", "more of them", [headers(1, 0, GET_BLOCK), ...Array.from({ length: 33 }, () => CONTINUATION(1, 0))], "connection 11"],
  [
    "10.5.1",
    "continuations of many bytes",
    [headers(1, 0, GET_BLOCK), ...Array.from({ length: 4 }, () => CONTINUATION(1, 0, Buffer.alloc(16_384)))],
    "connection 11",
  ],
];

const messageOf = (fields: readonly Field[]): readonly Buffer[] => [headers(1, END, block(fields))];
const without = (name: string): Field[] => at("/never").filter(([field]) => field !== name);
const MESSAGES: readonly Row[] = [
  ["8.1", "a second head that does not end the stream", [never(1, false), headers(1, END_HEADERS, block([["x-a", "1"]]))], "stream 1"],
  ["8.1", "trailers", [never(1, false), DATA(1, 0, "a"), headers(1, END, block([["x-a", "1"]]))], "fine"],
  ["8.1", "trailers with a pseudo-header field", [never(1, false), headers(1, END, block([[":method", "GET"]]))], "stream 1"],
  ["8.1", "trailers with upper case", [never(1, false), headers(1, END, block([["X-A", "1"]]))], "stream 1"],
  ["8.1.1", "less data than announced", [never(1, false, [["content-length", "2"]]), DATA(1, END_STREAM, "a")], "stream 1"],
  [
    "8.1.1",
    "more data than announced",
    [never(1, false, [["content-length", "2"]]), DATA(1, 0, "ab"), DATA(1, END_STREAM, "c")],
    "stream 1",
  ],
  ["8.1.1", "as much data as announced", [never(1, false, [["content-length", "2"]]), DATA(1, 0, "a"), DATA(1, END_STREAM, "b")], "fine"],
  ["8.2", "upper case", messageOf([...at("/never"), ["X-A", "1"]]), "stream 1"],
  ["8.2.1", "a line feed in a value", messageOf([...at("/never"), ["x-a", "1\n2"]]), "stream 1"],
  ["8.2.1", "a zero byte in a value", messageOf([...at("/never"), ["x-a", "1\0"]]), "stream 1"],
  ["8.2.1", "a space before a value", messageOf([...at("/never"), ["x-a", " 1"]]), "stream 1"],
  ["8.2.1", "a space after a value", messageOf([...at("/never"), ["x-a", "1 "]]), "stream 1"],
  ["8.2.1", "a space in a name", messageOf([...at("/never"), ["x a", "1"]]), "stream 1"],
  ["8.2.1", "a byte above 127 in a name", messageOf([...at("/never"), ["x\xff", "1"]]), "stream 1"],
  ["8.2.1", "a byte above 127 in a value", messageOf([...at("/never"), ["x-a", "\xff"]]), "fine"],
  ["8.2.2", "connection", messageOf([...at("/never"), ["connection", "close"]]), "stream 1"],
  ["8.2.2", "proxy-connection", messageOf([...at("/never"), ["proxy-connection", "keep-alive"]]), "stream 1"],
  ["8.2.2", "keep-alive", messageOf([...at("/never"), ["keep-alive", "timeout=5"]]), "stream 1"],
  ["8.2.2", "transfer-encoding", messageOf([...at("/never"), ["transfer-encoding", "chunked"]]), "stream 1"],
  ["8.2.2", "upgrade", messageOf([...at("/never"), ["upgrade", "websocket"]]), "stream 1"],
  ["8.2.2", "te: gzip", messageOf([...at("/never"), ["te", "gzip"]]), "stream 1"],
  ["8.2.2", "te: trailers, gzip", messageOf([...at("/never"), ["te", "trailers, gzip"]]), "stream 1"],
  ["8.2.2", "te: trailers", messageOf([...at("/never"), ["te", "trailers"]]), "fine"],
  ["8.3", "a pseudo-header field that nobody knows", messageOf([...at("/never"), [":test", "1"]]), "stream 1"],
  ["8.3", "a pseudo-header field of responses", messageOf([...at("/never"), [":status", "200"]]), "stream 1"],
  ["8.3", "a pseudo-header field behind another", messageOf([...without(":path"), ["x-a", "1"], [":path", "/never"]]), "stream 1"],
  ["8.3.1", "no :method", messageOf(without(":method")), "stream 1"],
  ["8.3.1", "no :scheme", messageOf(without(":scheme")), "stream 1"],
  ["8.3.1", "no :path", messageOf(without(":path")), "stream 1"],
  ["8.3.1", "an empty :path", messageOf([...without(":path"), [":path", ""]]), "stream 1"],
  ["8.3.1", "an empty :authority", messageOf([...without(":authority"), [":authority", ""]]), "stream 1"],
  ["8.3.1", ":method twice", messageOf([...at("/never"), [":method", "GET"]]), "stream 1"],
  ["8.3.1", ":scheme twice", messageOf([...at("/never"), [":scheme", "https"]]), "stream 1"],
  ["8.3.1", ":path twice", messageOf([...at("/never"), [":path", "/never"]]), "stream 1"],
  ["8.3.1", ":authority twice", messageOf([...at("/never"), [":authority", "www.example.com"]]), "stream 1"],
  [
    "RFC 8441 4",
    ":protocol twice",
    messageOf([[":protocol", "websocket"], [":protocol", "websocket"], ...at("/never", "CONNECT")]),
    "stream 1",
  ],
];

const COMPRESSION: readonly Row[] = [
  ["RFC 7541 2.3.3", "an index beyond the tables", [headers(1, END, Buffer.of(0xbe))], "connection 9"],
  ["RFC 7541 2.3.3", "a name's index beyond the tables", [headers(1, END, Buffer.of(0x7e, 1, 0x61))], "connection 9"],
  [
    "RFC 7541 4.2",
    "a new size of the table behind a field",
    [headers(1, END, Buffer.concat([GET_BLOCK, Buffer.of(0x20)]))],
    "connection 9",
  ],
  [
    "RFC 7541 4.2",
    "two new sizes before the fields",
    [headers(1, END, Buffer.concat([Buffer.of(0x20, 0x3f, 0xe1, 0x1f), block(at("/never"))]))],
    "fine",
  ],
  ["RFC 7541 5.1", "a number that never ends", [headers(1, END, Buffer.alloc(20, 0xff))], "connection 9"],
  ["RFC 7541 5.2", "padding of more than 7 bits", [headers(1, END, Buffer.of(0, 0x82, 0x1f, 0xff, 1, 0x61))], "connection 9"],
  ["RFC 7541 5.2", "padding that is none", [headers(1, END, Buffer.of(0, 0x81, 0x18, 1, 0x61))], "connection 9"],
  [
    "RFC 7541 5.2",
    "the end of the string as a character",
    [headers(1, END, Buffer.of(0, 0x84, 0xff, 0xff, 0xff, 0xff, 1, 0x61))],
    "connection 9",
  ],
  ["RFC 7541 5.2", "a text longer than its block", [headers(1, END, Buffer.of(0, 0x7f, 0x61))], "connection 9"],
  ["RFC 7541 6.1", "index 0", [headers(1, END, Buffer.of(0x80))], "connection 9"],
  ["RFC 7541 6.3", "a table larger than allowed", [headers(1, END, Buffer.of(0x3f, 0xe2, 0x1f))], "connection 9"],
  ["RFC 7541 4.2", "a malformed block behind a body", [never(1, false), headers(1, END, Buffer.of(0x80))], "connection 9"],
];

for (const [section, what, frames, expected] of [...FRAMES, ...STATES, ...DEFINITIONS, ...MESSAGES, ...COMPRESSION])
  test(`${section}: ${what}: ${expected}`, () =>
    withClient(async (client) => {
      const said = await verdict(client, ...frames);
      assert.equal(said, expected);
      if (said.startsWith("connection")) await client.closed();
    }));

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const BEGINNINGS: readonly (readonly [section: string, what: string, bytes: Buffer])[] = [
  ["3.4", "a preface that is none", Buffer.from("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n")],
  ["3.4", "a preface with one wrong byte", Buffer.concat([PREFACE.subarray(0, 23), Buffer.of(0x0b)])],
  ["3.4", "another frame before the settings", Buffer.concat([PREFACE, ping("first")])],
  ["3.4", "an acknowledgement before the settings", Buffer.concat([PREFACE, frame(FRAME.SETTINGS, ACK, 0)])],
];
for (const [section, what, bytes] of BEGINNINGS)
  test(`${section}: ${what}: connection 1`, async () => {
    const socket = connect({ port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca: edge.rootPem, ALPNProtocols: ["h2"] });
    const pieces: Buffer[] = [];
    socket.on("error", () => undefined).on("data", (piece: Buffer) => pieces.push(piece));
    socket.write(bytes);
    await eventually(() => socket.destroyed || socket.readableEnded);
    const goodbye = frame(FRAME.GOAWAY, 0, 0, Buffer.concat([uint32(0), uint32(1)]));
    assert.ok(Buffer.concat(pieces).subarray(-goodbye.length).equals(goodbye));
    socket.destroy();
  });

test("3.4: the edge accepts a preface and frames that arrive byte by byte", async () => {
  const socket = connect({ port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca: edge.rootPem, ALPNProtocols: ["h2"] });
  let received = Buffer.alloc(0);
  socket.on("data", (piece: Buffer) => (received = Buffer.concat([received, piece])));
  const padded = headers(
    1,
    END_HEADERS | PADDED | PRIORITIZED,
    Buffer.concat([Buffer.of(3), Buffer.alloc(5), block(POST), Buffer.alloc(3)]),
  );
  const all = [PREFACE, frame(FRAME.SETTINGS, 0, 0, setting(4, 70_000)), padded, DATA(1, PADDED, "\x02abc\0\0"), DATA(1, END_STREAM)];
  for (const byte of Buffer.concat(all)) {
    socket.write(Buffer.of(byte));
    await new Promise((done) => setImmediate(done));
  }
  await eventually(() => received.includes(DATA(1, END_STREAM, "ok")));
  socket.destroy();
});

test("5.1: a closed stream accepts no more frames", () =>
  withClient(async (client) => {
    const answered = async (stream: number): Promise<void> => {
      client.send(request(stream));
      await client.next(({ type, flags, stream: id }) => type === FRAME.DATA && id === stream && (flags & END_STREAM) !== 0);
    };
    await answered(1);
    assert.equal(await verdict(client, window(1, 1), reset(1), frame(FRAME.PRIORITY, 0, 1, Buffer.alloc(5))), "fine");
    assert.equal(await verdict(client, DATA(1, 0, "a")), "fine", "the answer to the first PING is still there");
    await client.next(({ type, stream, payload }) => type === FRAME.RST_STREAM && stream === 1 && payload.readUInt32BE(0) === 5);
    await answered(3);
    client.send(never(1));
    const goodbye = await client.next(({ type }) => type === FRAME.GOAWAY);
    assert.deepEqual([goodbye.payload.readUInt32BE(0), goodbye.payload.readUInt32BE(4)], [3, 5]);
  }));

test("5.4.2: frames that cross our reset are ignored, except for their changes to the HPACK table", () =>
  withClient(async (client) => {
    client.send(request(1, [["X-A", "1"]], false, POST));
    await client.next(({ type, stream }) => type === FRAME.RST_STREAM && stream === 1);
    const indexed = Buffer.concat([Buffer.of(0x40, 3), Buffer.from("x-b"), Buffer.of(1), Buffer.from("2")]);
    client.send(DATA(1, 0, "crossed"), headers(1, END, indexed), headers(3, END, Buffer.concat([GET_BLOCK, Buffer.of(0xbe)])));
    await client.next(({ type, flags, stream }) => type === FRAME.DATA && stream === 3 && (flags & END_STREAM) !== 0);
    assert.equal(client.frames.filter(({ type }) => type === FRAME.RST_STREAM).length, 1);
  }));

test("6.5.3 and 6.7: the edge acknowledges settings and pings in order, with each ping's payload", () =>
  withClient(async (client) => {
    client.send(ping("one"), frame(FRAME.SETTINGS, 0, 0, setting(4, 5)), ping("two"));
    await client.next(({ type, payload }) => type === FRAME.PING && payload.toString() === "two     ");
    const said = client.frames.filter(({ flags, type }) => flags === ACK && (type === FRAME.PING || type === FRAME.SETTINGS));
    assert.deepEqual(
      said.map(({ type, payload }) => `${type} ${payload.toString()}`),
      [`${FRAME.SETTINGS} `, `${FRAME.PING} one     `, `${FRAME.SETTINGS} `, `${FRAME.PING} two     `],
    );
  }));

/** The payload of a stream's data so far. */
const bodyOf = (client: FrameClient, stream: number): string =>
  client.frames.flatMap((got) => (got.type === FRAME.DATA && got.stream === stream ? [got.payload.toString()] : [])).join("");

test("6.9: the edge sends no more data than the windows of stream and connection allow, and sends all of it in the end", () =>
  withClient(
    async (client) => {
      client.send(request(1, [], true, at("/long")));
      await client.next(({ type }) => type === FRAME.HEADERS);
      await verdict(client);
      assert.equal(bodyOf(client, 1), "");
      client.send(window(1, 1));
      await eventually(() => bodyOf(client, 1).length === 1);
      // From nothing below nothing, and up again (RFC 9113 §6.9.2).
      client.send(frame(FRAME.SETTINGS, 0, 0, setting(4, 100)));
      await eventually(() => bodyOf(client, 1).length === 101);
      client.send(frame(FRAME.SETTINGS, 0, 0, setting(4, 10)), window(1, 100));
      await eventually(() => bodyOf(client, 1).length === 111);
      client.send(window(1, 99_000));
      await eventually(() => bodyOf(client, 1).length === 65_535);
      client.send(window(0, 99_000));
      await eventually(() => bodyOf(client, 1).length === 99_111);
      client.send(window(1, 99_000));
      await client.next(({ type, flags }) => type === FRAME.DATA && (flags & END_STREAM) !== 0);
      assert.ok(bodyOf(client, 1) === LONG);
      assert.ok(client.frames.every(({ payload }) => payload.length <= 16_384));
    },
    setting(4, 0),
  ));

test("6.9: streams with an open window continue while others wait", () =>
  withClient(
    async (client) => {
      client.send(window(0, 1_000_000), request(1, [], true, at("/long")), request(3, [], true, at("/long")), window(3, 100_000));
      await client.next(({ type, flags, stream }) => type === FRAME.DATA && stream === 3 && (flags & END_STREAM) !== 0);
      assert.deepEqual([bodyOf(client, 3).length, bodyOf(client, 1).length], [100_000, 10]);
      client.send(reset(1));
      assert.equal(await verdict(client), "fine");
    },
    setting(4, 10),
  ));

test("10.5: the edge ignores useless frames up to a limit, then closes the connection", () =>
  withClient(async (client) => {
    client.send(...Array.from({ length: 20_000 }, () => frame(FRAME.PRIORITY, 0, 1, Buffer.alloc(5))));
    const goodbye = await client.next(({ type }) => type === FRAME.GOAWAY);
    assert.equal(goodbye.payload.readUInt32BE(4), 11);
    await client.closed();
  }));

test("6.5.3: a client that never acknowledges the settings gets SETTINGS_TIMEOUT", async () => {
  const impatient = await startSecureEdge(origin.port, { headTimeoutMs: 500 });
  const { https: port, rootPem: ca } = impatient;
  const socket = connect({ port, host: "127.0.0.1", servername: "www.example.com", ca, ALPNProtocols: ["h2"] });
  let received = Buffer.alloc(0);
  socket.on("error", () => undefined).on("data", (piece: Buffer) => (received = Buffer.concat([received, piece])));
  socket.write(Buffer.concat([PREFACE, frame(FRAME.SETTINGS, 0, 0)]));
  await eventually(() => received.subarray(-8).equals(Buffer.concat([uint32(0), uint32(4)])));
  await eventually(() => socket.destroyed || socket.readableEnded);
  socket.destroy();
  await impatient.close();
});

/** Asks in turns for answers without bodies, whose windows would hold them back: what gets behind is the connection. */
function askWithoutReading(site: SecureEdge, client: FrameClient): { asked(): number; stop(): void } {
  let asked = 0;
  client.socket.pause();
  const interval = setInterval(() => {
    if (site.requests.length < asked) return;
    client.send(...Array.from({ length: 50 }, (_, i) => request(2 * (asked + i) + 1, [], true, at("/wide"))));
    asked += 50;
  }, 1);
  return { asked: () => asked, stop: () => clearInterval(interval) };
}

test("10.5: the edge stops reading from a client that does not read, until it reads", async () => {
  const site = await startSecureEdge(origin.port);
  const client = await frameClient(site.https, site.rootPem);
  const { asked, stop } = askWithoutReading(site, client);
  await standstill(asked);
  stop();
  assert.equal(client.frames.filter(({ type }) => type === FRAME.HEADERS).length, 0);
  assert.ok(site.requests.length < asked(), "the last of them were not read");
  client.socket.resume();
  await eventually(() => client.frames.filter(({ type }) => type === FRAME.HEADERS).length === asked());
  client.socket.destroy();
  await site.close();
});

test("10.5: a client that never reads loses its connection", async () => {
  const site = await startSecureEdge(origin.port, { progressWindowMs: 500 });
  const client = await frameClient(site.https, site.rootPem);
  const connections = (): number => site.metrics.samples().find(({ name }) => name === "selvedge_edge_connections")?.value ?? 0;
  await eventually(() => connections() === 1);
  const { stop } = askWithoutReading(site, client);
  await eventually(() => connections() === 0);
  stop();
  assert.deepEqual(site.errors, []);
  client.socket.destroy();
  await site.close();
});

test("RFC 7541 4.2: after a client sets its table size to 0, the edge announces that it uses no table", () =>
  withClient(
    async (client) => {
      for (let stream = 1; stream < 9; stream += 2) {
        client.send(request(stream));
        const { payload } = await client.next(({ type, stream: id }) => type === FRAME.HEADERS && id === stream);
        assert.equal(payload[0] === 0x20, stream === 1);
        assert.equal(payload.subarray(stream === 1 ? 1 : 0)[0], 0x88);
        assert.ok(payload.length > 10, "no field stands for one that was sent before");
      }
    },
    setting(1, 0),
  ));

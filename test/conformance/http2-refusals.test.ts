import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { type CountingOrigin, startCountingOrigin } from "../support/counting-origin.ts";
import {
  END_HEADERS,
  END_STREAM,
  type Field,
  frame,
  FRAME,
  type Frame,
  type FrameClient,
  frameClient,
  GET,
  POST,
  request,
} from "../support/http2-frames.ts";
import { fetchOver, type SecureEdge, startSecureEdge } from "../support/secure-edge.ts";

let origin: CountingOrigin;
let edge: SecureEdge;
let client: FrameClient;

before(async () => {
  origin = await startCountingOrigin();
  edge = await startSecureEdge(origin.port);
  client = await frameClient(edge.https, edge.rootPem);
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  client.socket.destroy();
  await edge.close();
  origin.close();
});
afterEach(() => {
  assert.deepEqual(origin.faults, []);
  origin.reset();
});

let nextStream = 1;
/** The status of the answer, or the code of the reset; a connection that the edge ended is opened again. */
async function outcome(send: (stream: number) => Buffer[]): Promise<string> {
  const stream = nextStream;
  nextStream += 2;
  client.send(...send(stream));
  const isEnd = ({ type, flags, stream: id }: Frame): boolean =>
    type === FRAME.GOAWAY || (id === stream && (type === FRAME.RST_STREAM || (flags & END_STREAM) !== 0));
  const end = await client.next(isEnd);
  if (end.type === FRAME.GOAWAY) {
    client.socket.destroy();
    client = await frameClient(edge.https, edge.rootPem);
    nextStream = 1;
    return `connection ${end.payload.readUInt32BE(4)}`;
  }
  return end.type === FRAME.RST_STREAM ? `reset ${end.payload.readUInt32BE(0)}` : "answered";
}

const withFields =
  (...fields: readonly Field[]) =>
  (stream: number) => [request(stream, fields)];
const pseudo =
  (change: Readonly<Record<string, string | null>>, ...more: readonly Field[]) =>
  (stream: number) => {
    const changed = GET.map(([name, value]): readonly [string, string | null] => [name, name in change ? change[name]! : value]);
    return [
      request(
        stream,
        more,
        true,
        changed.filter((field): field is Field => field[1] !== null),
      ),
    ];
  };
/** A reset with PROTOCOL_ERROR, or a page: what is malformed is not passed on (RFC 9113 §8.1.1). */
const REFUSED: readonly (readonly [what: string, send: (stream: number) => Buffer[]])[] = [
  ["upper case in a name", withFields(["X-A", "1"])],
  ["Transfer-Encoding", withFields(["transfer-encoding", "chunked"])],
  ["Connection", withFields(["connection", "close"])],
  ["Keep-Alive", withFields(["keep-alive", "timeout=1"])],
  ["Proxy-Connection", withFields(["proxy-connection", "keep-alive"])],
  ["Upgrade", withFields(["upgrade", "h2c"])],
  ["TE other than trailers", withFields(["te", "gzip"])],
  ["another Host", withFields(["host", "evil.example.org"])],
  ["two Hosts", withFields(["host", "www.example.com"], ["host", "www.example.com"])],
  ["a length without a body", withFields(["content-length", "5"])],
  [
    "two lengths",
    (stream) => [
      request(
        stream,
        [
          ["content-length", "1"],
          ["content-length", "1"],
        ],
        false,
        POST,
      ),
      frame(FRAME.DATA, END_STREAM, stream, "a"),
    ],
  ],
  [
    "a length that is no number",
    (stream) => [request(stream, [["content-length", "+1"]], false, POST), frame(FRAME.DATA, END_STREAM, stream, "a")],
  ],
  [
    "a body longer than its length",
    (stream) => [
      request(stream, [["content-length", "1"]], false, POST),
      frame(FRAME.DATA, END_STREAM, stream, "aGET /evil HTTP/1.1\r\n\r\n"),
    ],
  ],
  [
    "a body shorter than its length",
    (stream) => [request(stream, [["content-length", "9"]], false, POST), frame(FRAME.DATA, END_STREAM, stream, "a")],
  ],
  ["a path with a space", pseudo({ ":path": "/a HTTP/1.1\r\nx: y" })],
  ["a path with a blank", pseudo({ ":path": "/a b" })],
  ["a path with a number sign", pseudo({ ":path": "/a#b" })],
  ["an empty path", pseudo({ ":path": "" })],
  ["an absolute path", pseudo({ ":path": "http://evil.example.org/" })],
  ["an asterisk for GET", pseudo({ ":path": "*" })],
  ["no path", pseudo({ ":path": null })],
  ["no method", pseudo({ ":method": null })],
  ["a method with a space", pseudo({ ":method": "GET /evil" })],
  ["no scheme", pseudo({ ":scheme": null })],
  ["another scheme", pseudo({ ":scheme": "http" })],
  ["no authority", pseudo({ ":authority": null })],
  ["an empty authority", pseudo({ ":authority": "" })],
  ["user information", pseudo({ ":authority": "a@www.example.com" })],
  ["an authority with a path", pseudo({ ":authority": "www.example.com/evil" })],
  [
    "CONNECT",
    (stream) => [
      request(stream, [], true, [
        [":method", "CONNECT"],
        [":authority", "www.example.com:443"],
      ]),
    ],
  ],
  ["extended CONNECT for another protocol", pseudo({ ":method": "CONNECT" }, [":protocol", "connect-udp"])],
  ["a protocol without CONNECT", pseudo({}, [":protocol", "websocket"])],
  ["TRACE", pseudo({ ":method": "TRACE" })],
  ["a pseudo-header field after others", withFields(["x-a", "1"], [":path", "/evil"])],
  ["a pseudo-header field twice", withFields([":path", "/evil"])],
  ["an unknown pseudo-header field", withFields([":evil", "1"])],
  ["a pseudo-header field of responses", withFields([":status", "200"])],
  ["CR LF in a value", withFields(["x-a", "b\r\nx-evil: 1"])],
  ["LF in a value", withFields(["x-a", "b\nx-evil: 1"])],
  ["NUL in a value", withFields(["x-a", "b\0"])],
  ["CR LF and a request in a value", withFields(["x-a", "b\r\n\r\nGET /evil HTTP/1.1\r\nHost: www.example.com\r\n\r\n"])],
  ["white space before a value", withFields(["x-a", " b"])],
  ["white space after a value", withFields(["x-a", "b\t"])],
  ["a colon in a name", withFields(["x-a: b\r\nx", "1"])],
  ["a space in a name", withFields(["x a", "1"])],
  ["an empty name", withFields(["", "1"])],
];

for (const [what, send] of REFUSED)
  test(`the edge refuses the request, and the origin gets no complete request: ${what}`, async () => {
    const result = await outcome(send);
    assert.match(result, /^(?:answered|reset 1|connection [12])$/);
    assert.deepEqual(
      origin.requests.filter(({ body }) => body !== null),
      [],
    );
    assert.doesNotMatch(origin.received(), /evil/);
    assert.equal(await outcome(withFields()), "answered", "others are served as before");
    assert.equal(origin.requests.length, origin.requests.filter(({ body }) => body === null).length + 1);
  });

const TRAILERS: readonly (readonly [name: string, value: string])[] = [
  ["content-length", "1"],
  ["transfer-encoding", "chunked"],
  ["host", "evil.example.org"],
  [":path", "/evil"],
  ["X-Evil", "1"],
];
for (const [name, value] of TRAILERS)
  test(`the edge refuses this field in a trailer: ${name}`, async () => {
    const trailers = (stream: number): Buffer => request(stream, [[name, value]], true, []);
    const result = await outcome((stream) => [request(stream, [], false, POST), frame(FRAME.DATA, 0, stream, "ab"), trailers(stream)]);
    assert.match(result, /^(?:answered|reset 1|connection [12])$/);
    assert.equal(origin.requests.filter(({ body }) => body !== null).length, 0);
    assert.doesNotMatch(origin.received(), /evil/i);
  });

test("the origin gets unusual but valid input with its meaning unchanged", async () => {
  assert.equal(
    await outcome((stream) => [
      request(stream, [
        ["x-a", "caf\xe9"],
        ["x-b", ""],
        ["x-b", "2"],
        ["cookie", "a=1"],
        ["cookie", "b=2"],
      ]),
    ]),
    "answered",
  );
  assert.equal(await outcome(pseudo({ ":method": "OPTIONS", ":path": "*" })), "answered");
  assert.equal(await outcome(pseudo({ ":authority": null }, ["host", "www.example.com"])), "answered");
  assert.equal(await outcome(pseudo({ ":authority": "WWW.EXAMPLE.COM:443" })), "answered");
  const pieces = (stream: number): Buffer[] => {
    const whole = request(stream, [["x-long", "y".repeat(4000)]]).subarray(9);
    return [
      frame(FRAME.HEADERS, END_STREAM, stream, whole.subarray(0, 100)),
      frame(FRAME.CONTINUATION, END_HEADERS, stream, whole.subarray(100)),
    ];
  };
  assert.equal(await outcome(pieces), "answered");
  const [first, options, byHost, upper, long] = origin.requests;
  assert.deepEqual([first!.headers["x-a"], first!.headers["x-b"], first!.headers["cookie"]], [["caf\xe9"], ["", "2"], ["a=1; b=2"]]);
  assert.deepEqual([options!.method, options!.target], ["OPTIONS", "*"]);
  assert.deepEqual([byHost!.headers["host"], upper!.headers["host"]], [["www.example.com"], ["www.example.com:443"]]);
  assert.equal(long!.headers["x-long"]?.[0]?.length, 4000);
});

test("a header section that is too large gets 431, and the connection stays open if it can", async () => {
  const session = edge.session();
  const large = await fetchOver(session, { "x-a": "y".repeat(40_000) });
  assert.equal(large.status, 431);
  const many = await fetchOver(session, Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`x-${i}`, "y"])));
  assert.equal(many.status, 431);
  const cookies = await fetchOver(session, { cookie: Array.from({ length: 300 }, (_, i) => `c${i}=1`) });
  assert.equal(cookies.status, 200);
  assert.equal(origin.requests.length, 1);
  const huge = await fetchOver(session, { "x-a": "y".repeat(70_000) });
  assert.notEqual(huge.status, 200);
  assert.equal((await fetchOver(edge.session(), {})).status, 200);
});

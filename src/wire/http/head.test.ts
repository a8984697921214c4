import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { latin1 } from "./bytes.ts";
import { findHeadEnd, HEAD_BYTES_MAX, isHopelessStart, isRequestLine, parseRequestHead, parseResponseHead } from "./head.ts";
import { Head } from "./parsed-head.ts";
import { forwardedFields, statusLine } from "./write.ts";

function request(text: string) {
  const buffer = Buffer.from(text, "latin1");
  const head = new Head();
  const end = findHeadEnd(buffer, 0, buffer.length, 0);
  const fault =
    end < 0 ? (isHopelessStart(buffer, 0, buffer.length, 0, isRequestLine) ? 400 : "unfinished") : parseRequestHead(buffer, 0, end, head);
  return { fault, head, buffer };
}

function response(text: string) {
  const buffer = Buffer.from(text, "latin1");
  const head = new Head();
  return { fault: parseResponseHead(buffer, 0, findHeadEnd(buffer, 0, buffer.length, 0), head), head, buffer };
}

const GET = "GET / HTTP/1.1\r\nHost: a.example\r\n";

/** Heads that must be refused, whatever follows: some other server parses each of them differently. */
const REFUSED: readonly (readonly [why: string, head: string, status: number])[] = [
  ["Content-Length before Transfer-Encoding", `${GET}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
  ["Transfer-Encoding before Content-Length", `${GET}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n`, 400],
  ["two Content-Lengths that differ", `${GET}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`, 400],
  ["two Content-Lengths alike", `${GET}Content-Length: 5\r\ncontent-length: 5\r\n\r\n`, 400],
  ["a Content-Length list", `${GET}Content-Length: 5, 5\r\n\r\n`, 400],
  ["a signed Content-Length", `${GET}Content-Length: +5\r\n\r\n`, 400],
  ["a negative Content-Length", `${GET}Content-Length: -1\r\n\r\n`, 400],
  ["a hexadecimal Content-Length", `${GET}Content-Length: 0x5\r\n\r\n`, 400],
  ["an empty Content-Length", `${GET}Content-Length:\r\n\r\n`, 400],
  ["an overflowing Content-Length", `${GET}Content-Length: 18446744073709551621\r\n\r\n`, 400],
  ["a Content-Length with a space inside", `${GET}Content-Length: 1 0\r\n\r\n`, 400],
  ["another coding", `${GET}Transfer-Encoding: gzip\r\n\r\n`, 400],
  ["a coding before chunked", `${GET}Transfer-Encoding: gzip, chunked\r\n\r\n`, 400],
  ["chunked twice", `${GET}Transfer-Encoding: chunked, chunked\r\n\r\n`, 400],
  ["two Transfer-Encodings", `${GET}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
  ["a parameter on chunked", `${GET}Transfer-Encoding: chunked;q=1\r\n\r\n`, 400],
  ["a vertical tab before chunked", `${GET}Transfer-Encoding: \x0bchunked\r\n\r\n`, 400],
  ["identity", `${GET}Transfer-Encoding: identity\r\n\r\n`, 400],
  ["Transfer-Encoding in HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400],
  ["a space before the colon", `${GET}Transfer-Encoding : chunked\r\n\r\n`, 400],
  ["a tab before the colon", `${GET}Content-Length\t: 5\r\n\r\n`, 400],
  ["a folded line", `${GET}X: a\r\n b\r\n\r\n`, 400],
  ["a folded first line", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400],
  ["a bare LF between fields", `${GET}X: a\nY: b\r\n\r\n`, 400],
  ["a bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400],
  ["LF alone everywhere", "GET / HTTP/1.1\nHost: a\n\n", 400],
  ["a bare CR in a value", `${GET}X: a\rb\r\n\r\n`, 400],
  ["a bare CR as a line end", `${GET}X: a\rTransfer-Encoding: chunked\r\n\r\n`, 400],
  ["NUL in a value", `${GET}X: a\0b\r\n\r\n`, 400],
  ["NUL in a name", `${GET}X\0Y: b\r\n\r\n`, 400],
  ["DEL in a value", `${GET}X: a\x7f\r\n\r\n`, 400],
  ["an empty name", `${GET}: b\r\n\r\n`, 400],
  ["a line without a colon", `${GET}Transfer-Encoding\r\n\r\n`, 400],
  ["a name outside ASCII", `${GET}X\xe9: b\r\n\r\n`, 400],
  ["two Hosts", `${GET}Host: b.example\r\n\r\n`, 400],
  ["Connection naming Content-Length", `${GET}Connection: close, Content-Length\r\nContent-Length: 3\r\n\r\n`, 400],
  ["Connection naming Transfer-Encoding", `${GET}Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
  ["Connection naming Host", `${GET}Connection: host\r\n\r\n`, 400],
  ["a Connection option that is no token", `${GET}Connection: a b\r\n\r\n`, 400],
  ["two spaces after the method", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["two spaces before the version", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a space after the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400],
  ["a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a tab in the target", "GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a fragment", "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a control character behind bytes outside ASCII", "GET /\xe9\x7f HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a fragment behind bytes outside ASCII", "GET /\xe9#a HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a target that is too long with its escapes", `GET /${"\xe9".repeat(5462)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
  ["HTTP/0.9", "GET /\r\n\r\n", 400],
  ["HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505],
  ["the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\n", 505],
  ["HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505],
  ["a version in lower case", "GET / http/1.1\r\nHost: a\r\n\r\n", 400],
  ["a version with more digits", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400],
  ["a method with a slash", "G/T / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a method without end", `${"A".repeat(33)} / HTTP/1.1\r\nHost: a\r\n\r\n`, 501],
  ["129 fields", `GET / HTTP/1.1\r\n${"X: y\r\n".repeat(129)}\r\n`, 431],
  ["an unknown expectation", `${GET}Expect: 200-maybe\r\n\r\n`, 417],
  ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
  ["a space first", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
];

for (const [why, head, status] of REFUSED) test(`refused: ${why}`, () => assert.equal(request(head).fault, status));

test("the parser accepts 128 fields, and waits for the end of an incomplete head", () => {
  assert.equal(request(`GET / HTTP/1.1\r\n${"X: y\r\n".repeat(128)}\r\n`).fault, 0);
  assert.equal(request(GET).fault, "unfinished");
  assert.equal(request("GET / HT").fault, "unfinished");
});

test("of several User-Agent fields the first counts", () => {
  const { head, buffer } = request("GET / HTTP/1.1\r\nHost: a.test\r\nUser-Agent: bad\r\nuser-agent: good\r\n\r\n");
  assert.equal(head.value(buffer, head.userAgentIndex), "bad");
});

test("a valid head is parsed into its parts", () => {
  const { fault, head, buffer } = request(
    "POST /a/b?c=d HTTP/1.1\r\nhOST: Example.com:80\r\nUser-Agent:  curl/8 \t\r\nContent-Length: 0012\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nX-Kept: \xe9\r\n\r\n",
  );
  assert.equal(fault, 0);
  assert.equal(head.method, "POST");
  assert.equal(latin1(buffer, head.targetStart, head.targetEnd), "/a/b?c=d");
  assert.equal(head.value(buffer, head.hostIndex), "Example.com:80");
  assert.equal(head.value(buffer, head.userAgentIndex), "curl/8");
  assert.equal(head.contentLength, 12);
  assert.equal(head.connectionKeepAlive, true);
  assert.equal(forwardedFields(buffer, head), "User-Agent:  curl/8 \t\r\nX-Kept: \xe9\r\n");
});

test("hop-by-hop and framing fields are removed from responses too", () => {
  const { fault, head, buffer } = response(
    "HTTP/1.1 200 Fine\r\nKeep-Alive: timeout=5\r\nA: 1\r\nTransfer-Encoding: Chunked\r\nB: 2\r\nUpgrade: x\r\nProxy-Authenticate: y\r\n\r\n",
  );
  assert.equal(fault, 0);
  assert.equal(head.chunked, true);
  assert.equal(statusLine(buffer, head), "HTTP/1.1 200 Fine\r\n");
  assert.equal(forwardedFields(buffer, head), "A: 1\r\nB: 2\r\n");
});

const BAD_RESPONSES: readonly string[] = [
  "HTTP/1.1 20 OK\r\n\r\n",
  "HTTP/1.1 2000 OK\r\n\r\n",
  "HTTP/1.1 099 OK\r\n\r\n",
  "HTTP/1.1  200 OK\r\n\r\n",
  "HTTP/2.0 200 OK\r\n\r\n",
  "HTTP/1.1 200 OK\nA: b\r\n\r\n",
  "HTTP/1.1 200 O\0K\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
  "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
  "ICY 200 OK\r\n\r\n",
];
for (const text of BAD_RESPONSES) test(`refused response: ${JSON.stringify(text)}`, () => assert.notEqual(response(text).fault, 0));

test("a response without a reason phrase, with or without the space, is accepted", () => {
  assert.equal(response("HTTP/1.1 200\r\n\r\n").fault, 0);
  assert.equal(response("HTTP/1.1 200 \r\n\r\n").fault, 0);
});

test("property: for any bytes the parser stays within the head, and its output parses to the same head", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "GET ",
      "/",
      " HTTP/1.1",
      "\r\n",
      "\n",
      "\r",
      ":",
      " ",
      "\t",
      "Host",
      "Content-Length",
      "Transfer-Encoding",
      "chunked",
      "Connection",
      "close",
      "5",
      ",",
      "\0",
      "X",
    ),
    fc.string({ minLength: 0, maxLength: 6, unit: "binary" }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const { fault, head, buffer } = request(`GET / HTTP/1.1\r\n${pieces.join("")}\r\n\r\n`);
      if (fault !== 0) return;
      const kept = forwardedFields(buffer, head);
      assert.ok(kept.length <= buffer.length);
      const again = request(`GET / HTTP/1.1\r\n${kept}\r\n`);
      assert.equal(again.fault, 0);
      assert.equal(forwardedFields(again.buffer, again.head), kept);
    }),
    { numRuns: 3000 },
  );
});

test("the end of a head is found at the same place in chunks of any size", () => {
  const text = `${GET}X: y\r\n\r\nrest\r\n\r\n`;
  const expected = text.indexOf("\r\n\r\n") + 4;
  assert.ok(expected < HEAD_BYTES_MAX);
  const buffer = Buffer.from(text);
  for (let have = 1; have <= buffer.length; have++) {
    const found = findHeadEnd(buffer, 0, have, have - 1);
    if (have === expected) assert.equal(found, expected);
    else if (have < expected) assert.equal(found, -1);
    assert.equal(isHopelessStart(buffer, 0, have, have - 1, isRequestLine), false);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { readTarget } from "#wire/http/target.ts";
import { Field } from "./hpack/field.ts";
import { RequestFields, TrailerFields } from "./request-fields.ts";
import { readRequestHead as readHead, readTrailers as readFields, type RequestHead } from "./request-head.ts";

function readRequestHead(given: readonly string[], scheme: string, endsWithHead: boolean): RequestHead | number {
  const fields = new RequestFields();
  fields.begin(65_536, 512);
  for (let i = 0; i < given.length; i += 2) fields.onField(new Field(given[i]!, given[i + 1]!));
  fields.end();
  return readHead(fields, scheme, endsWithHead);
}

function readTrailers(given: readonly string[]): ReturnType<typeof readFields> {
  const fields = new TrailerFields();
  fields.begin(65_536);
  for (let i = 0; i < given.length; i += 2) fields.onField(new Field(given[i]!, given[i + 1]!));
  return fields.isMalformed ? null : readFields(fields.fields);
}

const BASE = [":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/a?b"];

/** The fields of the parsed head, or the status of the refusal. */
function read(fields: readonly string[], endsWithHead = true): readonly (readonly [string, string])[] | number {
  const request = readRequestHead(fields, "https", endsWithHead);
  if (typeof request === "number") return request;
  const { buffer, head } = request;
  return Array.from({ length: head.fieldCount }, (_, index) => [head.name(buffer, index), head.value(buffer, index)] as const);
}

test("an HTTP/2 request becomes an HTTP/1.1 head", () => {
  assert.deepEqual(read([...BASE, "x-a", "1", "cookie", "a=1", "te", "trailers", "x-a", "", "cookie", "", "cookie", "b=2", "cookie", ""]), [
    ["host", "www.example.com"],
    ["x-a", "1"],
    ["te", "trailers"],
    ["x-a", ""],
    ["cookie", "a=1; b=2"],
  ]);
  for (const wanted of [true, false]) {
    const asked = readRequestHead(wanted ? [...BASE, "te", "trailers"] : BASE, "https", true);
    assert.equal(typeof asked !== "number" && asked.head.takesTrailers, wanted, "origins learn it, as from HTTP/1.1");
  }
  assert.deepEqual(read([...BASE, "content-length", "2"], false), [
    ["host", "www.example.com"],
    ["content-length", "2"],
  ]);
  const chunked = readRequestHead(BASE, "https", false);
  assert.ok(typeof chunked !== "number" && chunked.head.chunked);
});

const REFUSED: readonly (readonly string[])[] = [
  ["x-a", "b\r\nx-evil: 1"],
  ["x-a", "b\0"],
  ["x-a", "\u010a"],
  ["x-a: b\r\nx", "1"],
  ["X-A", "1"],
  ["", "1"],
  ["transfer-encoding", "chunked"],
  ["connection", "x-a"],
  ["upgrade", "websocket"],
  ["http2-settings", "AAMAAABkAAQAAP__"],
  ["te", "gzip"],
  ["host", "evil.example.org"],
  ["host", "www.example.com", "host", "www.example.com"],
  ["content-length", "1"],
  ["content-length", "0", "content-length", "0"],
  [":path", "/other"],
  [":protocol", "websocket"],
];
test("the reader refuses heads that HTTP/1.1 would read differently", () => {
  for (const fields of REFUSED) assert.equal(read([...BASE, ...fields]), 400, fields.join(": "));
  const replaced = (name: string, value: string): string[] => BASE.map((text, i) => (BASE[i - 1] === name && i % 2 === 1 ? value : text));
  for (const path of ["", "a", "/a b", "/a HTTP/1.1\r\nx: y", "http://evil.example.org/", "/a#b", "/\xff\x7f"])
    assert.equal(read(replaced(":path", path)), 400, path);
  for (const authority of ["", "a b", "www.example.com\r\nx: y"]) assert.equal(read(replaced(":authority", authority)), 400, authority);
  for (const method of ["", "GET /", "G\r\nT", "G(T"]) assert.equal(read(replaced(":method", method)), 400, method);
  assert.equal(read(replaced(":scheme", "http")), 400);
  assert.equal(read(replaced(":method", "CONNECT")), 501);
  assert.equal(read([...BASE, "expect", "else"]), 417);
  assert.equal(read([...BASE, "x-a", "y".repeat(40_000)]), 431);
});

test("bytes beyond ASCII in a path become escapes, as in HTTP/1.1", () => {
  const request = readRequestHead(
    [":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/\xe9?\xff"],
    "https",
    true,
  );
  assert.ok(typeof request !== "number");
  assert.equal(readTarget(request.buffer, request.head, "https")?.originForm, "/%E9?%FF");
});

test("an extended CONNECT for a WebSocket becomes a GET with an upgrade", () => {
  const fields = [":method", "CONNECT", ":protocol", "websocket", ...BASE.slice(2)];
  const request = readRequestHead([...fields, "sec-websocket-key", "theirs", "sec-websocket-version", "13"], "https", false);
  assert.ok(typeof request !== "number");
  const { buffer, head, webSocketKey } = request;
  assert.deepEqual([head.method, head.chunked, head.contentLength, head.connectionUpgrade], ["GET", false, -1, true]);
  assert.equal(Buffer.from(webSocketKey, "base64").length, 16);
  assert.deepEqual(
    Array.from({ length: head.fieldCount }, (_, index) => `${head.name(buffer, index)}: ${head.value(buffer, index)}`),
    [
      "host: www.example.com",
      "sec-websocket-version: 13",
      "connection: Upgrade",
      "upgrade: websocket",
      `sec-websocket-key: ${webSocketKey}`,
    ],
  );
  assert.notEqual((readRequestHead(fields, "https", false) as { webSocketKey: string }).webSocketKey, webSocketKey);
  assert.equal((readRequestHead(BASE, "https", true) as { webSocketKey: string }).webSocketKey, "");
  assert.equal(read(fields, true), 400);
  assert.equal(read([...fields, "content-length", "0"], false), 400);
  assert.equal(read([...fields, ":protocol", "websocket"], false), 400);
  assert.equal(read([":method", "CONNECT", ":protocol", "connect-udp", ...BASE.slice(2)], false), 501);
});

const character = fc.oneof(
  fc.constantFrom("\r", "\n", "\0", " ", ":", "\t", ",", "/", "\u010a"),
  fc.integer({ min: 0, max: 0x180 }).map((code) => String.fromCharCode(code)),
);
const text = fc.oneof(
  fc.string({ unit: character, maxLength: 12 }),
  fc.constantFrom("x-a", "host", "cookie", "content-length", "1", "chunked"),
);
const name = fc.oneof(text, fc.constantFrom(":method", ":path", ":authority", "transfer-encoding", "x-a", "te", "expect"));

test("property: an accepted head has exactly the given fields", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, text), { maxLength: 6 }), fc.boolean(), (given, endsWithHead) => {
      const fields = read([...BASE, ...given.flat()], endsWithHead);
      if (typeof fields === "number") return;
      const expected = given
        .filter(([field]) => !["host", "cookie", "te"].includes(field))
        .map(([field, value]) => [field, value.replace(/^[\t ]+|[\t ]+$/g, "")]);
      const cookies = given.filter(([field, value]) => field === "cookie" && value !== "").map(([, value]) => value);
      if (cookies.length > 0) expected.push(["cookie", cookies.join("; ").replace(/^[\t ]+|[\t ]+$/g, "")]);
      const framing = endsWithHead || given.some(([field]) => field === "content-length") ? [] : [["transfer-encoding", "chunked"]];
      assert.deepEqual(fields, [["host", "www.example.com"], ...expected, ...framing]);
      const request = readRequestHead([...BASE, ...given.flat()], "https", endsWithHead);
      assert.ok(typeof request !== "number");
      assert.equal(readTarget(request.buffer, request.head, "https")?.originForm, "/a?b");
    }),
    { numRuns: 3000 },
  );
});

test("trailers with framing, routing or pseudo-header fields are refused", () => {
  assert.deepEqual(readTrailers(["x-sum", "1", "x-b", ""]), [
    { name: "x-sum", value: "1" },
    { name: "x-b", value: "" },
  ]);
  for (const fields of [
    ["content-length", "1"],
    ["host", "a"],
    [":path", "/"],
    ["X-A", "1"],
    ["x-a", "1\r\nx: y"],
    ["x-a", "y".repeat(9000)],
  ])
    assert.equal(readTrailers(fields), null, fields[0]);
});

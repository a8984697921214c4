import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { exchangeRaw, rawOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";

/**
 * Responses that the edge must not accept from an origin. Each row is one answer on a connection that stays open: the
 * visitor gets 520 at once, and the next visitor gets the next answer without any remains of this one.
 */
type Row = readonly [why: string, answer: string];

const OK = "HTTP/1.1 200 OK\r\n";
const EVIL = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";

const statusLines = (...lines: string[]): Row[] =>
  lines.map((line) => [`the status line ${JSON.stringify(line)}`, `${line}\r\nContent-Length: 2\r\n\r\nok`]);
const lengths = (...values: string[]): Row[] =>
  values.map((value) => [`Content-Length: ${JSON.stringify(value)}`, `${OK}Content-Length: ${value}\r\n\r\n${EVIL}`]);
const codings = (...values: string[]): Row[] =>
  values.map((value) => [`Transfer-Encoding: ${JSON.stringify(value)}`, `${OK}Transfer-Encoding: ${value}\r\n\r\n0\r\n\r\n${EVIL}`]);
const fields = (...lines: string[]): Row[] =>
  lines.map((line) => [`the field ${JSON.stringify(line)}`, `${OK}Content-Length: 2\r\n${line}\r\n\r\nok`]);

const REFUSED: readonly Row[] = [
  ["both lengths", `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${EVIL}`],
  ["both lengths, the coding first", `${OK}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${EVIL}`],
  ["two lengths", `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok${EVIL}`],
  ["two lengths alike", `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`],
  ["two codings", `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${EVIL}`],
  ["a coding in HTTP/1.0", `HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${EVIL}`],
  ["a status without a body that has both lengths", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"],
  ...lengths("", "-1", "+2", "2, 2", "0x2", "2.0", "two", "2 2", "18446744073709551618", "\x0b2"),
  ...codings("", "identity", "gzip", "gzip, chunked", "chunked, gzip", "xchunked", "\x0bchunked", "chunked;q=1", "\r\n chunked"),
  ...statusLines(
    "HTTP/1.1 20 OK",
    "HTTP/1.1 2000 OK",
    "HTTP/1.1 099 OK",
    "HTTP/1.1 2x0 OK",
    "HTTP/1.1  200 OK",
    "HTTP/1.1\t200 OK",
    "HTTP/1.1 200\tOK",
    "HTTP/1.1 200 O\0K",
    "HTTP/1.1 200 O\x7fK",
    "HTTP/1.1 200 O\rK",
    "HTTP/1.1",
    " HTTP/1.1 200 OK",
    "http/1.1 200 OK",
    "HTTP/2 200 OK",
    "HTTP/2.0 200 OK",
    "HTTP/1.2 200 OK",
    "HTTP/0.9 200 OK",
    "HTTP/1.10 200 OK",
    "ICY 200 OK",
    "GET / HTTP/1.1",
    "<html>",
    "",
  ),
  ["another protocol that waits", "220 mail.example ESMTP\r\n"],
  ["another protocol in binary", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
  ["LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"],
  ["a field that ends in LF", `${OK}X: y\nContent-Length: 2\r\n\r\nok`],
  ...fields(
    "X : y",
    "X\t: y",
    "X: y\r\n z",
    " X: y",
    "X: \0",
    "X: \x7f",
    "X: y\rZ: z",
    ": y",
    "X",
    "X Y: z",
    "X\xe9: y",
    "X(: y",
    "Connection: content-length",
    "Connection: close x",
  ),
  ["257 fields", `${OK}Content-Length: 2\r\n${"X: y\r\n".repeat(256)}\r\nok`],
  ["a head that is too long", `${OK}Content-Length: 2\r\nX: ${"y".repeat(132_000)}\r\n\r\nok`],
  ["a head without an end", `${OK}X: ${"y".repeat(140_000)}`],
  ["an upgrade that nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"],
  ["interim responses without an end", "HTTP/1.1 102 Processing\r\n\r\n".repeat(40)],
  ["an interim response that is malformed", `HTTP/1.1 103 Early Hints\r\nLink : x\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`],
];

/** Answers that are right or harmless; what follows on their connection is never the next visitor's. */
const TAKEN: readonly (readonly [why: string, answer: string, body: string])[] = [
  ["no reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "ok"],
  ["an empty reason", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok", "ok"],
  ["a reason beyond ASCII", "HTTP/1.1 200 Tr\xe8s bien\r\nContent-Length: 2\r\n\r\nok", "ok"],
  ["a status of its own", "HTTP/1.1 799 Mine\r\nContent-Length: 2\r\n\r\nok", "ok"],
  ["another answer behind it", `${OK}Content-Length: 2\r\n\r\nok${EVIL}`, "ok"],
  ["another answer behind the last chunk", `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n${EVIL}`, "ok"],
  ["a body behind a status that has none", `HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok${EVIL}`, ""],
  [
    "chunks behind a status that has none",
    `HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n${EVIL}`,
    "",
  ],
  ["128 fields", `${OK}Content-Length: 2\r\n${"X: y\r\n".repeat(127)}\r\nok`, "ok"],
  ["some interim responses", `${"HTTP/1.1 102 Processing\r\n\r\n".repeat(3)}${OK}Content-Length: 2\r\n\r\nok`, "ok"],
];

let origin: TestOrigin;
let edge: TestEdge;
let answer = "";

before(async () => {
  origin = await rawOrigin((socket) => {
    socket.on("data", (bytes) => {
      const good = bytes.toString("latin1").startsWith("GET /next ");
      socket.write(good ? `${OK}Content-Length: 4\r\n\r\nnext` : answer, "latin1");
    });
    socket.on("end", () => socket.end());
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  await edge.close();
  origin.close();
});

const get = (path: string) => exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n`);
const bodyOf = (response: string) => response.slice(response.indexOf("\r\n\r\n") + 4).replace(/^[0-9a-f]+\r\n([a-z]*)\r\n0\r\n\r\n$/, "$1");

async function nextIsClean(): Promise<void> {
  for (let i = 0; i < 2; i++) assert.equal(bodyOf(await get("/next")), "next");
}

for (const [why, bytes] of REFUSED) {
  test(`the edge answers 520 and forwards none of the response: ${why}`, async () => {
    answer = bytes;
    const response = (await get("/")).replace(/^(?:HTTP\/1\.1 102 Processing\r\n\r\n)*/, "");
    assert.match(response, /^HTTP\/1\.1 520 /);
    assert.doesNotMatch(response, /evil/);
    await nextIsClean();
  });
}

for (const [why, bytes, body] of TAKEN) {
  test(`the edge accepts the response and sends none of it to the next visitor: ${why}`, async () => {
    answer = bytes;
    const response = (await get("/")).replace(/^(?:HTTP\/1\.1 102 Processing\r\n\r\n)*/, "");
    assert.match(response, new RegExp(`^${bytes.replace(/^(?:HTTP\/1\.1 102 Processing\r\n\r\n)*/, "").slice(0, 12)}`));
    assert.equal(bodyOf(response), body);
    await nextIsClean();
  });
}

test("the tests above cause no unexpected error", () => assert.deepEqual(edge.errors, []));

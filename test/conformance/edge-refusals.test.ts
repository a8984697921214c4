import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { exchangeRaw, rawClient, siteOps, startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { type CountingOrigin, startCountingOrigin } from "../support/counting-origin.ts";

/**
 * Requests that the edge must refuse, each row sent over a real connection: alone, with another request after it, and
 * byte by byte. The origin uses another parser. Every refusal comes at once: a wait for the time limit of a head would be
 * longer than the client's.
 */
type Row = readonly [why: string, bytes: string, status: number];

const H = "Host: www.example.com\r\n";
const G = `GET / HTTP/1.1\r\n${H}`;
const P = `POST /first HTTP/1.1\r\n${H}`;
const SMUGGLED = `GET /smuggled HTTP/1.1\r\n${H}\r\n`;
/** A body that a reader by length takes for a request. */
const HIDING = `0\r\n\r\n${SMUGGLED}`;

const names = (...characters: string[]): Row[] =>
  characters.map((character) => [`a field name with ${JSON.stringify(character)}`, `${G}X${character}Y: z\r\n\r\n`, 400]);
const lengths = (...values: string[]): Row[] =>
  values.map((value) => [`Content-Length: ${JSON.stringify(value)}`, `${P}Content-Length: ${value}\r\n\r\n${SMUGGLED}`, 400]);
const codings = (...values: string[]): Row[] =>
  values.map((value) => [`Transfer-Encoding: ${JSON.stringify(value)}`, `${P}Transfer-Encoding: ${value}\r\n\r\n${HIDING}`, 400]);
const hosts = (...values: string[]): Row[] =>
  values.map((value) => [`Host: ${JSON.stringify(value)}`, `GET / HTTP/1.1\r\nHost: ${value}\r\n\r\n`, 400]);
const targets = (...values: string[]): Row[] =>
  values.map((value) => [`the target ${JSON.stringify(value)}`, `GET ${value} HTTP/1.1\r\n${H}\r\n`, 400]);
const lines = (...values: string[]): Row[] =>
  values.map((value) => [`the request line ${JSON.stringify(value)}`, `${value}\r\n${H}\r\n`, 400]);

/** Refused before the origin sees anything. */
const REFUSED: readonly Row[] = [
  // SPEC 7.13, SPEC 9 (2023-07-01): both at once, in either order.
  ["CL.TE", `${P}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n${HIDING}`, 400],
  ["TE.CL", `${P}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${SMUGGLED}0\r\n\r\n`, 400],
  ["CL.TE with a length of 0", `${P}Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n${HIDING}`, 400],
  ["TE.TE, the second unknown", `${P}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n${HIDING}`, 400],
  ["TE.TE, the first unknown", `${P}Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n${HIDING}`, 400],
  ["TE.TE, both chunked", `${P}Transfer-Encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n${HIDING}`, 400],
  ["a coding in HTTP/1.0", `POST /first HTTP/1.0\r\n${H}Transfer-Encoding: chunked\r\n\r\n${HIDING}`, 400],
  ...codings(
    "",
    "identity",
    "gzip",
    "gzip, chunked",
    "chunked, gzip",
    "chunked, chunked",
    "chunked,",
    ", chunked",
    "chunked;q=1",
    "xchunked",
    "chunkedx",
    "chunke",
    '"chunked"',
    "'chunked'",
    "\x0bchunked",
    "\x0cchunked",
    "chunked\x0b",
    "chunked\0",
    "\0chunked",
    "chunked\xa0",
    "chun\tked",
    "c\x48unked\x7f",
    "chunked\n",
    "chunked\r",
    "\rchunked",
    "\nchunked",
    "x\r\n chunked",
    "\r\n chunked",
    "\r\n\tchunked",
    "chun\xebed",
  ),
  ["two lengths", `${P}Content-Length: 0\r\nContent-Length: 50\r\n\r\n${SMUGGLED}`, 400],
  ["two lengths alike", `${P}Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde`, 400],
  ...lengths(
    "",
    "0, 50",
    "5, 5",
    "5,",
    "+5",
    "-0",
    "-1",
    "0x5",
    "5.0",
    "5e0",
    "5;",
    "5 5",
    '"5"',
    "five",
    "5_0",
    "\x0b5",
    "5\x0c",
    "5\0",
    "\xb2",
    "18446744073709551616",
    "18446744073709551621",
    "9999999999999999",
    "99999999999999999999999999999999",
    "5\r\n 0",
  ),
  ["Connection naming the length", `${P}Connection: Content-Length\r\nContent-Length: 50\r\n\r\n${SMUGGLED}`, 400],
  ["Connection naming the coding", `${P}Connection: close, Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n${HIDING}`, 400],
  ["Connection naming the host", `GET / HTTP/1.1\r\n${H}Connection: Host\r\n\r\n`, 400],
  ["Connection naming the credentials", `${G}Authorization: x\r\nConnection: authorization\r\n\r\n`, 400],
  ["Connection that is no list", `${G}Connection: keep-alive x\r\n\r\n`, 400],
  ["Connection with very many options", `${G}Connection: ${"x,".repeat(40)}x\r\n\r\n`, 400],

  ["a space before the colon of the coding", `${P}Transfer-Encoding : chunked\r\n\r\n${HIDING}`, 400],
  ["a tab before the colon of the length", `${P}Content-Length\t: 50\r\n\r\n${SMUGGLED}`, 400],
  ["a vertical tab before the colon", `${P}Transfer-Encoding\x0b: chunked\r\n\r\n${HIDING}`, 400],
  ["a form feed before the colon", `${P}Transfer-Encoding\x0c: chunked\r\n\r\n${HIDING}`, 400],
  ["NUL before the colon", `${P}Transfer-Encoding\0: chunked\r\n\r\n${HIDING}`, 400],
  ["a form feed behind the colon", `${P}Content-Length:\x0c50\r\n\r\n${SMUGGLED}`, 400],
  ["a space before the first field", `GET / HTTP/1.1\r\n X: y\r\n${H}\r\n`, 400],
  ["a tab before a field", `${G}\tX: y\r\n\r\n`, 400],
  ["a folded field", `${G}X: y\r\n z\r\n\r\n`, 400],
  ["a field folded by a tab", `${G}X: y\r\n\tz\r\n\r\n`, 400],
  ["an empty folded line", `${G}X: y\r\n \r\n\r\n`, 400],
  ["a field without a name", `${G}: y\r\n\r\n`, 400],
  ["a field without a colon", `${G}Transfer-Encoding\r\n\r\n`, 400],
  ...names(" ", "\t", "\0", "\x7f", "\xe9", '"', "(", ")", ",", "/", ";", "<", "=", ">", "?", "@", "[", "\\", "]", "{", "}"),

  ["a bare LF after a field", `${G}X: y\nTransfer-Encoding: chunked\r\n\r\n`, 400],
  ["a bare LF after the request line", `GET / HTTP/1.1\n${H}\r\n`, 400],
  ["LF alone", "GET / HTTP/1.1\nHost: www.example.com\n\n", 400],
  ["LF alone, without an end", "GET / HTTP/1.1\nHost: www.example.com\n", 400],
  ["a head that ends in LF", `${G}X: y\r\n\n`, 400],
  ["LF first", `\n${G}\r\n`, 400],
  ["a bare CR in a value", `${G}X: y\rTransfer-Encoding: chunked\r\n\r\n`, 400],
  ["a bare CR in a name", `${G}X\rY: z\r\n\r\n`, 400],
  ["a bare CR in the request line", `GET /\r HTTP/1.1\r\n${H}\r\n`, 400],
  ["CR CR LF", `${G}X: y\r\r\n\r\n`, 400],
  ["a bare CR first", `\r${G}\r\n`, 400],
  ["NUL in a value", `${G}X: \0\r\n\r\n`, 400],
  ["DEL in a value", `${G}X: \x7f\r\n\r\n`, 400],
  ["an escape character in a value", `${G}X: \x1b[2J\r\n\r\n`, 400],

  ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
  ["no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 400],
  ["two Hosts", `GET / HTTP/1.1\r\n${H}Host: other.example\r\n\r\n`, 400],
  ["two Hosts alike", `GET / HTTP/1.1\r\n${H}${H}\r\n`, 400],
  ["a Host with a space before the colon", "GET / HTTP/1.1\r\nHost : www.example.com\r\n\r\n", 400],
  ...hosts(
    "",
    "a@www.example.com",
    "a:b@www.example.com",
    "@www.example.com",
    "www.example.com@other.example",
    "www.example.com/x",
    "www.example.com?x",
    "www.example.com#x",
    "www.example.com\\x",
    "http://www.example.com",
    "www.example.com x",
    "www.example.com\tx",
    "www.example.com,other.example",
    "www.example.com, www.example.com",
    "www.example.com:",
    "www.example.com:x",
    "www.example.com:-80",
    "www.example.com:80:80",
    "www.example.com:0",
    "www.example.com:65536",
    "www.example.com:000080",
    ":80",
    "www..example.com",
    ".www.example.com",
    "www.example.com..",
    ".",
    "*",
    "*.example.com",
    "%77ww.example.com",
    "www.example.com%00",
    "w\xfcw.example.com",
    "\xe4\xb8\xad.example.com",
    "::1",
    "[::1",
    "::1]",
    "[::1]x",
    "[::1]:",
    "[]",
    "[127.0.0.1]",
    "[fe80::1%25lo]",
    "[v1.x]",
    `${"a".repeat(64)}.example.com`,
    `${"a.".repeat(127)}com`,
  ),

  ...targets(
    "/#x",
    "#",
    "/a\0b",
    "/a\tb",
    "/\x7f",
    "path",
    "?query",
    "*",
    "www.example.com:80",
    "//",
    "http://other.example/",
    "http://www.example.com:81/",
    "http://a@www.example.com/",
    "http://www.example.com@other.example/",
    "http:///",
    "http:/www.example.com/",
    "http:",
    "https://www.example.com/",
    "ftp://www.example.com/",
    "javascript:alert(1)",
    "/%00",
    "/a%00.html",
    "/%",
    "/%4",
    "/%zz",
    "/%u0041",
    "/a%2",
  ).filter(([, bytes]) => !bytes.startsWith("GET // ")),
  ["the asterisk for another method", `POST * HTTP/1.1\r\n${H}Content-Length: 0\r\n\r\n`, 400],
  ["an absolute target with an empty Host", "GET http://www.example.com/ HTTP/1.1\r\nHost:\r\n\r\n", 400],
  ["an absolute target without a Host", "GET http://www.example.com/ HTTP/1.1\r\n\r\n", 400],

  ...lines(
    "GET  / HTTP/1.1",
    "GET /  HTTP/1.1",
    "GET / HTTP/1.1 ",
    " GET / HTTP/1.1",
    "\tGET / HTTP/1.1",
    "GET\t/ HTTP/1.1",
    "GET /\tHTTP/1.1",
    "GET / x HTTP/1.1",
    "GET / HTTP/1.1 x",
    "GET / http/1.1",
    "GET / HTTPS/1.1",
    "GET / HTTP/1.10",
    "GET / HTTP/01.1",
    "GET / HTTP/1",
    "GET / HTTP/1.",
    "GET / HTTP /1.1",
    "GET / HTTP/+1.1",
    "GET / HTTP/1,1",
    "GET / ",
    "GET /",
    "GET",
    "GET HTTP/1.1",
    "/ HTTP/1.1",
    "G(T / HTTP/1.1",
    "G\0T / HTTP/1.1",
    "G\xe9T / HTTP/1.1",
    "HTTP/1.1 200 OK",
  ),
  ["HTTP/0.9", "GET /\r\n", 400],
  ["HTTP/0.9 with an empty line", "GET /\r\n\r\n", 400],
  ["a greeting of another protocol", "EHLO mail.example\r\n", 400],
  ["a request of another protocol", "OPTIONS sip:a@www.example.com SIP/2.0\r\n", 400],
  ["the identification of SSH", "SSH-2.0-OpenSSH_9.6\r\n", 400],
  ["TLS on the plain port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
  ["an old TLS greeting", "\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10", 400],
  ["a PROXY header that nobody asked for", `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${G}\r\n`, 400],
  ["a binary PROXY header that nobody asked for", "\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00", 400],
  ["HTTP/2.0", `GET / HTTP/2.0\r\n${H}\r\n`, 505],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", 505],
  ["HTTP/1.2", `GET / HTTP/1.2\r\n${H}\r\n`, 505],
  ["HTTP/0.9 by name", `GET / HTTP/0.9\r\n${H}\r\n`, 505],
  ["HTTP/3.0", `GET / HTTP/3.0\r\n${H}\r\n`, 505],

  ["a method that is too long", `${"M".repeat(33)} / HTTP/1.1\r\n${H}\r\n`, 501],
  ["CONNECT", "CONNECT www.example.com:443 HTTP/1.1\r\nHost: www.example.com:443\r\n\r\n", 501],
  ["CONNECT to a path", `CONNECT / HTTP/1.1\r\n${H}\r\n`, 501],
  ["TRACE", `TRACE / HTTP/1.1\r\n${H}\r\n`, 501],
  ["an unknown Expect", `${P}Content-Length: 1\r\nExpect: 200-ok\r\n\r\nx`, 417],
  ["a longer Expect", `${P}Content-Length: 1\r\nExpect: 100-continue, x\r\n\r\nx`, 417],

  ["129 fields", `GET / HTTP/1.1\r\n${H}${"X: y\r\n".repeat(128)}\r\n`, 431],
  ["a head of 32 KiB and one byte", headOf(32_769), 431],
  ["a long head without an end", `${G}X: ${"y".repeat(40_000)}`, 431],
  ["fields without an end", `${G}${"X: y\r\n".repeat(8_000)}`, 431],
  ["a long target", `GET /${"a".repeat(16_384)} HTTP/1.1\r\n${H}\r\n`, 414],
  ["a target without an end", `GET /${"a".repeat(40_000)}`, 414],
  ["a method without an end", "G".repeat(40_000), 501],
];

/** A request head of exactly so many bytes. */
function headOf(bytes: number): string {
  const without = `${G}X: \r\n\r\n`;
  return without.replace("X: ", `X: ${"y".repeat(bytes - without.length)}`);
}

/** Refused when the body turns out bad: its request is under way by then, and nothing may follow it. */
const BAD_BODIES: readonly Row[] = [
  ["a size that is no number", `zz\r\n${SMUGGLED}`, 400],
  ["an empty size", `\r\n${SMUGGLED}`, 400],
  ["a size with a prefix", `0x3\r\nabc\r\n0\r\n\r\n`, 400],
  ["a signed size", `+3\r\nabc\r\n0\r\n\r\n`, 400],
  ["a negative size", `-3\r\nabc\r\n0\r\n\r\n`, 400],
  ["a space before a size", ` 3\r\nabc\r\n0\r\n\r\n`, 400],
  ["a space behind a size", `3 \r\nabc\r\n0\r\n\r\n`, 400],
  ["a size with a gap", `1_0\r\n${"a".repeat(16)}\r\n0\r\n\r\n`, 400],
  ["a size that ends in LF", `1\na\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["a size that ends in CR", `1\ra\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["an extension that ends in LF", `3;x\nabc\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["a bare CR in an extension", `3;x\ry\r\nabc\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["NUL in an extension", `3;\0\r\nabc\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["data longer than its size", `1\r\nab\r\n${SMUGGLED}`, 400],
  ["data that ends in LF", `3\r\nabc\n0\r\n\r\n${SMUGGLED}`, 400],
  ["data that ends in CR", `3\r\nabc\r0\r\n\r\n${SMUGGLED}`, 400],
  ["an overflowing size", `fffffffffffffffff\r\n${SMUGGLED}`, 413],
  ["a size of zeros without an end", "0".repeat(100), 413],
  ["a size that wraps to 0 in 64 bits", `10000000000000000\r\n${SMUGGLED}`, 413],
  ["an extension without an end", `1;${"x".repeat(2000)}\r\na\r\n0\r\n\r\n`, 413],
  ["many extensions", `1;${"x".repeat(1000)}\r\na\r\n`.repeat(20), 413],
  ["a length in the trailers", `0\r\nContent-Length: 50\r\n\r\n${SMUGGLED}`, 400],
  ["a coding in the trailers", `0\r\nTransfer-Encoding: chunked\r\n\r\n${SMUGGLED}`, 400],
  ["a Host in the trailers", `0\r\nHost: other.example\r\n\r\n${SMUGGLED}`, 400],
  ["credentials in the trailers", `0\r\nAuthorization: x\r\n\r\n${SMUGGLED}`, 400],
  ["a folded trailer", `0\r\nX: y\r\n z\r\n\r\n${SMUGGLED}`, 400],
  ["a space before the colon of a trailer", `0\r\nX : y\r\n\r\n${SMUGGLED}`, 400],
  ["a trailer that ends in LF", `0\r\nX: y\n\r\n${SMUGGLED}`, 400],
  ["trailers that end in LF", `0\r\nX: y\r\n\n${SMUGGLED}`, 400],
  ["a last chunk that ends in LF", `0\r\n\n${SMUGGLED}`, 400],
  ["a request where trailers are", `0\r\n${SMUGGLED}`, 400],
  ["NUL in a trailer", `0\r\nX: \0\r\n\r\n${SMUGGLED}`, 400],
  ["trailers without an end", `0\r\nX: ${"y".repeat(10_000)}`, 413],
  ["many trailers", `0\r\n${"X: y\r\n".repeat(200)}\r\n`, 413],
];

/**
 * Strict as necessary and no stricter: these are valid, and a server that refuses them loses visitors. Path at the
 * origin, or a status.
 */
const TAKEN: readonly (readonly [why: string, bytes: string, seen: string | number])[] = [
  ["an empty line before the request", `\r\n${G}\r\n`, "/"],
  ["Host in upper case", "GET / HTTP/1.1\r\nHOST: WWW.EXAMPLE.COM\r\n\r\n", "/"],
  ["Host with a port", "GET / HTTP/1.1\r\nHost: www.example.com:8080\r\n\r\n", "/"],
  ["Host with a final dot", "GET / HTTP/1.1\r\nHost: www.example.com.\r\n\r\n", "/"],
  ["Host as an IPv6 address", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", 530],
  ["Host as an international name", "GET / HTTP/1.1\r\nHost: xn--bcher-kva.example\r\n\r\n", 530],
  ["an absolute target", `GET http://www.example.com/a?b HTTP/1.1\r\n${H}\r\n`, "/a?b"],
  ["an absolute target without a path", `GET http://WWW.example.com HTTP/1.1\r\n${H}\r\n`, "/"],
  ["the asterisk for OPTIONS", `OPTIONS * HTTP/1.1\r\n${H}\r\n`, "*"],
  ["a path with two slashes", `GET // HTTP/1.1\r\n${H}\r\n`, "//"],
  ["a path that looks like an authority", `GET //other.example/ HTTP/1.1\r\n${H}\r\n`, "//other.example/"],
  ["visible ASCII in a path", `GET /a|b{c}"<>^\\\`?d[]=%41 HTTP/1.1\r\n${H}\r\n`, '/a|b{c}"<>^\\`?d[]=%41'],
  ["escapes of any kind in a query", `GET /?a=%00&b=%&c=%u0041 HTTP/1.1\r\n${H}\r\n`, "/?a=%00&b=%&c=%u0041"],
  ["escapes in a path", `GET /%41%c3%A9%2F%2e%2e HTTP/1.1\r\n${H}\r\n`, "/%41%c3%A9%2F%2e%2e"],
  ["no space behind the colon", `GET / HTTP/1.1\r\nHost:www.example.com\r\nX:y\r\n\r\n`, "/"],
  ["tabs around a value", `GET / HTTP/1.1\r\nHost:\twww.example.com\t\r\n\r\n`, "/"],
  ["an empty value", `${G}X:\r\n\r\n`, "/"],
  ["bytes beyond ASCII in a value", `${G}X: \xe9\r\n\r\n`, "/"],
  ["a name of every sign that a token may have", `${G}!#$%&'*+-.^_\`|~09azAZ: y\r\n\r\n`, "/"],
  ["chunked in upper case behind a tab", `${P}Transfer-Encoding:\tCHUNKED \r\n\r\n3;a=b\r\nabc\r\n00\r\n\r\n`, "/first"],
  ["a length with zeros before it", `${P}Content-Length: 0003\r\n\r\nabc`, "/first"],
  ["a GET with a body", `GET /first HTTP/1.1\r\n${H}Content-Length: 3\r\n\r\nabc`, "/first"],
  ["a method of its own", `PROPFIND /first HTTP/1.1\r\n${H}\r\n`, "/first"],
  ["128 fields", `GET / HTTP/1.1\r\n${H}${"X: y\r\n".repeat(127)}\r\n`, "/"],
  ["a long target", `GET /${"a".repeat(16_383)} HTTP/1.1\r\n${H}\r\n`, `/${"a".repeat(16_383)}`],
  ["a head of 32 KiB less a few bytes", headOf(32_768), 200],
  ["Connection with empty options", `${G}Connection: , keep-alive ,,\r\n\r\n`, "/"],
  ["an upgrade that nobody grants", `${G}Connection: Upgrade\r\nUpgrade: unknown\r\n\r\n`, "/"],
];

let origin: CountingOrigin;
let edge: TestEdge;

before(async () => {
  origin = await startCountingOrigin();
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  await edge.close();
  origin.close();
});

/** Rows of this length or less are sent byte by byte as well. */
const SLOW_BYTES_MAX = 700;

/** Each way to send a row; all must come to the same. */
async function deliver(bytes: string): Promise<readonly string[]> {
  const answers = [await exchangeRaw(edge.http, bytes), await exchangeRaw(edge.http, `${bytes}${SMUGGLED}`)];
  if (bytes.length <= SLOW_BYTES_MAX) answers.push(await exchangeBytewise(bytes));
  return answers;
}

async function exchangeBytewise(bytes: string): Promise<string> {
  const client = rawClient(edge.http);
  for (const byte of bytes) {
    client.send(byte);
    await new Promise((done) => setImmediate(done));
    if (client.socket.destroyed) break;
  }
  return client.closed();
}

for (const [why, bytes, status] of REFUSED) {
  test(`the edge refuses the request and sends nothing to the origin: ${why}`, async () => {
    origin.reset();
    for (const answer of await deliver(bytes)) {
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.equal(answer.match(/HTTP\/1\.1 \d/g)?.length, 1, "one answer, and then the connection is closed");
      assert.match(answer, /\r\nConnection: close\r\n/);
    }
    assert.equal(origin.received(), "");
  });
}

for (const [why, body, status] of BAD_BODIES) {
  test(`the edge refuses the request and sends at most this one request to the origin: ${why}`, async () => {
    origin.reset();
    const answers = await deliver(`${P}Transfer-Encoding: chunked\r\n\r\n${body}`);
    for (const answer of answers) {
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.equal(answer.match(/HTTP\/1\.1 \d/g)?.length, 1);
    }
    assert.doesNotMatch(origin.received(), /smuggled/);
    assert.ok(origin.requests.length <= answers.length);
    for (const { target, body: seen } of origin.requests) assert.deepEqual([target, seen], ["/first", null]);
    assert.deepEqual(origin.faults, []);
  });
}

for (const [why, bytes, seen] of TAKEN) {
  test(`the edge accepts the request and reads the next one behind it: ${why}`, async () => {
    origin.reset();
    const answer = await exchangeRaw(edge.http, `${bytes}GET /next HTTP/1.1\r\n${H}Connection: close\r\n\r\n`);
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));
    assert.deepEqual(statuses, [typeof seen === "number" ? seen : 200, 200]);
    const paths = origin.requests.map(({ target }) => target);
    assert.equal(paths.at(-1), "/next");
    if (typeof seen === "string") assert.deepEqual(paths, [seen, "/next"]);
    assert.deepEqual(origin.faults, []);
  });
}

test("the edge refuses endless header fields, sent byte by byte, at the limit", async () => {
  const client = rawClient(edge.http);
  client.send(G);
  for (let sent = G.length; sent < 34_000 && !client.received(); sent++) {
    client.send("X: y\r\n"[sent % 6]!);
    if (sent % 64 === 0) await new Promise((done) => setImmediate(done));
  }
  assert.match(await client.closed(), /^HTTP\/1\.1 (?:400|431) /);
});

test("the edge closes plain HTTP on the TLS port and sends nothing to the origin", async () => {
  origin.reset();
  assert.doesNotMatch(await exchangeRaw(edge.https, `${G}\r\n`), /^HTTP\/1\.1 2/);
  assert.equal(origin.received(), "");
});

test("the edge removes fields such as Content_Length that a CGI-like origin would read as framing", async () => {
  origin.reset();
  await exchangeRaw(edge.http, `${P}Content_Length: 5\r\nTransfer_Encoding: chunked\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok`);
  assert.match(origin.received(), /^POST \/first /);
  assert.doesNotMatch(origin.received(), /_length|_encoding/i);
  assert.equal(origin.requests[0]!.body, "ok");
});

test("the tests above cause no unexpected error, and the edge still serves", async () => {
  assert.deepEqual(edge.errors, []);
  assert.match(await exchangeRaw(edge.http, `${G}Connection: close\r\n\r\n`), /^HTTP\/1\.1 200 /);
});

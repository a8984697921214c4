import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { codingOf } from "#rules/body/codings.ts";
import { eachInner } from "#rules/body/inner-values.ts";
import { readBody } from "#rules/body/read-body.ts";
import { beginCharging, endCharging, type Spending } from "#rules/budget.ts";
import { MANAGED_RULESET_ID } from "./request-rulesets.ts";
import { managedMatches, type RequestChanges } from "./testing/managed-request.ts";

const ATTACKS = ["x; cat /etc/shadow", "-7' UNION SELECT login,secret FROM members-- x", "<script>alert(1)</script>"];
const HONEST = "Conor O'Brien; see 1 or 2 of the rooms";
const isBlocked = (request: RequestChanges): boolean =>
  managedMatches(MANAGED_RULESET_ID, request).some(({ action }) => action === "block");

const base64 = (text: string | Buffer): string => Buffer.from(text).toString("base64");
const url64 = (text: string | Buffer): string => Buffer.from(text).toString("base64url");
const cookie = (value: string): RequestChanges => ({ headers: { Cookie: [`session=${value}`] } });
const SIGNATURE = url64("signature-signature-");
const json = (text: string): string => JSON.stringify({ u: text });
/** Packed bytes that begin like a text, because of letters before the attack. */
function packedAsText(text: string): string {
  const pack = (before: string): Buffer => deflateRawSync(before + text, { strategy: constants.Z_FIXED });
  let before = "";
  for (let length = 1; length <= 36; length++)
    before +=
      [..."abcdefghijklmnopqrstuvwxyz0123456789"].find((letter) => PRINTABLE.test(pack(before + letter).toString("latin1", 0, length))) ??
      "-";
  const bytes = pack(before);
  assert.match(bytes.toString("latin1", 0, 32), PRINTABLE);
  return url64(bytes);
}
const PRINTABLE = /^[\t\r\n -~\x80-\xff]+$/;
const packed = (text: string): string => `.${url64(deflateSync(json(text.padEnd(90))))}`;

const WRAPPED: Readonly<Record<string, (text: string) => RequestChanges>> = {
  "base64 in a segment of the path": (text) => ({ path: `/find/${url64(text)}/x` }),
  "base64 with padding in a segment": (text) => ({ path: `/find/${encodeURIComponent(base64(`${text} `))}` }),
  "hexadecimal in a segment": (text) => ({ path: `/find/${Buffer.from(text).toString("hex")}` }),
  "JSON in base64 in a segment": (text) => ({ path: `/find/${url64(json(text))}` }),
  "base64 with an extension": (text) => ({ path: `/find/${url64(text)}.json` }),
  "a token in a segment": (text) => ({ path: `/t/${url64('{"alg":"HS256"}')}.${url64(json(text))}.c2ln` }),
  "claims in lines": (text) => cookie(`${url64('{"alg":"HS256"}')}.${url64(JSON.stringify({ u: text }, null, 1))}.c2ln`),
  "claims with letters of other languages": (text) => cookie(`${url64('{"alg":"HS256"}')}.${url64(json(`${text} Jos\u00e9 \uff9e`))}.c2ln`),
  "a session of Flask": (text) => cookie(`${url64(json(text))}.ZabcDE.${SIGNATURE}`),
  "a packed session of Flask": (text) => cookie(`${packed(text)}.ZabcDE.${SIGNATURE}`),
  "messages of Django": (text) => cookie(`${url64(json(text))}:1tabcD:${SIGNATURE}`),
  "packed messages of Django": (text) => cookie(`${packed(text)}:1tabcD:${SIGNATURE}`),
  "a signed value of Django in an argument": (text) => ({ query: `s=${encodeURIComponent(`${url64(json(text))}:1tabcD:${SIGNATURE}`)}` }),
  "a cookie of Rails": (text) => cookie(`${base64(json(text))}--${"0123456789abcdef".repeat(4)}`),
  "an encoded cookie of Rails": (text) => cookie(encodeURIComponent(`${base64(json(`${text}.`))}--${"0123456789abcdef".repeat(4)}`)),
  "a cookie of Tornado": (text) =>
    cookie(`"2|1:0|10:1700000000|4:user|${base64(text).length}:${base64(text)}|${"0123456789abcdef".repeat(4)}"`),
  "packed bytes that begin as a text": (text) => cookie(packedAsText(text.padEnd(40))),
  "a name of a document": (text) => ({ query: `d=${encodeURIComponent(JSON.stringify([{ [text.replace("cat", "c''at")]: 1 }]))}` }),
  "a pair in a long text": (text) => ({
    headers: { "content-type": ["text/plain"] },
    body: `${"a sentence & another = one; and more\n".repeat(400)}&q=${encodeURIComponent(text)}&x=1`,
  }),
  "an attribute and a text in a document in a part with a file name": (text) => ({
    headers: { "content-type": ["multipart/form-data; boundary=X"] },
    body: `--X\r\nContent-Disposition: form-data; name="a"; filename="blob"\r\nContent-Type: text/xml\r\n\r\n<a><b c="1">${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</b></a>\r\n--X--\r\n`,
  }),
  "a version before base64": (text) => cookie(`v1.${url64(text)}`),
  "a signature behind base64": (text) => cookie(`${url64(text)}.${SIGNATURE}`),
  "a public token": (text) => ({ headers: { Authorization: [`Bearer v4.public.${url64(json(text))}`] } }),
  "a form in a part with a file name": (text) => ({
    headers: { "content-type": ["multipart/form-data; boundary=X"] },
    body: `--X\r\nContent-Disposition: form-data; name="a"; filename="b"\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=1&q=${encodeURIComponent(text)}\r\n--X--\r\n`,
  }),
};

const PACKERS = {
  gzip: gzipSync,
  deflate: deflateSync,
  "deflate without a head": deflateRawSync,
  Brotli: brotliCompressSync,
  zstd: zstdCompressSync,
};
for (const [coding, pack] of Object.entries(PACKERS))
  for (const type of ["application/x-www-form-urlencoded", "application/octet-stream", "text/plain", ""])
    findsIn(`${coding} without Content-Encoding, as "${type}"`, (text) => ({
      headers: type === "" ? {} : { "content-type": [type] },
      body: pack(type.includes("form") ? `a=1&q=${encodeURIComponent(text)}` : json(text)).toString("latin1"),
    }));
for (const [name, wrap] of Object.entries(WRAPPED)) findsIn(name, wrap);

function findsIn(name: string, wrap: (text: string) => RequestChanges): void {
  test(`an attack is found where frameworks unpack it: ${name}`, () => {
    assert.deepEqual(
      ATTACKS.filter((text) => !isBlocked(wrap(text))),
      [],
    );
    assert.ok(!isBlocked(wrap(HONEST)), "an honest text");
  });
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "If-None-Match": ['W/"0815-4a"', '"a", "b"', "*"],
  "If-Match": ['"xyzzy"'],
  Accept: ["text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "application/json; charset=utf-8"],
  "Accept-Encoding": ["gzip, deflate, br;q=0.5"],
  "Accept-Language": ["de-DE,de;q=0.9,en;q=0.8"],
  "Cache-Control": ['max-age=0, no-cache, private="x"'],
  Connection: ["keep-alive, Upgrade"],
  Date: ["Sat, 28 Nov 2026 22:44:44 GMT"],
  "If-Modified-Since": ["Sat, 28 Nov 2026 22:44:44 GMT"],
  DNT: ["1"],
  Expect: ["100-continue"],
  Host: ["shop.example:8443", "[2001:db8::1]:443"],
  Pragma: ["no-cache"],
  "Sec-CH-UA": ['"Chromium";v="130", "Google Chrome";v="130", "Not?A_Brand";v="99"', '" Not A;Brand";v="99"', '"Not)A;Brand";v="8"'],
  "Sec-Fetch-Dest": ["document"],
  "Sec-WebSocket-Key": ["dGhlIHNhbXBsZSBub25jZQ=="],
  "Sec-WebSocket-Extensions": ["permessage-deflate; client_max_window_bits"],
  TE: ["trailers, deflate;q=0.5"],
  Upgrade: ["websocket", "h2c, HTTP/2.0"],
  Range: ["bytes=0-499, -500"],
  "If-Range": ['"a"'],
  Via: ["1.1 cache-01.example (squid/6)"],
  Forwarded: ['for=192.0.2.60;proto=http;by="[2001:db8::1]"'],
  "X-Forwarded-For": ["203.0.113.9, 10.0.0.1"],
  "X-Anything": ["a b"],
};

/** Fields in which an attack is searched behind elements that fit. */
const LISTS = new Set([
  "If-None-Match",
  "If-Match",
  "Accept",
  "Accept-Encoding",
  "Accept-Language",
  "Cache-Control",
  "Connection",
  "Pragma",
  "TE",
  "Upgrade",
  "Sec-CH-UA",
]);

for (const [name, honest] of Object.entries(FIELDS))
  test(`a field with its own grammar is searched unless its value fits: ${name}`, () => {
    assert.deepEqual(
      ATTACKS.filter((text) => !isBlocked({ headers: { [name]: [text] } })),
      [],
    );
    for (const text of LISTS.has(name) ? ATTACKS.slice(0, 2) : [])
      assert.ok(isBlocked({ headers: { [name]: [`${honest[0]}, ${text}`] } }), text);
    for (const text of honest) assert.ok(!isBlocked({ headers: { [name]: [text] } }), text);
  });

test("a field of many parameters without their closing quotes takes little time", () => {
  const started = process.cpuUsage();
  for (const unit of ['a=";', 'a; a="', '";a=', "a=;_b"]) {
    isBlocked({ headers: { Accept: [unit.repeat(2000)] } });
    isBlocked({ headers: { Accept: [unit.repeat(26), unit.repeat(39)] } });
  }
  assert.ok(process.cpuUsage(started).user < 2_000_000);
});

test("letters that fold to ASCII by case, form or mark do not hide a word", () => {
  const letters = new Map<string, string[]>();
  for (let point = 0x80; point < 0x20000; point++) {
    const char = String.fromCodePoint(point);
    // An isolated surrogate is not a character, and those of Latin-1 with marks stay themselves in every Western character set.
    if (/[\p{Cs}\p{Cn}]/u.test(char) || (point >= 0xc0 && point < 0x100)) continue;
    for (const fold of [char.normalize("NFKC").toLowerCase(), char.toLowerCase(), char.toUpperCase().toLowerCase()])
      if (/^[a-z]$/.test(fold) && !letters.get(fold)?.includes(char)) letters.set(fold, [...(letters.get(fold) ?? []), char]);
  }
  const texts = [..."union"].flatMap((letter, i) =>
    (letters.get(letter) ?? []).map((char) => `-1 ${"union".slice(0, i)}${char}${"union".slice(i + 1)} select a,b from c-- `),
  );
  texts.push(...(letters.get("s") ?? []).map((char) => `-1 union ${char}elect a,b from c-- `), "-1 un\u0131on select a,b from c-- ");
  assert.ok(texts.length >= 90, `only ${texts.length} are tried`);
  assert.deepEqual(
    texts.filter((text) => !isBlocked({ query: `q=${encodeURIComponent(text)}` })),
    [],
  );
  for (const text of [
    "Gda\u0144sk \u0142\u00f3d\u017a",
    "5 m\u00b2 \u2116 7 \u2026 \u201cword\u201d \u20ac",
    "\u0434\u0430 \u043f\u02bc\u044f\u0442\u044c 5\u2032",
  ])
    assert.ok(!isBlocked({ query: `q=${encodeURIComponent(text)}` }), text);
});

test("identifiers are not unpacked, so that a list of them takes few steps", () => {
  const spending: Spending = { steps: 0, exhausted: null };
  beginCharging(spending, "request");
  for (let i = 0; i < 1000; i++) eachInner(`Identifier${i * 7919}of`, () => undefined);
  endCharging(spending);
  assert.ok(spending.steps < 3_000_000, `${spending.steps} steps`);
});

for (const [coding, pack] of Object.entries(PACKERS))
  test(`a body that unpacks to more than rules read is not a whole one without Content-Encoding, either: ${coding}`, () => {
    const raw = pack(`a=1&q=${"x".repeat(2_000_000)}`).toString("latin1");
    const reading = readBody({ raw, truncated: false, contentType: ["application/x-www-form-urlencoded"], contentEncoding: [] });
    assert.ok(reading.causes.has("size"));
  });

test("bodies in UTF-8 are not probed for codings, wherever a character is cut", () => {
  for (const text of ["Za\u017c\u00f3\u0142\u0107 g\u0119\u015bl\u0105 ", "\u65e5\u672c\u8a9e", "x"])
    for (let before = 0; before < 4; before++) {
      const spending: Spending = { steps: 0, exhausted: null };
      beginCharging(spending, "request");
      assert.equal(codingOf(Buffer.from(`${"-".repeat(before)}${text.repeat(200)}`).toString("latin1")), null);
      endCharging(spending);
      assert.equal(spending.steps, 0);
    }
});

test("operations of GraphQL that guess a secret are counted over a whole list", () => {
  const send = (count: number, operation: (i: number) => string): RequestChanges => ({
    headers: { "content-type": ["application/json"] },
    body: JSON.stringify(Array.from({ length: count }, (_, i) => ({ query: operation(i), variables: {} }))),
  });
  for (const field of ["login", "verifyOtp", "resetPassword"]) {
    const guess = (i: number): string => `mutation { ${field}(input: {code: "${1000 + i}"}) { token } }`;
    assert.ok(isBlocked(send(10, guess)), field);
    assert.ok(isBlocked(send(10, (i) => `mutation A($c: String) ${guess(i).slice("mutation ".length)}`)), field);
    assert.ok(!isBlocked(send(1, guess)), field);
  }
  assert.ok(!isBlocked(send(10, (i) => `query Item { item(id: ${i}) { name price } }`)));
  assert.ok(
    !isBlocked(
      send(
        1,
        () => "mutation Login { login(a: 1) { t } } mutation Otp { verifyOtp(c: 1) { t } } mutation Password { resetPassword(c: 1) { t } }",
      ),
    ),
  );
});

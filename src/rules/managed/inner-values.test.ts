import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync, deflateSync } from "node:zlib";
import { MANAGED_RULESET_ID } from "./request-rulesets.ts";
import { managedMatches, type RequestChanges } from "./testing/managed-request.ts";

const SHELL = "x; cat /etc/shadow";
/** Only at the beginning of a value. */
const COMMAND = "& net user admin";
const SQL = "-7' UNION SELECT login,secret FROM members-- x";
const JSON_TYPE = { "content-type": ["application/json"] };
const MULTIPART = { "content-type": ["multipart/form-data; boundary=X"] };
const isBlocked = (request: RequestChanges): boolean =>
  managedMatches(MANAGED_RULESET_ID, request).some(({ action }) => action === "block");

/** With spaces, so that the text begins no word. */
const json = (value: unknown): string => JSON.stringify(value, null, 1);
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const xml = (text: string): string => `<find><id>7</id><name>Ada Lovelace</name><q>${escaped(text)}</q></find>`;
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const file = (type: string, filename: string, text: string): RequestChanges => ({
  headers: MULTIPART,
  body: `--X\r\nContent-Disposition: form-data; name="a"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n${text}\r\n--X--\r\n`,
});
const token = (claims: object, header: object = { alg: "HS256", typ: "JWT" }, before = ""): string =>
  [header, claims].map((part) => Buffer.from(before + JSON.stringify(part)).toString("base64url")).join(".") + ".c2lnbmF0dXJl";
const packed = (type: string, text: string): RequestChanges => ({
  headers: { "content-type": [type] },
  body: `\x08\x96\x01\x12${String.fromCharCode(text.length)}${text}\x18\x01\0\xff\xfe`,
});

const INSIDE: Readonly<Record<string, (text: string) => RequestChanges>> = {
  "JSON in an argument": (text) => ({ query: `f=${encodeURIComponent(json({ a: [{ b: text }] }))}` }),
  "JSON in JSON in JSON": (text) => ({
    headers: JSON_TYPE,
    body: json({ a: json({ b: json([text]) }) }),
  }),
  "JSON in a cookie": (text) => ({ headers: { Cookie: [`s=${encodeURIComponent(json({ a: text }))}`] } }),
  "base64 in an argument": (text) => ({ query: `f=${encodeURIComponent(base64(text))}` }),
  "base64 without padding": (text) => ({ headers: JSON_TYPE, body: JSON.stringify({ a: Buffer.from(text).toString("base64url") }) }),
  "JSON in base64 in a cookie": (text) => ({ headers: { Cookie: [`s=${encodeURIComponent(base64(JSON.stringify({ a: text })))}`] } }),
  "a literal of GraphQL": (text) => ({
    headers: JSON_TYPE,
    body: JSON.stringify({ query: `query Q { user(id: 1, name: ${JSON.stringify(text)}) { id } }` }),
  }),
  "a part of JSON that a script sends": (text) => file("application/json", "blob", JSON.stringify({ a: text })),
  "a part of JSON with a file name": (text) => file("application/json;charset=UTF-8", "a.json", JSON.stringify({ a: text })),
  "a message of protobuf": (text) => packed("application/x-protobuf", text),
  "the claims of a token": (text) => ({ headers: { Authorization: [`Bearer ${token({ sub: "1", name: text })}`] } }),
  "the claims of a token in a cookie": (text) => ({ headers: { Cookie: [`session=${token({ note: text })}`] } }),
  "a name of Basic authentication": (text) => ({ headers: { Authorization: [`Basic ${base64(`${text}:secret`)}`] } }),
  "a password of Basic authentication": (text) => ({ headers: { Authorization: [`basic ${base64(`anna:${text}`)}`] } }),
  "the header of a token": (text) => ({ headers: { Authorization: [`Bearer ${token({ sub: "1" }, { alg: "HS256", kid: text })}`] } }),
  "the header of a token without claims": (text) => ({ query: `t=${token({}, { kid: text }, " ")}` }),
  "a name of Digest authentication": (text) => ({ headers: { Authorization: [`Digest username="${text}", realm="a", uri="/x"`] } }),
  "a key": (text) => ({ headers: { Authorization: [`Token ${text}`] } }),
  "a key without a scheme": (text) => ({ headers: { Authorization: [text] } }),
  "base64 in XML": (text) => ({ headers: { "content-type": ["text/xml"] }, body: `<value><base64>${base64(text)}</base64></value>` }),
  "XML in an argument": (text) => ({ query: `f=${encodeURIComponent(xml(text))}` }),
  "XML in JSON": (text) => ({ headers: JSON_TYPE, body: JSON.stringify({ a: xml(text) }) }),
  "XML in JSON in XML": (text) => ({ headers: { "content-type": ["text/xml"] }, body: xml(JSON.stringify({ a: xml(text) })) }),
  "XML that is declared as plain text": (text) => ({ headers: { "content-type": ["text/plain"] }, body: xml(text) }),
  "XML that is declared as a form": (text) => ({ headers: { "content-type": ["application/x-www-form-urlencoded"] }, body: xml(text) }),
  "an attribute in XML in an argument": (text) => ({ query: `f=${encodeURIComponent(`<r><id a="1" b="${escaped(text)}"/></r>`)}` }),
  "a parameter of a segment": (text) => ({ path: `/find;page=2;q=${encodeURIComponent(text)}/x` }),
  "deflate without its head, in base64": (text) => ({
    query: `f=${encodeURIComponent(deflateRawSync(text.padEnd(80)).toString("base64"))}`,
  }),
  "a data: URL": (text) => ({ headers: JSON_TYPE, body: JSON.stringify({ a: `data:text/plain;base64,${base64(text)}` }) }),
  "a long line in base64": (text) => ({ headers: JSON_TYPE, body: JSON.stringify({ a: base64(text.padEnd(3000)) }) }),
  "deflate in base64": (text) => ({ query: `f=${encodeURIComponent(deflateSync(text.padEnd(80)).toString("base64"))}` }),
  hexadecimal: (text) => ({ query: `f=${Buffer.from(text).toString("hex")}` }),
  "an encoded word as a file name": (text) => file("image/png", `=?UTF-8?B?${base64(text)}?=`, "\x89PNG\r\n\x1a\n"),
  "a quoted word as a file name": (text) =>
    file(
      "image/png",
      `=?utf-8?Q?${text.replace(/[^a-z0-9]/gi, (char) => `=${char.charCodeAt(0).toString(16).padStart(2, "0")}`)}?=`,
      "\x89PNG\r\n\x1a\n",
    ),
  "a file name": (text) => file("image/png", text, "\x89PNG\r\n\x1a\n"),
  "an argument of the referring page": (text) => ({
    headers: { Referer: [`https://shop.example/find?page=2&q=${encodeURIComponent(text)}`] },
  }),
  "a segment of the referring page": (text) => ({ headers: { Referer: [`https://shop.example/find/${encodeURIComponent(text)}/x`] } }),
  "a segment of the path": (text) => ({ path: `/find/${encodeURIComponent(text)}/x` }),
  "a message of gRPC in base64": (text) => ({
    headers: { "content-type": ["application/grpc-web-text"] },
    body: base64(`\0\0\0\0${String.fromCharCode(text.length + 2)}\x0a${String.fromCharCode(text.length)}`) + base64(text),
  }),
  "a message of gRPC": (text) => packed("application/grpc-web+proto", text),
};

for (const [name, of] of Object.entries(INSIDE))
  test(`an attack is found inside a value: ${name}`, () => {
    assert.ok(isBlocked(of(SHELL)), "a command");
    assert.ok(isBlocked(of(SQL)), "SQL");
    assert.ok(isBlocked(of(COMMAND)), "the beginning of a value");
    assert.ok(!isBlocked(of("Conor O'Brien; see 1 or 2 of the rooms")), "an honest text");
  });

test("a document with external entities is found in a message of SAML, in one line or several, packed or not", () => {
  for (const gap of [" ", "\n"])
    for (const pack of [(text: string) => Buffer.from(text), deflateRawSync, deflateSync]) {
      const document = `<?xml version="1.0"?>${gap}<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]>${gap}<r>&x;</r>`;
      assert.ok(isBlocked({ query: `SAMLRequest=${encodeURIComponent(pack(document).toString("base64"))}&RelayState=/` }));
    }
  const message =
    '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1"\n Version="2.0"><a>x</a></samlp:AuthnRequest>';
  assert.ok(!isBlocked({ query: `SAMLRequest=${encodeURIComponent(deflateRawSync(message).toString("base64"))}` }));
});

test("credentials of ordinary schemes are not blocked", () => {
  for (const text of [
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79",
    'Digest username="Mufasa O\'Brien", realm="http-auth@example.org", uri="/dir/index.html?a=1&b=2", algorithm=MD5, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, qop=auth',
    'OAuth realm="https://photos.example.net/", oauth_signature_method="HMAC-SHA1", oauth_signature="bYT5CMsGcbgUdFHObYMEfcx6bsw%3D"',
    "Negotiate YIIJvwYGKwYBBQUCoIIJszCCCa+gMDAuBgkqhkiC9xIBAgIGCSqGSIb3EgECAg==",
    'Signature keyId="https://a.example/users/1#main-key",algorithm="rsa-sha256",headers="(request-target) host date",signature="Y2FiYWIxNGRiZDk4ZA=="',
    'GoogleLogin auth=abc.def; path="/"',
    "ApiKey key-id:s3cr3t+/=",
    'hawk id="dh37fgj492je", ts="1353832234", nonce="j4h3g2", ext="some-app-ext-data", mac="6R4rV5iE+NPoym+WwjeHzjAGXUtLNIxmo1vpMofpLAE="',
  ])
    assert.ok(!isBlocked({ headers: { Authorization: [text] } }), text);
});

test("an inclusion of another document is found whatever its prefix", () => {
  const body = '<r xmlns:foo="http://www.w3.org/2001/XInclude"><foo:include parse="text" href="settings.xml"/></r>';
  assert.ok(isBlocked({ headers: { "content-type": ["application/xml"] }, body }));
});

test("texts of files are not searched, sent as a part, in base64 or as a body", () => {
  const script = "#!/bin/sh\ncat /etc/shadow\n<script>alert(1)</script>\n";
  assert.ok(!isBlocked({ headers: JSON_TYPE, body: JSON.stringify({ content: base64(script) }) }));
  assert.ok(!isBlocked(file("text/plain", "notes.txt", SHELL)));
  assert.ok(!isBlocked({ headers: { "content-type": ["application/octet-stream"] }, body: `\0\x01\xff\xfe${SHELL}\0\x02\x03` }));
});

const HONEST = [
  "$ref: '#/components/schemas/User'",
  "LDAP filter (&(objectClass=user)(sAMAccountName=jdoe))",
  "file:///home/anna/report.pdf does not open",
  "etc/passwd.md",
  '<blockquote class="twitter-tweet"><p>x</p></blockquote> <script async src="https://platform.twitter.com/widgets.js" charset="utf-8"></script>',
  '<script type="application/ld+json">{"@type":"Person"}</script>',
  "open C:\\Windows\\System32\\drivers\\etc\\hosts in an editor",
  "why is $_GET['id'] empty here?",
  "4 or 5",
  "what does <script> do in a page",
  "=QUERY(A:C;\"select A, sum(B) where C = 'x' group by A\")",
  "/home/anna/.config/app/settings.json",
  "$stmt = $pdo->prepare('SELECT * FROM users WHERE id = ?'); $stmt->execute([$id]);",
  "true or false",
  "startswith(Name,'A') and (indexof(Name,'or') ge 0)",
  "window.onload = function() { start('x'); };",
  "import a from '../../../components/Button'; import b from \"../../../../lib/index.js\";",
  "`kubectl get pods -A` shows three pods",
];

for (const text of HONEST)
  test(`an honest text is not blocked: ${text}`, () => assert.ok(!isBlocked({ query: `q=${encodeURIComponent(text)}` })));

test("programs are uploaded, scripts of servers are not", () => {
  for (const name of ["homework.py", "setup.exe", "run.sh"]) assert.ok(!isBlocked(file("text/plain", name, "print(1)")), name);
  for (const name of ["a.php", "a.jsp", "a.aspx", "a.php.jpg"]) assert.ok(isBlocked(file("text/plain", name, "a")), name);
});

const HONEST_ADDRESSES = ["6' x 4' rug", "Guns N' Roses & friends", "'", "l'été; ça va", "price > 5 and price < 9"];

for (const text of HONEST_ADDRESSES)
  test(`an honest search is not blocked as the page that a visitor comes from: ${text}`, () => {
    const q = encodeURIComponent(text).replaceAll("%20", "+");
    assert.ok(!isBlocked({ headers: { Referer: [`https://www.google.com/search?q=${q}&hl=en`] } }));
    assert.ok(!isBlocked({ path: `/tags/${encodeURIComponent(text)}` }));
  });

const HONEST_NAMES = [
  "O'Brien's CV (final).pdf",
  "Invoice 5; copy & annex.docx",
  "50% off!.gif",
  "select from where.png",
  "a -- b; c.txt",
  "C:\\fakepath\\photo.jpg",
];

for (const name of HONEST_NAMES)
  test(`an honest file name is not blocked: ${name}`, () => assert.ok(!isBlocked(file("image/png", name, "\x89PNG\r\n\x1a\n"))));

test("conditions on columns are not taken for operators of an attack in a filter", () => {
  assert.ok(!isBlocked({ headers: JSON_TYPE, body: JSON.stringify({ where: { age: { $gte: 21 }, $or: [{ a: 1 }, { b: 2 }] } }) }));
  assert.ok(!isBlocked({ query: "filters[title][$eq]=x&filters[$or][0][a][$eq]=1" }));
  assert.ok(isBlocked({ headers: JSON_TYPE, body: JSON.stringify({ password: { $gt: "" } }) }));
  assert.ok(isBlocked({ headers: JSON_TYPE, body: JSON.stringify({ where: { password: { $ne: 1 } } }) }));
});

test("an interface for databases at the root of a site is not taken for a scanner's target", () => {
  assert.ok(!isBlocked({ path: "/adminer.php", query: "username=anna&db=shop" }));
  assert.ok(isBlocked({ path: "/boaform/admin/formLogin" }));
});

test("bytes without a type are not taken for a text", () => {
  const bytes = Array.from({ length: 4000 }, (_, i) => String.fromCharCode((i * 7919 + (i >> 3) * 31) % 256)).join("");
  assert.ok(!isBlocked({ headers: {}, body: `${bytes}' or 1=1-- \0\x01\x02` }));
  assert.ok(isBlocked({ headers: {}, body: SQL }));
});

test("texts of documents are values, except in HTML", () => {
  const sent = (text: string): RequestChanges => ({ headers: JSON_TYPE, body: JSON.stringify({ text }) });
  for (const tag of ["td", "code", "li", "h2", "p class='a'"]) {
    const [name = ""] = tag.split(" ");
    assert.ok(!isBlocked(sent(`<${tag}>${COMMAND}</${name}> is how they sign in`)), tag);
  }
  assert.ok(isBlocked(sent(`<user>${COMMAND}</user>`)));
});

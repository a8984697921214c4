import assert from "node:assert/strict";
import { test } from "node:test";
import { MANAGED_RULESET_ID } from "./request-rulesets.ts";
import { managedMatches, type RequestChanges } from "./testing/managed-request.ts";

const SHELL = "x; cat /etc/shadow";
const SQL = "-7' UNION SELECT login,secret FROM members-- x";
const JSON_TYPE = { "content-type": ["application/json"] };
const MULTIPART = { "content-type": ["multipart/form-data; boundary=X"] };
const isBlocked = (request: RequestChanges): boolean =>
  managedMatches(MANAGED_RULESET_ID, request).some(({ action }) => action === "block");

/** With spaces, so that the text begins no word. */
const json = (value: unknown): string => JSON.stringify(value, null, 1);
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const file = (type: string, filename: string, text: string): RequestChanges => ({
  headers: MULTIPART,
  body: `--X\r\nContent-Disposition: form-data; name="a"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n${text}\r\n--X--\r\n`,
});
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
  "a message of gRPC": (text) => packed("application/grpc-web+proto", text),
};

for (const [name, of] of Object.entries(INSIDE))
  test(`an attack is found inside a value: ${name}`, () => {
    assert.ok(isBlocked(of(SHELL)), "a command");
    assert.ok(isBlocked(of(SQL)), "SQL");
    assert.ok(!isBlocked(of("Conor O'Brien; see 1 or 2 of the rooms")), "an honest text");
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
];

for (const text of HONEST)
  test(`an honest text is not blocked: ${text}`, () => assert.ok(!isBlocked({ query: `q=${encodeURIComponent(text)}` })));

test("programs are uploaded, scripts of servers are not", () => {
  for (const name of ["homework.py", "setup.exe", "run.sh"]) assert.ok(!isBlocked(file("text/plain", name, "print(1)")), name);
  for (const name of ["a.php", "a.jsp", "a.aspx", "a.php.jpg"]) assert.ok(isBlocked(file("text/plain", name, "a")), name);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseResponseHead } from "#wire/http/head.ts";
import { Head } from "#wire/http/parsed-head.ts";
import { forwardedFields } from "#wire/http/write.ts";
import { Exchange } from "#edge/exchange/exchange.ts";
import { pageFields } from "#edge/exchange/page-fields.ts";
import { fieldChange } from "#rules/actions/field-change.ts";
import { addedLines, changeField, dropEdited, type ResponseEdits } from "./header-edits.ts";

const edits: ResponseEdits = { drop: ["server", "cache-control", "content-length", "x_^"], add: [] };
for (const [name, value] of [
  ["Strict-Transport-Security", "max-age=1"],
  ["X-Evil", "a\r\nSet-Cookie: b"],
  ["X Evil", "a"],
] as const)
  changeField(edits, fieldChange(name, "add", value));

test("an edit removes the named fields in any letter case, and no others", () => {
  const buffer = Buffer.from("HTTP/1.1 200 OK\r\nSERVER: a\r\nServer_: b\r\nDate: c\r\nserver: d\r\nX_^: e\r\nX_~: f\r\n\r\n");
  const head = new Head();
  assert.equal(parseResponseHead(buffer, 0, buffer.length, head), 0);
  dropEdited(buffer, head, edits);
  assert.equal(forwardedFields(buffer, head), "Server_: b\r\nDate: c\r\nX_~: f\r\n");
});

test("an edit does not add a field value that contains a line end", () => {
  assert.equal(addedLines(edits), "Strict-Transport-Security: max-age=1\r\n");
});

test("edits apply to the edge's own pages, but keep their Content-Length", () => {
  const exchange = new Exchange("0123456789abcdef", 0, 0, {
    clientIp: "192.0.2.1",
    scheme: "https",
    tls: { version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256" },
  });
  exchange.responseEdits = edits;
  const page = { status: 403, reason: "Access denied", contentType: "text/plain", body: "no" };
  assert.deepEqual(pageFields(page, 2, exchange, "svc-ray"), [
    ["Date", "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["Content-Type", "text/plain"],
    ["Content-Length", "2"],
    ["X-Content-Type-Options", "nosniff"],
    ["Strict-Transport-Security", "max-age=1"],
    ["svc-ray", "0123456789abcdef"],
  ]);
});

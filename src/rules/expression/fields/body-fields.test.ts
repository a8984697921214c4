import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ODD_REQUESTS } from "#rules/body/testing/odd-bodies.cases.ts";
import { HONEST_REQUESTS } from "#rules/body/testing/honest-bodies.cases.ts";
import { compileExpression } from "#rules/expression/expression.ts";
import { testRequest } from "#rules/testing/views.ts";
import type { RequestView } from "#rules/views.ts";

const FORM = "application/x-www-form-urlencoded";

const sent = (body: string, headers: Readonly<Record<string, readonly string[]>> = {}, query = ""): RequestView =>
  testRequest({ method: "POST", query, headers, body: { raw: body, size: body.length, truncated: false } });
const holds = (expression: string, request: RequestView): boolean =>
  compileExpression(expression, "http_request_firewall_custom")(request, null);

const MANY = "a&".repeat(4096);
const part = (name: string, value: string): string => `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

test("no number of pairs, parts or cookies hides a later one", () => {
  const form = { "content-type": [FORM] };
  for (const [expression, request] of [
    ['any(http.request.body.form["q"][*] eq "EVIL")', sent(`${MANY}q=EVIL`, form)],
    ['any(http.request.body.form.values[*] eq "EVIL")', sent(`${"a=1&".repeat(10_000)}q=EVIL`, form)],
    ['any(http.request.uri.args["q"][*] eq "EVIL")', sent("", {}, `${MANY}q=EVIL`)],
    ['any(http.request.cookies["q"][*] eq "EVIL")', sent("", { cookie: [`${"a=1;".repeat(4096)}q=EVIL`] })],
    [
      'any(http.request.body.multipart["q"][*] eq "EVIL")',
      sent(`${part("a", "1").repeat(1001)}${part("q", "EVIL")}--X--\r\n`, { "content-type": ["multipart/form-data; boundary=X"] }),
    ],
  ] as const)
    assert.ok(holds(`${expression} and not http.request.body.truncated`, request), expression);
});

test("a compressed body is shown decompressed, and form fields are shown also as sent", () => {
  const coded = (type: string, body: string): RequestView =>
    sent(gzipSync(body).toString("latin1"), { "content-type": [type], "content-encoding": ["gzip"] });
  for (const [expression, request] of [
    ['http.request.body.raw eq "an attack"', coded("text/plain", "an attack")],
    ['lookup_json_string(http.request.body.raw, "q") eq "EVIL"', coded("application/json", '{"q":"EVIL"}')],
    ['any(http.request.body.form["q"][*] eq "EVIL")', coded(FORM, "q=EVIL")],
    ['any(http.request.body.multipart["q"][*] eq "EVIL")', coded("multipart/form-data; boundary=X", `${part("q", "EVIL")}--X--\r\n`)],
    ["http.request.body.size lt 60", coded(FORM, "a".repeat(1000))],
  ] as const)
    assert.ok(holds(`${expression} and not http.request.body.truncated`, request), expression);
  const polyglot = ODD_REQUESTS.find(({ name }) => name === "coding: a name in the header");
  const asSent = sent(polyglot?.body ?? "", { "content-type": [FORM], "content-encoding": ["gzip"] });
  assert.ok(holds('any(http.request.body.form["q"][*] eq "EVIL")', asSent));
});

test("an ambiguous body is marked as truncated, and a benign one is not", () => {
  const truncated = (row: (typeof ODD_REQUESTS)[number]): boolean =>
    holds("http.request.body.truncated", sent(row.body ?? "", { "content-type": row.types ?? [], "content-encoding": row.codings ?? [] }));
  assert.deepEqual(HONEST_REQUESTS.filter(truncated), []);
  const json = ODD_REQUESTS.filter(({ name, types = [] }) => name.startsWith("json: ") && types[0] === "application/json");
  const isShown = (row: (typeof ODD_REQUESTS)[number]): boolean =>
    holds('lookup_json_string(http.request.body.raw, "q") eq "EVIL"', sent(row.body ?? "", { "content-type": row.types ?? [] }));
  assert.deepEqual(
    json.filter((row) => !isShown(row) && !truncated(row)).map(({ name }) => name),
    // A text that is a form has no member of any name.
    ["json: a text that is a form"],
  );
  const parts = ODD_REQUESTS.filter(
    ({ name, types = [] }) => name.startsWith("multipart: ") && types[0]?.startsWith("multipart/form-data"),
  );
  const isPart = (row: (typeof ODD_REQUESTS)[number]): boolean =>
    holds(
      'any(http.request.body.multipart.values[*] contains "EVIL") or any(http.request.body.multipart["q"][*] contains "EVIL")',
      sent(row.body ?? "", { "content-type": row.types ?? [] }),
    );
  assert.deepEqual(
    parts.filter((row) => !isPart(row) && !truncated(row)).map(({ name }) => name),
    // The part is shown as it was sent, which is JSON.
    ["multipart: head: JSON"],
  );
});

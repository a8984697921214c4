import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

let server: ApiServer;
let zone: string;

before(async () => {
  server = await startApi();
  const { body } = await ask(server, "POST", "/zones", { body: { name: "expressions.test", account: { id: server.account_id } } });
  zone = `/zones/${body.result.id}/rulesets/expressions`;
  await ask(server, "POST", `/accounts/${server.account_id}/rules/lists`, { body: { name: "office", kind: "ip" } });
});
after(() => server.close());

const check = async (body: object, path = zone) => (await ask(server, "POST", path, { body })).body.result;
const PHASE = "http_request_firewall_custom";

test("an expression is formatted, and its first error has a position", async () => {
  assert.deepEqual(await check({ expression: '(http.host=="a")&&ip.src in $office', phase: PHASE }), {
    formatted: 'http.host eq "a" and ip.src in $office',
    problem: null,
  });
  const wrong = await check({ expression: "true and\nhttp.response.code eq 1", phase: PHASE });
  assert.equal(wrong.formatted, "true and http.response.code eq 1");
  assert.deepEqual([wrong.problem.line, wrong.problem.column], [2, 1]);
  const unreadable = await check({ expression: "ip.src ==", phase: PHASE });
  assert.equal(unreadable.formatted, null);
  assert.match(unreadable.problem.message, /^Filter parsing error \(1:\d+\):\n/);
  assert.match((await check({ expression: "ip.src in $none", phase: PHASE })).problem.message, /none/);
  const value = { expression: 'concat("a",http.host)', phase: "http_request_transform", use: "value" };
  assert.deepEqual(await check(value), { formatted: 'concat("a", http.host)', problem: null });
});

test("completions offer the names that are allowed at a position, including the account's lists", async () => {
  const at = async (expression: string, path?: string) => {
    const { completions } = await check({ expression, phase: PHASE, complete_at: expression.length }, path);
    return completions.items.map(({ label }: { readonly label: string }) => label);
  };
  assert.deepEqual(await at("http.request.uri.pa"), ["http.request.uri.path", "http.request.uri.path.extension"]);
  assert.deepEqual(await at("ip.src in "), ["$office"]);
  assert.deepEqual(await at("ssl ", `/accounts/${server.account_id}/rulesets/expressions`), ["and", "or", "xor"]);
});

test("the language table of a phase lists the fields and functions of its expressions", async () => {
  const table = async (phase: string) => (await ask(server, "GET", `${zone}/language?phase=${phase}`)).body.result;
  const [early, late] = [await table(PHASE), await table("http_response_headers_transform")];
  const names = (rows: readonly { readonly name: string }[]): readonly string[] => rows.map(({ name }) => name);
  assert.ok(!names(early.fields).includes("http.response.code") && names(late.fields).includes("http.response.code"));
  assert.ok(names(early.operators).includes("strict wildcard") && names(early.functions).includes("lower"));
  assert.equal(early.fields.find(({ name }: { readonly name: string }) => name === "cf.bot_management.score").is_missing, true);
  const none = await ask(server, "GET", `${zone}/language?phase=none`);
  assert.deepEqual([none.status, none.body.errors[0].code], [400, 20015]);
});

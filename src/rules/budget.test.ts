import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { bytesToRead } from "#rules/body/request-body.ts";
import { BODY_BYTES, FORM, HOSTS, posted, WORST, worstRequest } from "#rules/testing/budget.cases.ts";
import { charge, STEPS_MAX, stepsMax } from "./budget.ts";
import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { MANAGED_RULESETS } from "./managed/rulesets.ts";
import { createRedirectList } from "#rules/lists/redirect-list.ts";
import { createRun, createTracedRun, type RuleRun } from "#rules/engine/run.ts";
import { testRequest, testResponse } from "#rules/testing/views.ts";
import type { CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { RuleDefinition } from "./definition.ts";
import type { RequestView } from "./views.ts";

const CUSTOM = "http_request_firewall_custom";
/** As many as a ruleset may have. */
const RULES = 1000;

const rulesOf = (expressions: readonly string[], action = "log"): readonly RuleDefinition[] =>
  expressions.map((expression, i) => ({ id: `rule-${i}`, action, action_parameters: {}, expression, enabled: true, description: "" }));

function compiled(expressions: readonly string[], phase = CUSTOM) {
  const ruleset = compileRuleset({ id: "z", phase, rules: rulesOf(expressions) }, { lists: { find: () => HOSTS } });
  assert.deepEqual(ruleset.problems, []);
  return ruleset;
}

function judged(ruleset: CompiledRuleset, request: RequestView, run: RuleRun = createRun()): RuleRun {
  runPhase([ruleset], run, request, null);
  return run;
}

for (const row of WORST) {
  const { name, expression, learns } = row;
  const kind = `${name}:`;
  test(`${kind} the most of the worst rules over the largest body are stopped, at the same rule each time`, () => {
    const ruleset = compiled(Array.from({ length: RULES }, (_, i) => expression(i)));
    const first = judged(ruleset, worstRequest(row));
    assert.ok(first.exhausted !== null, `${first.steps} steps`);
    assert.equal(first.exhausted.phase, CUSTOM);
    assert.match(first.exhausted.rule_id, /^rule-\d+$/);
    assert.equal(first.steps, stepsMax(worstRequest(row).body?.raw.length ?? 0));
    // Replaces the remembered results of earlier tests.
    judged(ruleset, posted("other"));
    const again = judged(ruleset, worstRequest(row));
    assert.ok(again.exhausted !== null, `${again.steps} steps`);
    if (learns !== true) assert.deepEqual(again.exhausted, first.exhausted);
    // A trace costs what the request does.
    const traced = createTracedRun();
    judged(ruleset, worstRequest(row), traced);
    assert.equal(traced.trace.steps.at(-1)?.result, "exhausted");
    if (learns !== true) assert.deepEqual(traced.exhausted, first.exhausted);
  });
}

const WORDS = "the quick brown fox jumps over the lazy dog and 12 others; ";
const ORDINARY = [
  posted(WORDS.repeat(BODY_BYTES / WORDS.length)),
  posted(
    JSON.stringify(Array.from({ length: 1900 }, (_, i) => ({ id: i, name: `user ${i}`, note: "nothing to see here, go on" }))),
    "application/json",
  ),
  posted("name=value+of+it&".repeat(BODY_BYTES / 17), FORM),
  posted(Buffer.alloc(BODY_BYTES * 0.75, WORDS).toString("base64")),
];

test("200 ordinary rules over the largest body take less than a quarter of the step limit", () => {
  const kinds = [
    (i: number) => `http.request.body.raw contains "<script${i}"`,
    (i: number) => `http.request.body.raw matches "(?i)union.{1,100}select${i}"`,
    (i: number) => `lower(http.request.body.raw) contains "evil${i}"`,
    (i: number) => `any(http.request.body.form["q${i}"][*] contains "x") and http.host eq "a${i}.example.com"`,
    (i: number) => `http.request.uri.path matches "^/api/v[0-9]+/users${i}/"`,
    (i: number) => `any(http.request.headers["x-${i}"][*] contains "<")`,
    (i: number) => `http.request.full_uri wildcard "https://*.example.com/old${i}/*"`,
    (i: number) => `ip.src in {192.0.2.0/24} and http.user_agent contains "bot${i}"`,
  ];
  const expressions = [
    ...Array.from({ length: 196 }, (_, i) => kinds[i % kinds.length]!(i)),
    'http.request.body.raw matches "[A-Za-z0-9+/]{200}=="',
    String.raw`http.request.body.raw matches "(?:\\d[ -]?){13,16}!"`,
    'any(http.request.body.form.values[*] contains "<script")',
    'lookup_json_string(http.request.body.raw, 0, "name") eq "root"',
  ];
  const ruleset = compiled(expressions);
  for (const body of ORDINARY) {
    const { steps, exhausted } = judged(ruleset, body);
    assert.equal(exhausted, null);
    assert.ok(steps > 0 && steps < STEPS_MAX / 4, `${steps} steps`);
  }
});

const MANAGED = [...MANAGED_RULESETS.values()].filter(({ phase }) => phase === "http_request_firewall_managed");

function managedOver(body: RequestView): RuleRun {
  const rules = MANAGED.map(({ id }) => ({
    id: `deploys-${id}`,
    action: "execute",
    action_parameters: { id },
    expression: "true",
    enabled: true,
    description: "",
  }));
  const run = createRun();
  runPhase([compileRuleset({ id: "z", phase: "http_request_firewall_managed", rules })], run, { ...body }, null);
  return run;
}

test("all managed rules over the largest body take less than a quarter of the step limit", () => {
  for (const body of ORDINARY) {
    const { steps, exhausted } = managedOver(body);
    assert.equal(exhausted, null);
    assert.ok(steps > 0 && steps < STEPS_MAX / 4, `${steps} steps`);
  }
});

/** Technical prose with nearly every literal of the rows: this project's own documents. */
const DOCUMENTS = ["guides", "reference/api", "adr", "divergences"]
  .flatMap((folder) => {
    const at = new URL(`../../docs/${folder}/`, import.meta.url);
    return readdirSync(at).map((name) => readFileSync(new URL(name, at), "latin1"));
  })
  .join("\n");

test("20 ordinary rules and all managed rules over the longest benign bodies stay within the step limit", () => {
  const BYTES = 1_048_576;
  const upTo = (piece: string, start = "", end = ""): string => start + piece.repeat(Math.floor(BYTES / piece.length)) + end;
  const part = '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\nwhat somebody wrote\r\n';
  const bodies = [
    posted(upTo(WORDS)),
    posted(upTo("name=value+of+it&"), FORM),
    posted(upTo('{"id":12,"name":"user 12","note":"nothing to see here, go on"},', "[", "{}]"), "application/json"),
    posted(upTo("-0.1234567,", "[", "1]"), "application/json"),
    posted(upTo("<item id='12'><name>A lamp &amp; more</name></item>", "<r>", "</r>"), "application/xml"),
    posted(upTo(part, "", "--X--\r\n"), "multipart/form-data; boundary=X"),
    posted(upTo("A picture in bytes \x80\xff ", "", ""), "image/png"),
    posted(DOCUMENTS.slice(0, BYTES)),
    posted(JSON.stringify(DOCUMENTS.slice(0, 0.9 * BYTES).split("\n")), "application/json"),
    posted(`text=${encodeURIComponent(DOCUMENTS.slice(0, 0.7 * BYTES))}`, FORM),
  ];
  const expressions = Array.from({ length: 20 }, (_, i) => `http.request.body.raw contains "<script${i}"`);
  const ruleset = compiled(expressions);
  for (const body of bodies) {
    const run = managedOver(body);
    assert.equal(run.exhausted, null, `${body.headers("content-type").join()}: ${run.steps} steps`);
    judged(ruleset, body, run);
    assert.equal(run.exhausted, null, `${body.headers("content-type").join()} with rules: ${run.steps} steps`);
  }
});

test("an honest compressed body stays within the step limit, and a compression bomb gets at most 21 times the steps of its bytes", () => {
  const BYTES = 1_048_576;
  const texts = [
    posted(DOCUMENTS.slice(0, BYTES)),
    posted(JSON.stringify(DOCUMENTS.slice(0, 0.9 * BYTES).split("\n")), "application/json"),
    posted(`text=${encodeURIComponent(DOCUMENTS.slice(0, 0.7 * BYTES))}`, FORM),
  ];
  for (const [coding, compress] of [
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const) {
    for (const text of texts) {
      const run = managedOver(compressed(text, coding, compress));
      assert.equal(run.exhausted, null, `${coding} ${text.headers("content-type").join()}: ${run.steps} steps`);
    }
    const bomb = compressed(posted("a".repeat(BYTES)), coding, compress);
    assert.ok(bytesToRead(bomb) <= 21 * (bomb.body?.raw.length ?? 0) && bytesToRead(texts[0]!) === BYTES);
  }
  assert.equal(bytesToRead(compressed(posted(DOCUMENTS), "gzip", gzipSync)), gzipSync(Buffer.from(DOCUMENTS, "latin1")).length + BYTES);
});

function compressed(request: RequestView, coding: string, compress: (text: Buffer) => Buffer): RequestView {
  const raw = compress(Buffer.from(request.body?.raw ?? "", "latin1")).toString("latin1");
  const headers = { "content-type": request.headers("content-type"), "content-encoding": [coding] };
  return testRequest({ method: "POST", headers, body: { raw, size: raw.length, truncated: false } });
}

test("simple comparisons cost a few steps per character, whatever field they read", () => {
  const expressions = [
    'http.host eq "a"',
    "ip.src in {10.0.0.0/8}",
    'http.request.method in {"PUT" "DELETE"}',
    "len(http.request.body.raw) gt 5",
  ];
  const ruleset = compiled(expressions);
  assert.equal(judged(ruleset, posted("")).steps, ruleset.steps);
  assert.equal(judged(ruleset, ORDINARY[0]!).steps, ruleset.steps);
  assert.ok(ruleset.steps > 0 && ruleset.steps < 1000);
});

test("simple rules executed by many rules are bounded, and the error names both", () => {
  const simple = `http.host eq "${"a".repeat(3000)}"`;
  const custom = compileRuleset({ id: "c", phase: CUSTOM, rules: rulesOf(Array.from({ length: RULES }, () => simple)) });
  const executing = Array.from({ length: RULES }, (_, i) => ({
    ...rulesOf(["true"], "execute")[0]!,
    id: `executes-${i}`,
    action_parameters: { id: "c" },
  }));
  const run = createRun();
  runPhase([compileRuleset({ id: "z", phase: CUSTOM, rules: executing }, { custom: () => custom })], run, posted(""), null);
  assert.equal(run.exhausted?.ruleset_id, "c");
  assert.match(run.exhausted.deployed_by, /^executes-\d+$/);
});

const TOO_MUCH = Array.from({ length: RULES }, (_, i) => WORST[0]!.expression(i));

test("matches before the step limit remain, and later phases can only compare", () => {
  const run = createRun();
  const matches = runPhase([compiled(["true", ...TOO_MUCH])], run, worstRequest(WORST[0]!), null);
  assert.deepEqual(
    matches.map(({ rule }) => rule.id),
    ["rule-0"],
  );
  const { exhausted } = run;
  assert.ok(exhausted !== null);
  assert.equal(exhausted.ended, true);
  assert.deepEqual(judged(compiled(['http.user_agent contains "te"']), posted(""), run).exhausted, exhausted);
});

test("response rules have their own step limit, whatever the request rules used", () => {
  const run = createRun();
  judged(compiled(TOO_MUCH), worstRequest(WORST[0]!), run);
  const phase = "http_response_headers_transform";
  const response = testResponse({ headers: { server: ["origin/1"] } });
  const respond = (expressions: readonly string[]) => runPhase([compiled(expressions, phase)], run, worstRequest(WORST[0]!), response);
  assert.equal(respond(['any(http.response.headers["server"][*] contains "origin")']).length, 1);
  const most = stepsMax(worstRequest(WORST[0]!).body?.raw.length ?? 0);
  assert.ok(run.steps > most && run.steps < 1.01 * most);
  respond(TOO_MUCH);
  assert.equal(run.steps, most + STEPS_MAX);
});

test("an error in a rule does not end the step count, and nothing is counted outside an evaluation", () => {
  const broken = { ...posted(""), headers: () => assert.fail("broken") } as RequestView;
  assert.throws(() => judged(compiled(['any(http.request.headers["a"][*] eq "b")']), broken), /broken/);
  for (let n = 0; n < 200; n++) charge(STEPS_MAX);
});

test("an automaton counts the states that it makes, and its steps without new states", () => {
  const one = (kind: string) => {
    const row = WORST.find(({ name }) => name === kind)!;
    return judged(compiled([row.expression(0)]), worstRequest(row));
  };
  assert.ok(one("an automaton of many states").steps > 3 * one("an automaton").steps);
  assert.ok(one("an automaton without states").exhausted !== null);
});

test("searching a redirect list counts steps, whatever the URL and the list", () => {
  const hosts = Array.from({ length: 130 }, (_, n) => "a.".repeat(n).concat("b"));
  const paths = Array.from({ length: 70 }, (_, n) => "/aaaaa".repeat(2590 + n));
  const sources = [...hosts.map((host) => `${host}/x`), ...paths.map((path) => `b${path}/x`), ...paths.map((path) => `c${path}`)];
  const list = createRedirectList(sources.map((source_url) => ({ source_url, target_url: "https://example.net", status_code: 302 })));
  const expressions = Array.from(
    { length: RULES },
    (_, n) => `concat("${hosts.at(-1)}", substring(http.request.body.raw, 0, ${16_000 - n})) in $moved`,
  );
  const ruleset = compileRuleset({ id: "z", phase: CUSTOM, rules: rulesOf(expressions) }, { lists: { find: () => list } });
  assert.deepEqual(ruleset.problems, []);
  assert.ok(judged(ruleset, posted("/aaaaa".repeat(20_000))).exhausted !== null);
});

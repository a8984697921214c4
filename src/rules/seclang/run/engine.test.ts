import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { idsOf, programOf, requestOf, runRequest } from "../testing/requests.ts";
import { compileTarget } from "./compiled-rule.ts";
import type { NamedValue, TransactionBody, TransactionRequest } from "../transaction/transaction.ts";
import { createEngine } from "./engine.ts";
import type { TransactionOptions } from "./transaction.ts";

const withArguments = (...queryArguments: readonly (readonly [string, string])[]): TransactionRequest =>
  requestOf({ queryArguments: queryArguments.map(([name, value]) => ({ name, value })) });

test("each value that a rule hits counts, with macros, sums and removals of variables", () => {
  const { outcome, transaction } = runRequest(
    programOf(`
SecAction "id:1,phase:1,pass,nolog,setvar:tx.critical=5,setvar:tx.gone=1,setvar:tx.seen"
SecRule ARGS "@rx (a)(b)?" "id:2,phase:2,pass,capture,msg:'found %{TX.0} in %{MATCHED_VAR_NAME}',logdata:'%{tx.1}|%{tx.2}',setvar:'tx.score=+%{tx.critical}',setvar:!tx.gone,setvar:'tx.%{rule.id}_%{matched_var_name}=%{matched_var}'"
SecRule TX:score "@eq 10" "id:3,phase:2,pass,setvar:tx.score=-3"
SecRule &TX:gone "@eq 0" "id:4,phase:2,pass"
SecRule TX:/^2_args/ "@streq xab" "id:5,phase:2,pass"
`),
    withArguments(["p", "xab"], ["q", "za"], ["r", "c"]),
  );
  assert.deepEqual(
    outcome.matches.map(({ id }) => id),
    [1, 2, 3, 4, 5],
  );
  assert.equal(transaction.variable("score"), "7");
  assert.equal(transaction.variable("seen"), "1");
  const { message, logdata, variables } = outcome.matches[1]!;
  assert.deepEqual([message, logdata], ["found a in ARGS:q", "a|"]);
  assert.deepEqual(variables, [
    { name: "ARGS:p", value: "xab" },
    { name: "ARGS:q", value: "za" },
  ]);
});

test("a chain matches if every link does, and later links see earlier matches", () => {
  const rules = `
SecRule ARGS "@rx ^(.)b" "id:1,phase:2,pass,capture,chain,setvar:tx.first=1"
  SecRule TX:1 "@streq a" "chain"
    SecRule MATCHED_VARS_NAMES "@rx ^ARGS:p$" "t:none,setvar:tx.last=1"
`;
  const run = (name: string, value: string): readonly (string | undefined)[] => {
    const { transaction } = runRequest(programOf(rules), withArguments([name, value]));
    return [transaction.variable("first"), transaction.variable("last")];
  };
  assert.deepEqual(run("p", "ab"), ["1", "1"]);
  assert.deepEqual(run("q", "ab"), ["1", undefined]);
  assert.deepEqual(run("p", "bb"), ["1", undefined]);
  assert.deepEqual(run("p", "x"), [undefined, undefined]);
});

test("later links see the last hit of the last target, whatever earlier rules inspect", () => {
  const rules = `
SecRule ARGS "@rx a" "id:1,phase:2,pass"
SecRule ARGS_NAMES|ARGS "@rx a" "id:2,phase:2,pass,chain"
  SecRule MATCHED_VAR "@streq xa"`;
  assert.deepEqual(idsOf(rules, withArguments(["a", "xa"])), [1, 2]);
});

test("a rule, or a control action of an earlier rule, excludes variables", () => {
  const rules = (control: string): string => `
SecRule REQUEST_METHOD "@streq GET" "id:1,phase:1,pass,nolog${control}"
SecRule ARGS|!ARGS:safe|!ARGS:/^utm_/ "@rx x" "id:2,phase:2,pass,tag:'attack-a'"
SecRule ARGS_NAMES "@rx x" "id:3,phase:2,pass,tag:'attack-b'"
`;
  const found = (control: string, ...names: readonly string[]): readonly number[] =>
    idsOf(rules(control), withArguments(...names.map((name): [string, string] => [name, "x"]))).slice(1);
  assert.deepEqual(found("", "safe", "UTM_a"), []);
  assert.deepEqual(found("", "y"), [2]);
  assert.deepEqual(found("", "x"), [2, 3]);
  assert.deepEqual(found(",ctl:ruleRemoveById=2", "x"), [3]);
  assert.deepEqual(found(",ctl:ruleRemoveById=2-3", "x"), []);
  assert.deepEqual(found(",ctl:ruleRemoveByTag=attack-b", "x"), [2]);
  assert.deepEqual(found(",ctl:ruleRemoveTargetById=2;ARGS:x", "x"), [3]);
  assert.deepEqual(found(",ctl:ruleRemoveTargetById=2;ARGS:x", "x", "z"), [2, 3]);
  assert.deepEqual(found(",ctl:ruleRemoveTargetByTag=attack-.*;ARGS", "x"), [3]);
  assert.deepEqual(found(",ctl:ruleEngine=Off", "x"), []);
});

test("skips lead to a marker of the same phase, and a disruptive action ends it", () => {
  const rules = `
SecRule ARGS:level "@lt 2" "id:1,phase:2,pass,nolog,skipAfter:END-TWO"
SecRule ARGS:level "@ge 2" "id:2,phase:2,pass"
SecMarker "END-TWO"
SecRule ARGS:level "@eq 3" "id:3,phase:2,deny,status:418"
SecAction "id:4,phase:2,pass"
`;
  assert.deepEqual(idsOf(rules, withArguments(["level", "1"])), [1, 4]);
  assert.deepEqual(idsOf(rules, withArguments(["level", "2"])), [2, 4]);
  const { outcome } = runRequest(programOf(rules), withArguments(["level", "3"]));
  assert.deepEqual(outcome.interruption, { ruleId: 3, disruption: "deny", status: 418, location: "" });
  assert.deepEqual(
    runRequest(programOf(`SecRuleEngine DetectionOnly\n${rules}`), withArguments(["level", "3"])).outcome.matches.map(({ id }) => id),
    [2, 3, 4],
  );
  assert.deepEqual(idsOf(`SecAction "id:5,phase:1,allow,nolog"\n${rules}`, withArguments(["level", "3"])), [5]);
  assert.deepEqual(idsOf(`SecAction "id:5,phase:1,allow:phase,nolog"\n${rules}`, withArguments(["level", "2"])), [5, 2, 4]);
});

/** A rule for each operator, with values that it matches, and that it does not. */
const OPERATORS: readonly (readonly [operator: string, matching: readonly string[], others: readonly string[]])[] = [
  ["@beginsWith ab", ["abc"], ["cab"]],
  ["@endsWith ab", ["cab"], ["abc"]],
  ["@contains ab", ["xaby"], ["a b"]],
  ["@containsWord ab", ["x ab"], ["xab"]],
  ["@streq ab", ["ab"], ["Ab"]],
  ["@strmatch ab", ["xab"], ["a"]],
  ["@within ab,cd", ["ab", "b,c"], ["abc"]],
  ["@eq 5", ["5", "05x"], ["6", "x"]],
  ["@ge 5", ["5", "6"], ["4"]],
  ["@gt 5", ["6"], ["5"]],
  ["@le 5", ["5", "x"], ["6"]],
  ["@lt 5", ["4"], ["5"]],
  ["@pm ab |63 64|", ["xAB", "cd"], ["a b"]],
  ["@pmFromFile words.data", ["x Two Words"], ["two", "comment"]],
  ["@ipMatch 192.0.2.0/24,::1", ["192.0.2.9", "::1"], ["192.0.3.1", "x"]],
  ["@rx a.c", ["xabc"], ["ac"]],
  ["!@rx a.c", ["ac"], ["xabc"]],
  ["@validateByteRange 32-126", ["a\tb"], ["ab"]],
  ["@validateUrlEncoding", ["%zz", "%4"], ["%41", "a"]],
  ["@validateUtf8Encoding", ["\xc3", "\xc0\xaf"], ["\xc3\xa9", "a"]],
  ["@detectSQLi", ["1' or '1'='1"], ["one"]],
  ["@detectXSS", ["<script>"], ["script"]],
  ["@unconditionalMatch", ["x"], []],
  ["@noMatch", [], ["x"]],
  ["@rbl dnsbl.example", [], ["192.0.2.1"]],
];

test("every operator matches its examples", () => {
  for (const [operator, matching, others] of OPERATORS) {
    const finds = (value: string): boolean =>
      idsOf(`SecRule ARGS "${operator}" "id:1,phase:2,pass"`, withArguments(["p", value]), { "words.data": "# comment\ntwo words\n\n" })
        .length === 1;
    for (const value of matching) assert.ok(finds(value), `${operator} of ${JSON.stringify(value)}`);
    for (const value of others) assert.ok(!finds(value), `not ${operator} of ${JSON.stringify(value)}`);
  }
});

test("variables have the values that ModSecurity gives them", () => {
  const body: Partial<TransactionBody> = {
    text: "p=1",
    bytes: 3,
    bodyArguments: [{ name: "p", value: "1" }],
    files: [{ name: "f", filename: "a.php", bytes: 9 }],
    partHeaders: [{ name: "f", value: "Content-Type: text/plain" }],
    xmlTexts: ["text"],
    xmlAttributes: ["attribute"],
    error: "broken",
    flags: new Set(["MULTIPART_UNMATCHED_BOUNDARY"]),
  };
  const request = requestOf({ target: "http://h/a%20b/c.php?x=1#f", bodyProcessor: "URLENCODED", body });
  const values: readonly (readonly [string, string])[] = [
    ["REQUEST_URI_RAW", "http://h/a%20b/c.php?x=1#f"],
    ["REQUEST_FILENAME", "/a b/c.php"],
    ["REQUEST_BASENAME", "c.php"],
    ["QUERY_STRING", "x=1"],
    ["ARGS_NAMES", "p"],
    ["ARGS_COMBINED_SIZE", "4"],
    ["ARGS_POST:p", "1"],
    ["REQUEST_COOKIES:SESSION", "abc"],
    ["REQUEST_HEADERS:user-agent", "test/1"],
    ["REQUEST_HEADERS_NAMES", "Host"],
    ["FILES", "a.php"],
    ["FILES_COMBINED_SIZE", "9"],
    ["MULTIPART_PART_HEADERS:f", "Content-Type: text/plain"],
    ["XML:/*", "text"],
    ["XML://@*", "attribute"],
    ["REQBODY_ERROR", "1"],
    ["REQBODY_ERROR_MSG", "broken"],
    ["REQBODY_PROCESSOR", "URLENCODED"],
    ["REQUEST_BODY", "p=1"],
    ["REQUEST_BODY_LENGTH", "3"],
    ["MULTIPART_UNMATCHED_BOUNDARY", "1"],
    ["MULTIPART_STRICT_ERROR", "0"],
    ["REMOTE_ADDR", "192.0.2.7"],
    ["TIME_YEAR", "1970"],
  ];
  for (const [variable, value] of values)
    assert.deepEqual(idsOf(`SecRule ${variable} "@streq ${value}" "id:1,phase:2,pass"`, request), [1], variable);
  const asked: string[] = [];
  runRequest(programOf('SecAction "id:1,phase:1,pass,ctl:requestBodyProcessor=XML"'), {
    ...request,
    readBody: (processor) => {
      asked.push(processor);
      return request.readBody(processor);
    },
  });
  assert.deepEqual(asked, ["XML"]);
});

test("response rules see status, header fields and body", () => {
  const engine = createEngine(
    programOf(`
SecRule RESPONSE_STATUS "@rx ^5" "id:1,phase:3,pass"
SecRule RESPONSE_HEADERS:Server "@contains x" "id:2,phase:3,pass"
SecRule RESPONSE_BODY "@pm secret" "id:3,phase:4,deny"
SecAction "id:4,phase:5,pass"
`),
  );
  const transaction = engine.begin(requestOf());
  const response = { status: 500, protocol: "HTTP/1.1", headers: [{ name: "server", value: "x/1" }], body: "a Secret" };
  transaction.requestHeaders();
  transaction.requestBody();
  transaction.responseHeaders(response);
  assert.equal(transaction.responseBody(response).interruption?.ruleId, 3);
  assert.deepEqual(
    transaction.log().matches.map(({ id }) => id),
    [1, 2, 3, 4],
  );
});

const PIECES = [
  "union",
  "select",
  "<script",
  "alert(",
  "../",
  "/etc/passwd",
  "%27",
  "'",
  '"',
  " or ",
  "1=1",
  ";",
  "|",
  "A",
  "\\x41",
  "&lt;",
  "\xc3\xa9",
  "%",
  "x",
];
const anyValue = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((parts) => parts.join(""));
const anyNamed = fc.array(fc.record<NamedValue>({ name: fc.constantFrom("a", "b", "Utm_x"), value: anyValue }), { maxLength: 4 });

const PATTERNS = [
  "union.{1,9}select",
  "(?i)<SCRIPT",
  "alert\\(|eval\\(",
  "(?:\\.\\./)+",
  "^'|\"$",
  "[^a-z]or\\s+1",
  "x?",
  "1=1|2=2",
  "\\b(?:or|and)\\b.*=",
  "[\xc3][\xa9]",
];
const TRANSFORMATIONS = [
  "t:lowercase",
  "t:urlDecodeUni,t:htmlEntityDecode",
  "t:none,t:jsDecode,t:lowercase",
  "t:removeNulls,t:compressWhitespace",
  "t:cmdLine",
  "t:base64Decode",
  "t:removeWhitespace,t:normalizePath,t:removeCommentsChar",
  "t:replaceComments,t:urlDecodeUni,t:trim,t:uppercase",
  "t:none,t:urlDecodeUni,t:base64Decode",
];
const anyRule = fc.record({
  targets: fc.constantFrom(
    "ARGS",
    "ARGS|ARGS_NAMES",
    "ARGS:a|REQUEST_COOKIES",
    "ARGS:a|ARGS:b|REQUEST_COOKIES:a",
    "ARGS|!ARGS:/^utm/",
    "REQUEST_URI|ARGS_GET",
    "MATCHED_VAR|ARGS",
  ),
  operator: fc.oneof(
    fc.constantFrom(...PATTERNS).map((pattern) => `@rx ${pattern.replaceAll('"', '\\"')}`),
    fc.constantFrom("@pm union select", "!@rx ^[a-z]*$", "@contains '", "@detectSQLi", "@detectXSS", "@streq x", "!@streq x"),
    fc.constantFrom("@validateByteRange 1-255", "@validateByteRange 32-126,9", "@within %{ARGS.b}"),
  ),
  transformations: fc.constantFrom(...TRANSFORMATIONS),
  more: fc.constantFrom("", ",capture,setvar:'tx.last=%{TX.0}'", ",multiMatch", ",skip:1", ",setvar:tx.n=+1"),
});

test("rules match the same with and without the prefilter, and set the same variables", () => {
  fc.assert(
    fc.property(fc.array(anyRule, { minLength: 1, maxLength: 8 }), anyNamed, anyNamed, (rules, queryArguments, cookies) => {
      const program = programOf(
        rules
          .map(
            ({ targets, operator, transformations, more }, i) =>
              `SecRule ${targets} "${operator}" "id:${i + 1},phase:2,pass,${transformations}${more}"`,
          )
          .join("\n"),
      );
      const [filtered, naive] = [true, false].map((isFiltered) => {
        const transaction = createEngine(program, { isFiltered }).begin(requestOf({ queryArguments, cookies }));
        transaction.requestHeaders();
        const { matches } = transaction.requestBody();
        return { matches, last: transaction.variable("last"), n: transaction.variable("n") };
      });
      assert.deepEqual(filtered, naive);
    }),
    { numRuns: 500 },
  );
});

const silently = (program: ReturnType<typeof programOf>) => {
  const engine = createEngine(program);
  const variables = { level: "1" };
  return (request: TransactionRequest, options: TransactionOptions = {}): readonly unknown[] => {
    const transaction = engine.begin(request, { hasTexts: false, variables, ...options });
    transaction.requestHeaders();
    const { matches } = transaction.requestBody();
    return [matches.map(({ id }) => id), transaction.variable("limit"), transaction.variable("sum"), transaction.variable("other")];
  };
};

test("first rules that only set variables run once for all requests, and leave the same variables and matches to each", () => {
  const run = silently(
    programOf(`
SecAction "id:1,phase:1,pass,nolog,setvar:tx.limit=2,setvar:tx.sum=0"
SecRule &TX:limit "@eq 0" "id:2,phase:1,deny"
SecRule &TX:other "@eq 0" "id:3,phase:1,pass,nolog,setvar:'tx.other=%{tx.limit}%{tx.level}'"
SecRule ARGS "@rx x" "id:4,phase:1,pass,setvar:tx.sum=+%{tx.limit},setvar:tx.limit=+1"
SecRule TX:limit "@gt 2" "id:5,phase:2,pass"
`),
  );
  const twice = withArguments(["p", "x"], ["q", "x"]);
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(run(twice), [[1, 3, 4, 5], "4", "5", "21"]);
    assert.deepEqual(run(withArguments(["p", "y"])), [[1, 3], "2", "0", "21"]);
  }
  assert.deepEqual(run(twice, { disabled: new Set([3]) }), [[1, 4, 5], "4", "5", undefined]);
  assert.deepEqual(run(twice, { variables: { other: "a" } }), [[1, 4, 5], "4", "5", "a"]);
  const counted = {
    ids: [2],
    collection: "",
    name: "",
    target: compileTarget({ collection: "TX", isCount: true, selector: { kind: "name", name: "limit" } }),
  };
  assert.deepEqual(run(twice, { excluded: [counted] }), [[1, 3, 4, 5], "4", "5", "21"]);
});

test("a rule about variables that only first rules write is asked once, unless any later rule may write them", () => {
  const run = silently(
    programOf(`
SecAction "id:1,phase:1,pass,nolog,setvar:tx.limit=2,setvar:tx.sum=0,setvar:tx.x_p=0"
SecRule ARGS "@rx x" "id:2,phase:1,pass,capture,setvar:tx.sum=+1,setvar:'tx.x_%{MATCHED_VAR}=1',setvar:ip.seen=1"
SecRule TX:limit "@gt 2" "id:3,phase:2,pass,setvar:tx.other=1"
SecRule TX:limit "@eq 2" "id:4,phase:2,pass"
SecRule &TX:none "@gt 0" "id:5,phase:2,pass"
SecRule TX:sum "@gt 0" "id:6,phase:2,pass"
SecRule TX:x_px "@eq 1" "id:7,phase:2,pass"
SecRule TX:0 "@streq x" "id:8,phase:2,pass,chain"
  SecRule ARGS "@rx ."
SecRule IP:seen "@eq 1" "id:9,phase:2,pass"
SecRule TX:level "@eq 1" "id:10,phase:2,pass"
`),
  );
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(run(withArguments(["p", "px"])), [[1, 2, 4, 6, 7, 8, 9, 10], "2", "1", undefined]);
    assert.deepEqual(run(withArguments(["p", "y"])), [[1, 4, 10], "2", "0", undefined]);
  }
  assert.deepEqual(run(withArguments(["p", "y"]), { variables: { level: "2" } }), [[1, 4], "2", "0", undefined]);
});

test("a first rule that ends or skips does so for every request", () => {
  const rest = `SecRule &TX:none "@eq 0" "id:3,phase:1,pass,nolog,setvar:tx.sum=7"\nSecMarker END\nSecRule ARGS "@rx x" "id:4,phase:2,pass"`;
  const found = (action: string): readonly unknown[] => {
    const run = silently(programOf(`SecAction "id:1,phase:1,nolog,${action}"\n${rest}`));
    const answers = [0, 1].map(() => run(withArguments(["p", "x"])));
    assert.deepEqual(answers[0], answers[1]);
    return answers[0]!.slice(0, 1);
  };
  assert.deepEqual(found("pass,skipAfter:END"), [[1, 4]]);
  assert.deepEqual(found("pass,skip:1"), [[1, 4]]);
  assert.deepEqual(found("allow"), [[1]]);
  assert.deepEqual(found("deny"), [[1]]);
  assert.deepEqual(found("pass"), [[1, 3, 4]]);
});

test("memory of a header field's value never hides a match of another rule, variable, name or request", () => {
  const run = silently(
    programOf(`
SecRule REQUEST_HEADERS:User-Agent "@streq %{ARGS.want}" "id:1,phase:1,pass"
SecRule REQUEST_HEADERS:User-Agent|REQUEST_HEADERS:Accept "@rx (?i)curl" "id:2,phase:1,pass,t:lowercase"
SecRule REQUEST_HEADERS "!@rx ^[a-z]+$" "id:3,phase:1,pass"
SecRule REQUEST_HEADERS:Accept "!@rx ^x" "id:4,phase:1,pass"
SecRule REQUEST_HEADERS:User-Agent "@detectSQLi" "id:5,phase:1,pass"
SecRule REQUEST_HEADERS:/^user/ "@rx wget" "id:6,phase:1,pass"
SecRule REQUEST_HEADERS:User-Agent "@rx ^[0-9a-f]{40}$" "id:7,phase:1,pass,t:none,t:sha1,t:hexEncode"
`),
  );
  const ids = (agent: string, accept: string, want = ""): unknown => {
    const headers = [
      { name: "User-Agent", value: agent },
      { name: "accept", value: accept },
    ];
    return run(requestOf({ headers, queryArguments: [{ name: "want", value: want }] }))[0];
  };
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(ids("wget", "x"), [6, 7]);
    assert.deepEqual(ids("x", "wget", "x"), [1, 4, 7]);
    assert.deepEqual(ids("x", "CURL"), [2, 3, 4, 7]);
    assert.deepEqual(ids("CURL", "x"), [2, 3, 7]);
    assert.deepEqual(ids("1' or '1'='1", "x", "1' or '1'='1"), [1, 3, 5, 7]);
    assert.deepEqual(ids("1' or '1'='1", "1' or '1'='1"), [3, 4, 5, 7]);
    assert.deepEqual(ids("x", "x"), [7]);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { file, programOf } from "../testing/requests.ts";
import { readDirectives } from "./directives.ts";
import { SecLangError } from "./source-error.ts";

test("a backslash continues a line, and comments and blank lines are skipped", () => {
  const [rule, marker] = readDirectives(
    file('# comment\n\nSecRule ARGS|!ARGS:a \\\n    "@rx a\\"b" \\\n    "id:1,\\\n    msg:\'it, or\',\\\n    chain"\r\nSecMarker "END"\n'),
  );
  assert.ok(rule?.kind === "rule" && marker?.kind === "marker");
  assert.equal(marker.name, "END");
  assert.deepEqual(
    rule.variables.map(({ mode, collection, selector }) => [mode, collection, selector]),
    [
      ["values", "ARGS", null],
      ["exclude", "ARGS", { kind: "name", name: "a" }],
    ],
  );
  assert.equal(rule.operator?.argument.text, 'a"b');
  assert.deepEqual(
    rule.actions.map(({ name, argument }) => [name, argument.text]),
    [
      ["id", "1"],
      ["msg", "it, or"],
      ["chain", ""],
    ],
  );
  assert.deepEqual(rule.actions[1]?.source.at(0), { file: "rules.conf", line: 6, column: 5 });
});

test("a double backslash in quotes is one backslash, except in a class of both slashes", () => {
  const patternOf = (source: string): string | undefined => {
    const [rule] = readDirectives(file(`SecRule ARGS "@rx ${source}" "id:1"`));
    return rule?.kind === "rule" ? rule.operator?.argument.text : undefined;
  };
  for (const [source, pattern] of [
    [String.raw`a\\b`, String.raw`a\b`],
    [String.raw`[\\/]`, String.raw`[\\/]`],
    [String.raw`[\\\\/]`, String.raw`[\\/]`],
    [String.raw`(?:^|[\\/])\.\.(?:[\\/]|$)`, String.raw`(?:^|[\\/])\.\.(?:[\\/]|$)`],
    [String.raw`[a\\/]`, String.raw`[a\/]`],
    [String.raw`[\/]`, String.raw`[\/]`],
  ] as const)
    assert.equal(patternOf(source), pattern, source);
  const [rule] = readDirectives(file(String.raw`SecRule ARGS "@rx [\\/]\\x" "id:1"`));
  assert.deepEqual(rule?.kind === "rule" && rule.operator?.argument.at(4), { file: "rules.conf", line: 1, column: 23 });
});

test("selectors are names, patterns with separators in them, and XML paths", () => {
  const [rule] = readDirectives(file(`SecRule ARGS:/^(a|b)$/|ARGS:'/x|y/'|&REQUEST_HEADERS:Host|XML:/*|XML://@*|TX:1 "@eq 1"`));
  assert.ok(rule?.kind === "rule");
  assert.deepEqual(
    rule.variables.map(({ mode, selector }) => [mode, selector?.kind === "pattern" ? selector.pattern.text : selector?.name]),
    [
      ["values", "^(a|b)$"],
      ["values", "x|y"],
      ["count", "host"],
      ["values", "/*"],
      ["values", "//@*"],
      ["values", "1"],
    ],
  );
});

const RULE = 'SecRule ARGS "@rx a" "id:1"\n';

/** Invalid source, the position of the error, and the beginning of its message. */
const REFUSED: readonly (readonly [source: string, line: number, column: number, message: RegExp])[] = [
  ["SecFoo a", 1, 1, /unknown directive SecFoo/],
  ['SecRuleScript a.lua "id:1"', 1, 1, /Lua script.*remove the rule or its plugin/],
  ['SecRule ARGS "@inspectFile a.lua" "id:1"', 1, 15, /Lua script.*remove the rule or its plugin/],
  [`${RULE}SecRule BAR "@rx a" "id:2"`, 2, 9, /unknown variable BAR/],
  ['SecRule ARGS "@foo a" "id:1"', 1, 15, /unknown operator @foo/],
  ['SecRule ARGS "@rx a" "id:1,foo"', 1, 28, /unknown action foo/],
  ['SecRule ARGS "@rx a" "id:1,t:foo"', 1, 30, /unknown transformation foo/],
  ['SecRule ARGS "@rx a" "id:1,ctl:foo=1"', 1, 32, /unknown option foo/],
  ['SecRule ARGS "@rx a(" "id:1"', 1, 20, /the pattern: the group is never closed/],
  ['SecRule ARGS "@rx a" \\\n  "id:1,\\\n  phase:9"', 3, 9, /a phase is 1 to 5/],
  ['SecRule ARGS "@rx a', 1, 14, /never closed/],
  ['SecRule ARGS "@rx a" "msg:\'x\'"', 1, 1, /needs an id/],
  [RULE + RULE, 2, 26, /the id 1 is taken by the rule at rules.conf:1/],
  ['SecRule ARGS "@rx a" "id:1,chain"\nSecMarker x', 1, 1, /ends in chain/],
  ['SecRule ARGS "@rx a" "id:1,chain"', 1, 1, /ends in chain/],
  ['SecRule ARGS "@pmFromFile none.data" "id:1"', 1, 27, /the file none.data is missing/],
  ['SecRule ARGS "@rx a" "id:1,skipAfter:NOWHERE"', 1, 1, /the marker NOWHERE does not exist/],
  ['SecRule REQUEST_METHOD:x "@rx a" "id:1"', 1, 23, /one value/],
  ['SecRule ARGS "@ipMatch 300.1.1.1" "id:1"', 1, 24, /300\.1\.1\.1/],
  ['SecAction "id:1,setvar:foo=1"', 1, 24, /must write to a collection/],
  ["Include other.conf", 1, 9, /not allowed here/],
  ["<IfModule x>", 1, 1, /sections of the web server/],
  ['SecRule ARGS "@rx a" "id:1" extra', 1, 29, /unexpected text/],
];

test("every error has file, line and column", () => {
  for (const [source, line, column, message] of REFUSED) {
    assert.throws(
      () => programOf(source),
      (error: unknown) => {
        assert.ok(error instanceof SecLangError, source);
        assert.match(error.problem, message);
        assert.deepEqual(error.place, { file: "rules.conf", line, column }, source);
        return true;
      },
    );
  }
});

test("any text is read or refused", () => {
  const pieces = [
    "SecRule",
    "SecAction",
    "ARGS",
    "|",
    "!",
    "&",
    ":",
    "/",
    '"',
    "'",
    "\\",
    "\n",
    " ",
    "@rx",
    "id:1",
    ",",
    "chain",
    "%{",
    "}",
    "t:none",
    "(",
    "*",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
      try {
        programOf(parts.join(""));
      } catch (error) {
        assert.ok(error instanceof SecLangError, String(error));
      }
    }),
    { numRuns: 500 },
  );
});

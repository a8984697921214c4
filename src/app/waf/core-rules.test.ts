import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { MANAGED_RULESET_ID, SCORES_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { MANAGED_RULESETS, useOperatorRules } from "#rules/managed/rulesets.ts";
import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { createCoreRuleSet } from "#rules/managed/core/core-rule-set.ts";
import { createRun } from "#rules/engine/run.ts";
import { FORM, posted } from "#rules/testing/budget.cases.ts";
import { NO_RULE_MATERIAL, useRuleMaterial } from "#rules/managed/rule-material.ts";
import { BENIGN_VALUES } from "#rules/managed/testing/benign.cases.ts";
import { createEngine, type SecLangEngine } from "#rules/seclang/run/engine.ts";
import { requestOf } from "#rules/seclang/testing/requests.ts";
import { fc } from "../../../test/support/property.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { programFrom, readCoreRulesFiles } from "./core-rules-files.ts";
import { findCoreRules, logCoreRules } from "./core-rules.ts";
import { installCoreRules } from "./install-core-rules.ts";

const folder = mkdtempSync(join(tmpdir(), "selvedge-crs-"));
after(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  useRuleMaterial(NO_RULE_MATERIAL);
  // A test may have set them without the material, which the line above does not notice; other files run in this process.
  useOperatorRules({ core: null, rows: [] });
});

const SETUP = 'SecAction "id:900990,phase:1,pass,nolog,setvar:tx.crs_setup_version=999"\n';
const rule = (id: number): string =>
  `SecComponentSignature "OWASP_CRS/${id}"\nSecRule ARGS "@pmFromFile words.data" "id:${id},phase:2,pass,msg:'x',setvar:tx.inbound_anomaly_score_pl1=+5"\n`;

function write(directory: string, files: Readonly<Record<string, string>>): string {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}

interface Opened {
  readonly memory: SharedArrayBuffer | null;
  readonly said: readonly string[];
  readonly version: string;
}

function open(
  configured: string,
  installed = join(folder, "nowhere"),
  lastGood = join(folder, "last-good"),
  followsControl = false,
): Opened {
  const said: string[] = [];
  const log = {
    info: (_: unknown, text?: string) => void said.push(String(text ?? _)),
    warn: (_: unknown, text?: string) => void said.push(String(text)),
  };
  const found = findCoreRules({ configured, installed, lastGood, followsControl });
  logCoreRules(found, log as never);
  const { memory } = found;
  useRuleMaterial({ ...NO_RULE_MATERIAL, coreRules: memory });
  return { memory, said, version: MANAGED_RULESETS.get(SCORES_RULESET_ID)!.version };
}

test("a rules directory is compiled once, and after an error the last good one stays and the error's place is logged", () => {
  const directory = write(join(folder, "a"), {
    "crs-setup.conf": SETUP,
    "rules/words.data": "attack\n",
    "rules/REQUEST-942.conf": rule(942_100),
  });
  const first = open(directory);
  assert.equal(first.version, "OWASP_CRS/942100");
  const kept = readFileSync(join(folder, "last-good"), "utf8");
  writeFileSync(join(folder, "last-good"), kept.replaceAll("OWASP_CRS/942100", "OWASP_CRS/kept"));
  assert.equal(open(directory).version, "OWASP_CRS/kept", "the compiled form is used as long as no file changes");
  writeFileSync(join(directory, "rules/REQUEST-942.conf"), 'SecRule ARGS "@rx a" \\\n  "id:1,phase:2,explode"\n');
  const broken = open(directory);
  assert.equal(broken.version, "OWASP_CRS/kept");
  assert.match(
    broken.said.join("\n"),
    /REQUEST-942\.conf:2:17: unknown action explode; the previous version \([0-9a-f]{12}\) stays in use/,
  );
  writeFileSync(join(directory, "rules/REQUEST-942.conf"), rule(942_200));
  assert.equal(open(directory).version, "OWASP_CRS/942200");
});

test("planes without control use the rules that control compiled, unless waf.crs_directory is set", () => {
  const of = (id: number): string =>
    write(join(folder, `planes-${id}`), { "rules/words.data": "attack", "rules/REQUEST-1.conf": rule(id) });
  const copied = join(folder, "last-good-of-control");
  open(of(1), undefined, copied);
  const [installed, configured] = [of(2), of(3)];
  assert.equal(open("", installed, copied, true).version, "OWASP_CRS/1");
  assert.equal(open("none", installed, copied, true).version, "own-1");
  assert.equal(open("", installed, join(folder, "never-copied"), true).version, "OWASP_CRS/2");
  assert.equal(open(configured, installed, copied, true).version, "OWASP_CRS/3");
  assert.equal(open("", installed, copied).version, "OWASP_CRS/2");
});

test("another thread gets the same compiled form", () => {
  const directory = write(join(folder, "b"), { "rules/words.data": "attack", "rules/REQUEST-1.conf": rule(1) });
  const { memory } = open(directory, undefined, join(folder, "last-good-b"));
  useRuleMaterial(NO_RULE_MATERIAL);
  assert.equal(MANAGED_RULESETS.get(SCORES_RULESET_ID)!.version, "own-1");
  useRuleMaterial({ ...NO_RULE_MATERIAL, coreRules: memory });
  assert.equal(MANAGED_RULESETS.get(SCORES_RULESET_ID)!.version, "OWASP_CRS/1");
});

test("without a rule set the log names the install command, and an empty directory is reported", () => {
  const none = open("none");
  assert.deepEqual([none.memory, none.version], [null, "own-1"]);
  assert.match(none.said.join(), /selvedge waf crs install/);
  const empty = open(write(join(folder, "c"), { "rules/readme.txt": "" }), undefined, join(folder, "none"));
  assert.match(empty.said.join(), /rules contains no rules: expected files such as/);
});

test("plugins and settings are read from the documented places", () => {
  const at = (id: number): string => `SecAction "id:${id},phase:1,pass"\n`;
  const directory = write(join(folder, "d"), {
    "crs-setup.conf": at(1),
    "plugins/x-config.conf": at(2),
    "plugins/x-before.conf": at(3),
    "rules/REQUEST-901.conf": at(4),
    "plugins/x-after.conf": at(5),
  });
  open(directory, undefined, join(folder, "last-good-d"));
  const { program } = {
    program: JSON.parse(readFileSync(join(folder, "last-good-d"), "utf8").split("\n")[1]!) as { phases: { rule: { id: number } }[][] },
  };
  assert.deepEqual(
    program.phases[1]!.map(({ rule }) => rule.id),
    [1, 2, 3, 4, 5],
  );
});

/** A `.tar.gz` as GNU tar writes it. */
function archive(files: Readonly<Record<string, string>>): string {
  const blocks = Object.entries(files).flatMap(([path, content]) => {
    const header = Buffer.alloc(512);
    header.write(path, 0);
    header.write(content.length.toString(8).padStart(11, "0"), 124);
    header.write("0", 156);
    header.write("ustar", 257);
    const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
    body.write(content);
    return [header, body];
  });
  const path = join(folder, "release.tar.gz");
  writeFileSync(path, gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)])));
  return path;
}

test("a release is installed completely or not at all, and keeps the operator's settings", () => {
  const target = join(folder, "installed");
  const release = (rules: string): string =>
    archive({
      "coreruleset-9/README.md": "x",
      "coreruleset-9/crs-setup.conf.example": SETUP,
      "coreruleset-9/rules/words.data": "a",
      "coreruleset-9/rules/REQUEST-942.conf": rules,
      "coreruleset-9/../escape.conf": "x",
    });
  const { sha256, version, rules } = installCoreRules(release(rule(7)), target, undefined);
  assert.deepEqual([version, rules], ["OWASP_CRS/7", 2]);
  assert.match(sha256, /^[0-9a-f]{64}$/);
  writeFileSync(join(target, "crs-setup.conf"), SETUP.replace("999", "1000"));
  assert.throws(() => installCoreRules(release(rule(8)), target, "00".repeat(32)), /the SHA-256 digest of .* is [0-9a-f]{64}, not 0000/);
  assert.throws(() => installCoreRules(release("SecFoo"), target, undefined), /REQUEST-942\.conf:1:1: unknown directive SecFoo/);
  assert.equal(open("", target, join(folder, "last-good-e")).version, "OWASP_CRS/7");
  installCoreRules(release(rule(8)), target, undefined);
  assert.match(readFileSync(join(target, "crs-setup.conf"), "utf8"), /1000/);
  assert.equal(open("", target, join(folder, "last-good-e")).version, "OWASP_CRS/8");
});

test("Debian's modsecurity-crs compiles unchanged", { skip: toolOrSkip("modsecurity-crs") }, () => {
  const { version, said } = open("/usr/share/modsecurity-crs", undefined, join(folder, "last-good-debian"));
  assert.match(version, /^OWASP_CRS\/3\./, said.join());
  const { rules } = MANAGED_RULESETS.get(SCORES_RULESET_ID)!;
  assert.ok(rules.length > 150, String(rules.length));
  for (const level of [1, 2, 3, 4]) assert.ok(rules.some(({ categories }) => categories.includes(`paranoia-level-${level}`)));
});

/** Texts, and rules of CRS 3.3 that they are in the list of. */
const FOUND: readonly (readonly [text: string, rule: number])[] = [
  ["1' or '1'='1", 942_100],
  ["<script>alert(1)</script>", 941_100],
  ["../../../../etc/passwd", 930_120],
  ["; cat /etc/passwd", 932_160],
  ["<?php eval($_GET[1]);", 933_100],
];

test("Debian's rules give the same result with and without the prefilter", { skip: toolOrSkip("modsecurity-crs") }, () => {
  const program = programFrom(readCoreRulesFiles("/usr/share/modsecurity-crs"));
  const [filtered, naive] = [true, false].map((isFiltered) => createEngine(program, { isFiltered }));
  const idsOf = (engine: SecLangEngine, value: string): readonly number[] => {
    const transaction = engine.begin(requestOf({ queryArguments: [{ name: "q", value }] }), {
      detectsOnly: true,
      variables: { paranoia_level: "4", executing_paranoia_level: "4" },
    });
    transaction.requestHeaders();
    return transaction.requestBody().matches.map(({ id }) => id);
  };
  for (const [text, rule] of FOUND) assert.ok(idsOf(filtered!, text).includes(rule), `${rule} in ${text}`);
  const pieces = [...FOUND.map(([text]) => text), ...BENIGN_VALUES.slice(0, 40), "%27", "\\x41", "&lt;", " ", "\n", "a", "UNION/**/SELECT"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }), (parts) => {
      const value = parts.join("");
      assert.deepEqual(idsOf(filtered!, value), idsOf(naive!, value), value);
    }),
    { numRuns: 30 },
  );
});

test(
  "Debian's rules and all other managed rules stay within the step limit on benign bodies of 1 MiB",
  { skip: toolOrSkip("modsecurity-crs") },
  () => {
    const core = createCoreRuleSet(programFrom(readCoreRulesFiles("/usr/share/modsecurity-crs")), "ab".repeat(32));
    useOperatorRules({ core, rows: [] });
    const upTo = (piece: string, start = "", end = ""): string => start + piece.repeat(Math.floor(1_048_576 / piece.length)) + end;
    const part = '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\nwhat somebody wrote\r\n';
    const bodies = [
      posted(upTo("the quick brown fox jumps over the lazy dog; ")),
      posted(upTo("name=value+of+it&"), FORM),
      posted(upTo("QUJDREVGR0hJSktM", "picture="), FORM),
      posted(upTo('{"id":12,"name":"user 12","note":"nothing to see here, go on"},', "[", "{}]"), "application/json"),
      posted(upTo("<item id='12'><name>A lamp &amp; more</name></item>", "<r>", "</r>"), "application/xml"),
      posted(upTo(part, "", "--X--\r\n"), "multipart/form-data; boundary=X"),
    ];
    const rules = [MANAGED_RULESET_ID, SCORES_RULESET_ID].map((id) => ({
      id: `deploys-${id}`,
      action: "execute",
      action_parameters: { id },
      expression: "true",
      enabled: true,
      description: "",
    }));
    const ruleset = compileRuleset({ id: "z", phase: "http_request_firewall_managed", rules });
    for (const [i, body] of bodies.entries()) {
      const run = createRun();
      runPhase([ruleset], run, { ...body }, null);
      assert.equal(run.exhausted, null, `body ${i}: ${run.steps} steps`);
    }
  },
);

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BODY_CAUSE_NAMES, BODY_CAUSES, type BodyCause } from "#rules/body/body-causes.ts";
import { HONEST_REQUESTS } from "#rules/body/testing/honest-bodies.cases.ts";
import { ATTACK, BYPASSES } from "./testing/bypasses.cases.ts";
import { managedMatches, type RequestChanges } from "./testing/managed-request.ts";
import { MANAGED, ruleIdOf, SCORE_EXCEEDED_RULE_ID, SCORES } from "./request-rulesets.ts";

const actions = (rulesetId: string, request: RequestChanges, overrides?: object): readonly string[] =>
  managedMatches(rulesetId, request, overrides).map(({ action }) => action);

test("the deployed managed ruleset blocks every known bypass", () => {
  const passed = BYPASSES.filter(([, request]) => !actions(MANAGED.id, request).includes("block")).map(([name]) => name);
  assert.deepEqual(passed, []);
});

test("the scoring ruleset scores every known bypass or blocks it for its format", () => {
  const overrides = { rules: [{ id: SCORE_EXCEEDED_RULE_ID, score_threshold: 4 }] };
  const passed = BYPASSES.filter(([, request]) => !actions(SCORES.id, request, overrides).includes("block")).map(([name]) => name);
  assert.deepEqual(passed, []);
});

test("an attack is also found by its content, not only by the odd format of its body", () => {
  const off = { categories: [{ category: "body", enabled: false }] };
  const unseen = BYPASSES.filter(([, request]) => !actions(MANAGED.id, request, off).includes("block")).map(([name]) => name);
  assert.deepEqual(unseen, []);
});

test("requests of benign programs are neither blocked nor logged", () => {
  const said = HONEST_REQUESTS.flatMap(({ name, types = [], codings = [], body = "" }) => {
    const request = { headers: { "content-type": types, "content-encoding": codings }, body };
    return [MANAGED, SCORES].flatMap((ruleset) =>
      managedMatches(ruleset.id, request).flatMap(({ action, rule }) =>
        action === "score" ? [] : [`${name}: ${ruleset.name}: ${rule.description}`],
      ),
    );
  });
  assert.deepEqual(said, []);
});

/** One body for each cause. */
const BODIES: Readonly<Record<BodyCause, RequestChanges>> = {
  size: { headers: { "content-type": ["text/plain"] }, body: "a", truncated: true },
  "content-type": { headers: { "content-type": ["text/plain", "text/html"] }, body: "a" },
  boundary: { headers: { "content-type": ["multipart/form-data"] }, body: "a" },
  delimiters: {
    headers: { "content-type": ["multipart/form-data; boundary=X"] },
    body: 'a\r\n--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--X--\r\n',
  },
  end: {
    headers: { "content-type": ["multipart/form-data; boundary=X"] },
    body: '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1',
  },
  "part-head": {
    headers: { "content-type": ["multipart/form-data; boundary=X"] },
    body: '--X\r\nContent-Disposition: form-data; name="a"\r\nA\r\n\r\n1\r\n--X--\r\n',
  },
  disposition: { headers: { "content-type": ["multipart/form-data; boundary=X"] }, body: "--X\r\nA: b\r\n\r\n1\r\n--X--\r\n" },
  charset: { headers: { "content-type": ["text/plain; charset=utf-7"] }, body: "a" },
  coding: { headers: { "content-encoding": ["gzip"] }, body: "a" },
  "coding-unknown": { headers: { "content-encoding": ["mine"] }, body: "a" },
  "json-invalid": { headers: { "content-type": ["application/json"] }, body: "{" },
  "json-repeated": { headers: { "content-type": ["application/json"] }, body: '{"a":1,"a":2}' },
  "json-charset": { headers: { "content-type": ["application/json"] }, body: "[\0]\0" },
  "json-utf8": { headers: { "content-type": ["application/json"] }, body: '"\xff"' },
  "json-bom": { headers: { "content-type": ["application/json"] }, body: "\xef\xbb\xbf[]" },
  "json-depth": { headers: { "content-type": ["application/json"] }, body: `${'{"a":'.repeat(513)}1${"}".repeat(513)}` },
  "xml-invalid": { headers: { "content-type": ["application/xml"] }, body: "<a" },
  "xml-doctype": { headers: { "content-type": ["image/svg+xml"] }, body: "<!DOCTYPE svg><svg/>" },
  "xml-declarations": { headers: { "content-type": ["application/xml"] }, body: "<!DOCTYPE a [<!ELEMENT a ANY>]><a/>" },
  "xml-charset": { headers: { "content-type": ["application/xml"] }, body: "\xff\xfe<\0a\0/\0>\0" },
};

test("each cause is a rule of both rulesets, enabled by default, with an action that overrides change", () => {
  for (const ruleset of [MANAGED, SCORES])
    for (const cause of BODY_CAUSE_NAMES) {
      const id = ruleIdOf(ruleset.id, `body-${cause}`);
      const matched = (overrides: object): string | undefined =>
        managedMatches(ruleset.id, BODIES[cause], overrides).find(({ rule }) => rule.id === id)?.action;
      // Alone, since what is odd may be found by signatures too.
      assert.equal(
        matched({ enabled: false, rules: [{ id, action: "challenge", enabled: true }] }),
        "challenge",
        `${cause} of ${ruleset.name}`,
      );
      assert.equal(matched({ rules: [{ id, enabled: false }] }), undefined);
      const own = ruleset.rules.find((rule) => rule.id === id);
      assert.deepEqual([own?.enabled, own?.action], [true, BODY_CAUSES[cause].isUnread ? "block" : "log"]);
    }
});

test("an event names the cause", () => {
  const parameters = managedMatches(MANAGED.id, BODIES.boundary);
  assert.equal(parameters[0]?.rule.description, BODY_CAUSES.boundary.title);
});

test("the guide lists each cause with its effect and a remedy", () => {
  const guide = readFileSync(new URL("../../../docs/guides/rules.md", import.meta.url), "utf8").replaceAll(/ +/g, " ");
  for (const { title, hint, isUnread } of Object.values(BODY_CAUSES))
    assert.ok(guide.includes(`| ${title} | ${isUnread ? "blocks" : "logs"} | ${hint} |`), title);
});

test("the attack is found if it is a plain field", () => {
  assert.deepEqual(actions(MANAGED.id, { query: `q=${encodeURIComponent(ATTACK)}` }).slice(0, 1), ["block"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { MANAGED_RULESET_ID, REQUEST_ROWS, ruleIdOf, SCORES_RULESET_ID } from "./request-rulesets.ts";
import { generatedAttacks, KINDS } from "./testing/generated-attacks.ts";
import { generatedBenign } from "./testing/generated-benign.ts";
import { managedMatches, type RequestChanges } from "./testing/managed-request.ts";
import { WRITTEN_CLASSES, writtenRequests } from "./testing/written-requests.ts";

const EACH = 240;
const isStopped = (request: RequestChanges): boolean =>
  [MANAGED_RULESET_ID, SCORES_RULESET_ID].some((id) => managedMatches(id, request).some(({ action }) => action === "block"));

for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
  test(`without any setting at least 95 in 100 generated attacks are blocked: ${kind}`, () => {
    const attacks = generatedAttacks(kind, EACH, 1);
    assert.ok(attacks.length >= 200, `only ${attacks.length} are different`);
    const missed = attacks.filter(({ request }) => !isStopped(request));
    const named = missed.slice(0, Number(process.env["SHOW"] ?? 20)).map(({ place, text }) => `${place}: ${text}`);
    assert.ok(missed.length <= attacks.length / 20, `${missed.length} of ${attacks.length} pass: ${JSON.stringify(named, null, 1)}`);
  });
}

test("without any setting at most one in a thousand ordinary requests is blocked", () => {
  const slugs = new Map(REQUEST_ROWS.map(({ slug }) => [ruleIdOf(MANAGED_RULESET_ID, slug), slug]));
  const requests = generatedBenign(4000, 2);
  const stopped = requests.flatMap((request) => {
    const match = [MANAGED_RULESET_ID, SCORES_RULESET_ID]
      .flatMap((id) => managedMatches(id, request))
      .find(({ action }) => action === "block");
    return match === undefined
      ? []
      : [`${slugs.get(match.rule.id) ?? match.rule.description}: ${decodeURIComponent(JSON.stringify(request).replaceAll("%", "%25"))}`];
  });
  assert.ok(
    stopped.length <= requests.length / 1000,
    `${stopped.length} of ${requests.length}: ${JSON.stringify(stopped.slice(0, 40), null, 1)}`,
  );
});

for (const list of WRITTEN_CLASSES)
  test(`without any setting at least 95 in 100 attacks written independently of the rules are blocked: ${list}`, () => {
    const attacks = writtenRequests(list);
    const missed = attacks.filter(({ request }) => !isStopped(request)).map(({ place, line }) => `${place}: ${line}`);
    assert.ok(missed.length <= attacks.length / 20, `${missed.length} of ${attacks.length} pass: ${JSON.stringify(missed, null, 1)}`);
  });

test("an attack that ends a string is blocked behind the name of any account, too", () => {
  const attacks = writtenRequests("sql").flatMap(({ line, place }) => (place === "query" && /^['"][^a-z]/i.test(line) ? [line] : []));
  assert.ok(attacks.length > 50, `only ${attacks.length} begin with a quote`);
  const sent = (text: string): RequestChanges => ({ query: `user=${encodeURIComponent(text)}` });
  const names = ["ada.lovelace@example-company.com", "administratorlongname", "Ada Augusta Lovelace", "ada.lovelace@example-company.com "];
  const missed = attacks.flatMap((line) =>
    isStopped(sent(line)) ? names.map((name) => name + line).filter((text) => !isStopped(sent(text))) : [],
  );
  assert.deepEqual(missed, []);
  for (const space of ["\u3000", "\u2003", "\u00a0"]) {
    const spaces = Array.from({ length: 3 }, () => space.repeat(2)).join(" ");
    assert.ok(isStopped(sent(`ada augusta lovelace' or 1=1 ${spaces} or 'a'='a`)), "spaces of Unicode are no words");
  }
});

for (const [list, kind] of [
  ["benign", "hard benign texts is blocked: quoted SQL and pasted scripts"],
  ["ordinary", "ordinary requests is blocked: searches, comments, queries, documents, interfaces and cookies"],
] as const)
  test(`at most one in a thousand ${kind}`, () => {
    const requests = writtenRequests(list);
    const stopped = requests.filter(({ request }) => isStopped(request)).map(({ place, line }) => `${place}: ${line}`);
    assert.ok(stopped.length <= requests.length / 1000, `${stopped.length} of ${requests.length}: ${JSON.stringify(stopped, null, 1)}`);
  });

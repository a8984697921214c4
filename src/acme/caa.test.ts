import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { caaRefusal, type CaaQuestion, type CaaRecord, parseIssueValue } from "./caa.ts";

const QUESTION: CaaQuestion = { authority: { name: "lets_encrypt", caaDomains: ["letsencrypt.org"] }, isWildcard: false };
const WILD: CaaQuestion = { ...QUESTION, isWildcard: true };

const record = (text: string): CaaRecord => {
  const { flags, tag, value } = /^(?<flags>\d+) (?<tag>\S+) (?<value>.*)$/.exec(text)!.groups as Record<string, string>;
  return { flags: Number(flags), tag: tag!, value: value! };
};

test("SPEC 7.6: CAA records decide which authority may issue (RFC 8659 §4)", () => {
  const rows: readonly (readonly [question: CaaQuestion, allowed: boolean, ...records: string[]])[] = [
    [QUESTION, true],
    [QUESTION, true, "0 issue letsencrypt.org"],
    [QUESTION, true, "0 ISSUE LetsEncrypt.ORG"],
    [QUESTION, true, "0 issue ca.example", "0 issue letsencrypt.org"],
    [QUESTION, false, "0 issue ca.example"],
    [QUESTION, false, "0 issue ;"],
    [QUESTION, false, "0 issue "],
    [QUESTION, false, "0 issue notletsencrypt.org"],
    [QUESTION, false, "0 issue sub.letsencrypt.org"],
    [QUESTION, true, "0 iodef mailto:security@example.com"],
    [QUESTION, true, "0 issuewild ;"],
    [WILD, false, "0 issuewild ;"],
    [WILD, false, "0 issue letsencrypt.org", "0 issuewild ca.example"],
    [WILD, true, "0 issue ca.example", "0 issuewild letsencrypt.org"],
    [WILD, false, "0 issue ca.example"],
    [WILD, true, "0 issue letsencrypt.org"],
    [QUESTION, false, "0 issue ca.example", "0 issuewild letsencrypt.org"],
    [QUESTION, true, "0 newtag anything"],
    [QUESTION, false, "128 newtag anything", "0 issue letsencrypt.org"],
    [QUESTION, true, "128 issue letsencrypt.org"],
    // The issuer critical bit is the left one; others are reserved.
    [QUESTION, true, "1 newtag anything"],
    [QUESTION, false, "0 issue letsencrypt.org; a b"],
    [QUESTION, false, "0 issue %%%%%"],
  ];
  for (const [question, allowed, ...records] of rows) {
    const refusal = caaRefusal(records.map(record), question);
    assert.equal(refusal === null, allowed, `${records.join(" | ")}: ${refusal}`);
  }
});

test("accounts and methods required by a domain are respected (RFC 8657)", () => {
  const verdictOf = (value: string, more: Partial<CaaQuestion>): string | null =>
    caaRefusal([record(`0 issue ${value}`)], { ...QUESTION, ...more });
  const account = "https://ca.example/acct/1";
  assert.equal(verdictOf(`letsencrypt.org; accounturi=${account}`, { accountUri: account }), null);
  assert.match(verdictOf(`letsencrypt.org; accounturi=${account}`, { accountUri: "https://ca.example/acct/2" })!, /acct\/1 only/);
  assert.equal(verdictOf(`letsencrypt.org; accounturi=${account}`, {}), null);
  assert.equal(verdictOf("letsencrypt.org; validationmethods=dns-01,http-01", { method: "http-01" }), null);
  assert.match(verdictOf("letsencrypt.org; validationmethods=dns-01", { method: "http-01" })!, /by dns-01 only/);
  assert.match(verdictOf("letsencrypt.org; validationmethods=", { method: "http-01" })!, /by no method only/);
  const either = ["0 issue letsencrypt.org; validationmethods=dns-01", "0 issue letsencrypt.org; validationmethods=http-01"].map(record);
  assert.equal(caaRefusal(either, { ...QUESTION, method: "http-01" }), null);
});

test("issue values are parsed as in RFC 8659 §4.2", () => {
  const parameters = [["cansignhttpexchanges", "yes"]];
  for (const text of [
    "pki.goog; cansignhttpexchanges=yes",
    " pki.goog;cansignhttpexchanges = yes ;",
    "PKI.goog ;\tCanSignHTTPExchanges=yes",
  ])
    assert.deepEqual(parseIssueValue(text), { domain: "pki.goog", parameters }, text);
  for (const text of [";", "", "  ", " ; "]) assert.deepEqual(parseIssueValue(text), { domain: "", parameters: [] }, text);
  for (const text of ["a..b", "-a.b", "a b", "a;;b=c", "a; =c", "a; b", "a; b=c d", `a; b=${"x".repeat(5000)}`])
    assert.equal(parseIssueValue(text), null, text);
});

test("no value makes the parser throw, and a parsed value keeps its meaning when written again", () => {
  const part = fc.stringMatching(/^[a-zA-Z0-9;= \t.-]{0,30}$/);
  fc.assert(
    fc.property(fc.oneof(part, fc.string()), (text) => {
      const issuer = parseIssueValue(text);
      if (issuer === null) return;
      const again = [issuer.domain, ...issuer.parameters.map((pair) => pair.join("="))].join("; ");
      assert.deepEqual(parseIssueValue(again), issuer);
    }),
  );
});

test("adding records of other authorities never allows an authority that was refused", () => {
  const tag = fc.constantFrom("issue", "issuewild", "iodef", "unknown");
  const value = fc.constantFrom("letsencrypt.org", "ca.example", ";", "other.example; a=b", "letsencrypt.org; validationmethods=dns-01");
  const records = fc.array(fc.record({ flags: fc.constantFrom(0, 128), tag, value }), { maxLength: 6 });
  fc.assert(
    fc.property(records, fc.boolean(), fc.constantFrom("issue", "issuewild"), (set, isWildcard, more) => {
      const question: CaaQuestion = { ...QUESTION, isWildcard, method: "http-01" };
      fc.pre(caaRefusal(set, question) !== null);
      assert.notEqual(caaRefusal([...set, { flags: 0, tag: more, value: "another.example" }], question), null);
    }),
  );
});

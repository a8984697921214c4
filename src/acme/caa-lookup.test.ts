import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import type { CaaRecord } from "./caa.ts";
import { checkCaa, type LookUpCaa } from "./caa-lookup.ts";

const AUTHORITY = { name: "lets_encrypt", caaDomains: ["letsencrypt.org"] } as const;
const issue = (value: string): CaaRecord => ({ flags: 0, tag: "issue", value });

function resolver(sets: Readonly<Record<string, readonly CaaRecord[] | string>>): { lookUp: LookUpCaa; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    lookUp: async (name) => {
      asked.push(name);
      const set = sets[name] ?? [];
      return typeof set === "string" ? { failed: set } : { records: set };
    },
  };
}

const check = (lookUp: LookUpCaa, host: string) => checkCaa(lookUp, host, { authority: AUTHORITY }, AbortSignal.timeout(60_000));

test("the nearest CAA set above a name counts, and none above that", async () => {
  const { lookUp, asked } = resolver({ "b.example.com": [issue("letsencrypt.org")], "example.com": [issue("ca.example")] });
  assert.deepEqual(await check(lookUp, "a.b.example.com"), { kind: "allowed" });
  assert.deepEqual(asked, ["a.b.example.com", "b.example.com"]);
  assert.deepEqual(await check(lookUp, "c.example.com"), {
    kind: "refused",
    reason: "CAA records of example.com do not let lets_encrypt issue for c.example.com: they do not name letsencrypt.org",
  });
});

test("the search for a wildcard starts at the name below its star and ends at the top-level domain", async () => {
  const { lookUp, asked } = resolver({});
  assert.deepEqual(await check(lookUp, "*.example.com"), { kind: "allowed" });
  assert.deepEqual(asked, ["example.com", "com"]);
});

test("a failed lookup neither allows nor forbids, wherever it fails", async () => {
  const { lookUp } = resolver({ com: "SERVFAIL" });
  const verdict = await check(lookUp, "example.com");
  assert.equal(verdict.kind, "unknown");
  assert.match("reason" in verdict ? verdict.reason : "", /CAA records of com .* SERVFAIL/);
});

test("an aborted search makes no further queries", async () => {
  const controller = new AbortController();
  const asked: string[] = [];
  const lookUp: LookUpCaa = async (name) => {
    asked.push(name);
    controller.abort(new Error("stop"));
    return { records: [] };
  };
  await assert.rejects(checkCaa(lookUp, "a.b.c.d", { authority: AUTHORITY }, controller.signal), /stop/);
  assert.deepEqual(asked, ["a.b.c.d"]);
});

test("the search ends for names of any form, with one query per label", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.stringMatching(/^[a-z0-9-]{0,12}$/), { minLength: 1, maxLength: 200 }), async (labels) => {
      const { lookUp, asked } = resolver({});
      assert.equal((await check(lookUp, labels.join("."))).kind, "allowed");
      assert.equal(asked.length, Math.min(labels.length, 127));
    }),
    { numRuns: 50 },
  );
});

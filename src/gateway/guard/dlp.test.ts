import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { customDetectors } from "#rules/detectors/engine/custom.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import { createDataLossPrevention } from "./dlp.ts";

const [ACCOUNT, OTHER] = ["a".repeat(32), "b".repeat(32)];

/** Detectors of `EMP-12`, or another word, which count what a compilation reads. */
function counted(word: string): { readonly detectors: readonly Detector[]; readonly reads: () => number } {
  let count = 0;
  const [detector] = customDetectors([{ id: word, name: word, pattern: `${word}-\\d{2}`, context: [], validator: "none", tags: [] }]);
  assert.ok(detector !== undefined);
  const { id, ...rest } = detector;
  const detectors = [
    Object.defineProperty(rest, "id", { get: () => id, enumerable: true }) as Detector,
    // Its patterns are read when detectors are grouped, and never match.
    Object.defineProperty({ ...detector, id: "counter" }, "patterns", { get: () => (count++, []) }),
  ];
  return { detectors, reads: () => count };
}

test("a profile is compiled once for requests and answers, and again only when it has changed itself", async () => {
  const first = counted("EMP");
  const profiles = new Map([
    [`${ACCOUNT} own`, first.detectors],
    [`${OTHER} own`, counted("XYZ").detectors],
  ]);
  const { inspect } = createDataLossPrevention({
    vendorPrefix: "svc",
    profiles: { detectorsOf: (account, id) => profiles.get(`${account} ${id}`), isPredefined: () => false },
  });
  const gateway = { account_id: ACCOUNT, gateway_id: "g", authentication: false, collect_logs: true };
  const dlp = [{ id: "p", action: "BLOCK" as const, check: ["REQUEST" as const, "RESPONSE" as const], profiles: ["own"] }];
  const blocks = async (text: string): Promise<boolean> => {
    const made = inspect({ ...gateway, dlp }, () => undefined);
    assert.ok(made !== undefined);
    try {
      await made.checkRequest({ kind: "whole", bytes: Buffer.from(JSON.stringify({ messages: [{ content: text }] })) } as never);
      return false;
    } catch (error) {
      assert.ok(error instanceof RefusalError);
      return true;
    }
  };
  assert.deepEqual([await blocks("EMP-12"), await blocks("XYZ-12")], [true, false]);
  const once = counted("EMP");
  compileDetectors(once.detectors);
  assert.ok(once.reads() > 0);
  assert.equal(first.reads(), once.reads());

  profiles.set(`${OTHER} own`, counted("ABC").detectors);
  assert.equal(await blocks("EMP-34"), true);
  assert.equal(first.reads(), once.reads(), "another account's profile has changed");

  profiles.set(`${ACCOUNT} own`, counted("XYZ").detectors);
  assert.deepEqual([await blocks("EMP-12"), await blocks("XYZ-12")], [false, true]);
});

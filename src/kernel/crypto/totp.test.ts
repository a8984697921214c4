import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { newTotpSecret, totpAddress, totpCode, totpStep } from "./totp.ts";

/** "12345678901234567890" in base32. */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

describe("time-based one-time passwords", () => {
  test("RFC 6238, appendix B: the codes have the last six digits of its examples", () => {
    const rows = [
      [59, "287082"],
      [1_111_111_109, "081804"],
      [1_111_111_111, "050471"],
      [1_234_567_890, "005924"],
      [2_000_000_000, "279037"],
      [20_000_000_000, "353130"],
    ] as const;
    for (const [seconds, code] of rows) assert.equal(totpCode(SECRET, Math.floor(seconds / 30)), code, String(seconds));
  });

  test("a code is valid once, in its own time step and in the one before and after", () => {
    const step = 1000;
    const code = totpCode(SECRET, step);
    const at = (steps: number): number => (step + steps) * 30_000 + 15_000;
    assert.deepEqual(
      [-2, -1, 0, 1, 2].map((steps) => totpStep(SECRET, code, at(steps), 0)),
      [undefined, step, step, step, undefined],
    );
    assert.equal(totpStep(SECRET, code, at(0), step), undefined);
    assert.equal(totpStep(SECRET, "", at(0), 0), undefined);
    assert.equal(totpStep(SECRET, `${code}0`, at(0), 0), undefined);
  });

  test("secrets have 160 bits and differ, and the otpauth URL has the fields that authenticators read", () => {
    const [one, other] = [newTotpSecret(), newTotpSecret()];
    assert.match(one, /^[A-Z2-7]{32}$/);
    assert.notEqual(one, other);
    const address = new URL(totpAddress(one, "Selvedge", "ada+x@example.com"));
    assert.deepEqual([address.protocol, address.host, address.searchParams.get("secret")], ["otpauth:", "totp", one]);
    assert.equal(decodeURIComponent(address.pathname), "/Selvedge:ada+x@example.com");
  });
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { dnskeyRdata, dsDigest, dsNamesKey, keyTag } from "./dnssec-key.ts";

test("RFC 6605 §6.1: the example's key has the given tag and digest", () => {
  const key = "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==";
  const rdata = dnskeyRdata(Buffer.from(key, "base64"));
  assert.equal(keyTag(rdata), 55_648);
  assert.equal(dsDigest("example.net", rdata), "B4C8C1FE2E7477127B27115656AD6256F424625BF5C1E2770CE6D6E37DF61D17");
});

test("RFC 4034 §5.4, RFC 4509 §2.3: a DS names the example's key by its tag, algorithm and digest, and no other", () => {
  const rsa =
    "AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==";
  const key = Buffer.concat([Buffer.of(1, 0, 3, 5), Buffer.from(rsa, "base64")]);
  const owner = "dskey.example.com";
  const [high, low] = [60_485 >> 8, 60_485 & 255];
  const sha1 = Buffer.from("2BB183AF5F22588179A53B0A98631FAD1A292118", "hex");
  const sha256 = Buffer.from("D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A", "hex");
  const names = (...parts: readonly (number | Buffer)[]): boolean =>
    dsNamesKey(Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.of(part) : part))), owner, key);
  assert.equal(keyTag(key), 60_485);
  assert.equal(names(high, low, 5, 1, sha1), true);
  assert.equal(names(high, low, 5, 2, sha256), true);
  assert.equal(names(high, low + 1, 5, 2, sha256), false);
  assert.equal(names(high + 1, low, 5, 2, sha256), false);
  assert.equal(names(high, low, 8, 2, sha256), false);
  assert.equal(names(high, low, 5, 1, sha256), false);
  assert.equal(names(high, low, 5, 3, sha256), false);
  assert.equal(names(high, low, 5, 2, sha256.subarray(1)), false);
  assert.equal(names(high, low, 5, 2), false);
  assert.equal(names(), false);
  assert.equal(dsNamesKey(Buffer.concat([Buffer.of(high, low, 5, 2), sha256]), "other.example.com", key), false);
});

test("dnssec-dsfromkey finds the same tag and digest for random keys", { skip: toolOrSkip("dnssec-dsfromkey") }, () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-ds-"));
  try {
    for (const name of ["example.com", "Upper.Example", "a-very.long.name.below.example.org"]) {
      const { x = "", y = "" } = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
      const rdata = dnskeyRdata(Buffer.concat([Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]));
      const file = join(directory, "key");
      writeFileSync(file, `${name}. 3600 IN DNSKEY 257 3 13 ${rdata.subarray(4).toString("base64")}\n`);
      const { stdout, stderr } = spawnSync("dnssec-dsfromkey", ["-2", "-f", file, name], { encoding: "utf8", timeout: 60_000 });
      assert.match(stdout, new RegExp(`IN DS ${keyTag(rdata)} 13 2 ${dsDigest(name, rdata)}`), stderr);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

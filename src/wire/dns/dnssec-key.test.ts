import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { dnskeyRdata, dsDigest, keyTag } from "./dnssec-key.ts";

test("RFC 6605 §6.1: the example's key has the given tag and digest", () => {
  const key = "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==";
  const rdata = dnskeyRdata(Buffer.from(key, "base64"));
  assert.equal(keyTag(rdata), 55_648);
  assert.equal(dsDigest("example.net", rdata), "B4C8C1FE2E7477127B27115656AD6256F424625BF5C1E2770CE6D6E37DF61D17");
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

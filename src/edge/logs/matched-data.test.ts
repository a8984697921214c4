import assert from "node:assert/strict";
import { test } from "node:test";
import { newEnvelopeKeys, openEnvelope } from "#kernel/crypto/envelope.ts";
import { createMatchedDataEncryptor } from "./matched-data.ts";

test("the encryptor seals at most 200 envelopes a second", () => {
  let nowMs = 5000;
  const { public_key, private_key } = newEnvelopeKeys();
  const seal = createMatchedDataEncryptor({ monotonicMs: () => nowMs });
  const sealed = Array.from({ length: 210 }, (_, i) => seal(public_key, `text ${i}`));
  assert.deepEqual([sealed.filter((envelope) => envelope !== undefined).length, sealed[200]], [200, undefined]);
  nowMs += 1000;
  assert.equal(openEnvelope(private_key, seal(public_key, "again") ?? ""), "again");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { isEnvelopeKey, newEnvelopeKeys, openEnvelope, sealEnvelope } from "./envelope.ts";

test("an envelope opens only with the private key of its recipient", () => {
  const keys = newEnvelopeKeys();
  for (const text of ["", "4716461583322103", "é".repeat(5000)]) {
    const envelope = sealEnvelope(keys.public_key, text);
    assert.match(envelope, /^mde1\.[A-Za-z0-9_-]+$/);
    assert.equal(openEnvelope(keys.private_key, envelope), text);
    assert.notEqual(sealEnvelope(keys.public_key, text), envelope);
    assert.throws(() => openEnvelope(newEnvelopeKeys().private_key, envelope));
  }
});

test("an envelope that was changed, cut or is not an envelope does not open", () => {
  const keys = newEnvelopeKeys();
  const envelope = sealEnvelope(keys.public_key, "secret");
  for (let at = 0; at < envelope.length - 1; at += 7) {
    const changed = envelope.slice(0, at) + (envelope[at] === "A" ? "B" : "A") + envelope.slice(at + 1);
    assert.throws(() => openEnvelope(keys.private_key, changed), Error, `changed at ${at}`);
  }
  for (const wrong of ["", "mde1.", "mde1.AAAA", envelope.slice(0, -4)]) assert.throws(() => openEnvelope(keys.private_key, wrong));
  assert.throws(() => openEnvelope("AAAA", envelope));
});

test("only the 32 bytes of a usable point are a valid key", () => {
  assert.equal(isEnvelopeKey(newEnvelopeKeys().public_key), true);
  for (const wrong of [
    "",
    "x",
    newEnvelopeKeys().public_key.slice(1),
    Buffer.alloc(31).toString("base64"),
    Buffer.alloc(32).toString("base64"),
  ])
    assert.equal(isEnvelopeKey(wrong), false, wrong);
});

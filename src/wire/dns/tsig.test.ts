import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { CLASS, FLAG, TYPE } from "./codes.ts";
import { WireError } from "./errors.ts";
import { encodeMessage, type Message } from "./message.ts";
import { keyOf, parseAbsoluteName } from "./name.ts";
import { appendTsig, readTsig, TSIG_ERROR, withoutTsig } from "./tsig-record.ts";
import {
  createAnswerSigner,
  createAnswerVerifier,
  createTsigKey,
  refuseSignature,
  signRequest,
  tsigBytes,
  type TsigKey,
  verifyRequest,
} from "./tsig.ts";

const NOW = 1_780_000_000;
const algorithms = ["hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"] as const;

const keys = fc
  .record({
    name: fc.constantFrom("k.example", "Key.Example.COM", "a\\.b.c", "."),
    algorithm: fc.constantFrom(...algorithms),
    secret: fc.uint8Array({ minLength: 10, maxLength: 80 }),
  })
  .map(({ name, algorithm, secret }) => createTsigKey(name, algorithm, secret));

const message = (change: Partial<Message> = {}): Buffer =>
  encodeMessage({
    id: 4711,
    flags: 0,
    questions: [{ name: parseAbsoluteName("example.com"), type: TYPE.AXFR, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    ...change,
  }) as Buffer;

const answers = fc.array(fc.record({ at: fc.nat(255), signed: fc.boolean() }), { minLength: 1, maxLength: 12 }).map((parts) =>
  parts.map(({ at, signed }) => ({
    signed,
    bytes: message({
      flags: FLAG.QR,
      answers: [
        { name: parseAbsoluteName("www.example.com"), type: TYPE.A, class: CLASS.IN, ttl: 60, rdata: Uint8Array.of(192, 0, 2, at) },
      ],
    }),
  })),
);

const tsigOf = (bytes: Buffer) => {
  const record = readTsig(bytes);
  assert.ok(record);
  return record;
};

const verdict = (bytes: Buffer, known: readonly TsigKey[], now = NOW): number => verifyRequest(bytes, tsigOf(bytes), known, now).error;

test("a message signed with a key is verified with it, and restored unchanged", () => {
  fc.assert(
    fc.property(keys, fc.uint8Array({ minLength: 10 }), (key, otherSecret) => {
      const plain = message();
      const { bytes, mac } = signRequest(plain, key, NOW);
      assert.equal(bytes.length, plain.length + tsigBytes(key));
      const record = tsigOf(bytes);
      assert.deepEqual([record.keyName, record.algorithm, record.timeSigned, record.mac], [keyOf(key.name), key.algorithm, NOW, mac]);
      assert.deepEqual(withoutTsig(bytes, record), plain);
      const impostor = { ...key, secret: Buffer.concat([otherSecret, Buffer.of(1)]) };
      // Of several keys with one name, the one that fits is found.
      const found = verifyRequest(bytes, record, [impostor, key], NOW + 299);
      assert.deepEqual(found, { error: TSIG_ERROR.NONE, key });
      assert.equal(verdict(bytes, [impostor]), TSIG_ERROR.BADSIG);
      assert.equal(verdict(bytes, [{ ...key, name: parseAbsoluteName("other.example") }]), TSIG_ERROR.BADKEY);
      assert.equal(verdict(bytes, []), TSIG_ERROR.BADKEY);
      for (const late of [301, -301]) assert.equal(verdict(bytes, [key], NOW + late), TSIG_ERROR.BADTIME);
    }),
  );
});

test("a signature survives a change of the message identifier, and no other change", () => {
  const key = createTsigKey("k.example", "hmac-sha256", Buffer.alloc(32, 7));
  const { bytes } = signRequest(message(), key, NOW);
  const forwarded = Buffer.from(bytes);
  forwarded.writeUInt16BE(99, 0);
  assert.equal(verdict(forwarded, [key]), TSIG_ERROR.NONE);
  const accepted: number[] = [];
  for (let bit = 16; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    try {
      const record = readTsig(changed);
      if (record && verifyRequest(changed, record, [key], NOW).error === TSIG_ERROR.NONE) accepted.push(bit);
    } catch (error) {
      assert.ok(error instanceof WireError, String(error));
    }
  }
  // The case of letters in the names of key and algorithm carries no meaning (RFC 4343).
  const upperCase = accepted.map((bit) => bytes[bit >> 3]! & ~0x20).filter((byte) => byte < 0x41 || byte > 0x5a);
  assert.deepEqual(upperCase, []);
});

test("a truncated signature is refused, and one that is too short is malformed", () => {
  for (const algorithm of algorithms) {
    const key = createTsigKey("k.example", algorithm, Buffer.alloc(64, 3));
    const { bytes, mac } = signRequest(message(), key, NOW);
    const record = tsigOf(bytes);
    const shortened = (length: number): Buffer =>
      appendTsig(withoutTsig(bytes, record), {
        ...record,
        keyName: key.name,
        algorithmName: parseAbsoluteName(algorithm),
        mac: Buffer.concat([mac, Buffer.alloc(8)]).subarray(0, length),
      });
    assert.equal(verdict(shortened(mac.length), [key]), TSIG_ERROR.NONE);
    assert.equal(verdict(shortened(mac.length / 2), [key]), TSIG_ERROR.BADTRUNC);
    for (const length of [mac.length / 2 - 1, 0, mac.length + 1])
      assert.throws(
        () => verdict(shortened(length), [key]),
        (error) => error instanceof WireError && error.code === "bad_tsig",
      );
  }
});

test("a verifier trusts the messages of an answer up to the last signed one", () => {
  fc.assert(
    fc.property(keys, answers, (key, parts) => {
      const request = signRequest(message(), key, NOW);
      const signer = createAnswerSigner(key, request.mac, () => NOW + 5);
      const verifier = createAnswerVerifier(key, request.mac, () => NOW);
      for (const { bytes } of parts) {
        assert.equal(verifier.accept(signer(bytes)), null);
        assert.equal(verifier.settled, true);
      }
    }),
  );
});

test("the verifier detects a message that is missing, repeated, swapped or from another answer", () => {
  const key = createTsigKey("k.example", "hmac-sha512", Buffer.alloc(32, 7));
  const request = signRequest(message(), key, NOW);
  const signer = createAnswerSigner(key, request.mac, () => NOW);
  const signed = Array.from({ length: 4 }, (_, i) => signer(message({ id: 4711, flags: FLAG.QR | (i << 4) })));
  const faults = (order: readonly number[], mac = request.mac): unknown[] => {
    const verifier = createAnswerVerifier(key, mac, () => NOW);
    const found = [];
    for (const i of order) {
      found.push(verifier.accept(signed[i]!));
      if (found.at(-1) !== null) break;
    }
    return found;
  };
  assert.deepEqual(faults([0, 1, 2, 3]), [null, null, null, null]);
  assert.deepEqual(faults([0, 2]), [null, "bad_signature"]);
  assert.deepEqual(faults([0, 1, 1]), [null, null, "bad_signature"]);
  assert.deepEqual(faults([1]), ["bad_signature"]);
  assert.deepEqual(faults([0], Buffer.alloc(64)), ["bad_signature"]);
});

test("the first message needs a signature, 99 may follow without, and none is trusted before the next signed one", () => {
  const key = createTsigKey("k.example", "hmac-sha256", Buffer.alloc(32, 7));
  const request = signRequest(message(), key, NOW);
  const verifier = createAnswerVerifier(key, request.mac, () => NOW);
  const unsigned = message({ flags: FLAG.QR });
  assert.equal(createAnswerVerifier(key, request.mac, () => NOW).accept(unsigned), "unsigned");
  assert.equal(verifier.accept(createAnswerSigner(key, request.mac, () => NOW)(unsigned)), null);
  for (let i = 0; i < 99; i++) {
    assert.equal(verifier.accept(unsigned), null);
    assert.equal(verifier.settled, false);
  }
  assert.equal(verifier.accept(unsigned), "unsigned");
});

test("the refusal of a signature has a reason, and is signed if the client has the key", () => {
  const key = createTsigKey("k.example", "hmac-sha256", Buffer.alloc(32, 7));
  const stranger = createTsigKey("k.example", "hmac-sha256", Buffer.alloc(32, 8));
  const response = message({ flags: FLAG.QR | 9 });
  const answered = (asking: TsigKey, known: readonly TsigKey[], time: number) => {
    const request = signRequest(message(), asking, time);
    const record = tsigOf(request.bytes);
    const bytes = refuseSignature(response, record, verifyRequest(request.bytes, record, known, NOW), NOW);
    return { fault: createAnswerVerifier(asking, request.mac, () => time).accept(bytes), record: tsigOf(bytes) };
  };
  assert.equal(answered(key, [], NOW).fault, "peer_bad_key");
  assert.equal(answered(stranger, [key], NOW).fault, "peer_bad_signature");
  assert.equal(answered(stranger, [key], NOW).record.mac.length, 0);
  const late = answered(key, [key], NOW - 1000);
  assert.equal(late.fault, "peer_bad_time");
  assert.deepEqual([late.record.timeSigned, late.record.other.readUIntBE(0, 6)], [NOW - 1000, NOW]);
});

test("property: parsing throws only WireError, and finds no signature except at the end", () => {
  const key = createTsigKey("k.example", "hmac-sha1", Buffer.alloc(20, 1));
  const { bytes } = signRequest(message(), key, NOW);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 8 }), fc.nat(bytes.length), (changes, length) => {
      const changed = Buffer.from(bytes.subarray(0, length));
      for (const [at, byte] of changes) if (at < length) changed[at] = byte;
      try {
        readTsig(changed);
      } catch (error) {
        assert.ok(error instanceof WireError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
  const twice = signRequest(bytes, key, NOW).bytes;
  assert.throws(() => readTsig(twice), WireError);
  const asAnswer = Buffer.from(bytes);
  asAnswer.writeUInt16BE(1, 6);
  asAnswer.writeUInt16BE(0, 10);
  assert.throws(() => readTsig(asAnswer), WireError);
});

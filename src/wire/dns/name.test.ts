import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { WireError } from "./errors.ts";
import { NAME_BYTES_MAX, formatName, isWithin, keyOf, nameOfKey, parentKey, parseAbsoluteName, parseName, readName } from "./name.ts";

const labels = fc.array(fc.uint8Array({ minLength: 1, maxLength: 63 }), { maxLength: 8 });
const names = labels
  .map((parts) => Buffer.concat([...parts.flatMap((part) => [Buffer.of(part.length), Buffer.from(part)]), Buffer.of(0)]))
  .filter((name) => name.length <= NAME_BYTES_MAX);

test("property: a name of any bytes survives its presentation form", () => {
  fc.assert(
    fc.property(names, (name) => {
      const again = parseName(formatName(name), { origin: Buffer.of(0), style: "master" });
      assert.equal(again.toString("hex"), name.toString("hex"));
    }),
    { numRuns: 1000 },
  );
});

test("property: names of host characters are parsed like names with escapes", () => {
  const outcome = (text: string, style: "api" | "master"): string => {
    try {
      return parseName(text, { origin: parseAbsoluteName("example.com"), style }).toString("hex");
    } catch (error) {
      return (error as Error).message;
    }
  };
  const text = fc.array(
    fc.oneof(fc.constantFrom("a", "B", "9", "-", "_", "*", "/", "+", ".", "a.b."), fc.stringMatching(/^[a-z]{50,70}$/)),
    {
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(text, fc.constantFrom("api", "master" as const), (pieces, style) => {
      const plain = `x${pieces.join("")}`;
      assert.equal(outcome(plain, style), outcome(`\\120${plain.slice(1)}`, style), plain);
    }),
    { numRuns: 2000 },
  );
});

test("keys fold the case of ASCII letters only", () => {
  assert.equal(keyOf(parseAbsoluteName("WwW.Example.COM")), keyOf(parseAbsoluteName("www.example.com.")));
  assert.notEqual(keyOf(parseAbsoluteName("\\192.example")), keyOf(parseAbsoluteName("\\224.example")));
  assert.notEqual(keyOf(parseAbsoluteName("a\\.b.example")), keyOf(parseAbsoluteName("a.b.example")));
});

test("ancestors are compared by labels, not by characters", () => {
  const key = (text: string): string => keyOf(parseAbsoluteName(text));
  assert.equal(parentKey(key("www.example.com")), key("example.com"));
  assert.equal(parentKey(key(".")), undefined);
  assert.ok(isWithin(key("a.b.example"), key("b.example")));
  assert.ok(isWithin(key("b.example"), key("b.example")));
  assert.ok(!isWithin(key("ab.example"), key("b.example")));
  // `\001b` is a label whose bytes look like the label `b` with its length.
  assert.ok(!isWithin(key("x\\001b.example"), key("b.example")));
  assert.equal(formatName(nameOfKey(key("A.Example"))), "a.example");
});

test("decompression follows only backward pointers, and terminates", () => {
  const message = Buffer.from("\u0003www\u0007example\u0000", "latin1");
  const pointed = Buffer.concat([message, Buffer.of(4, 0x6d, 0x61, 0x69, 0x6c, 0xc0, 4)]);
  const { name, end } = readName(pointed, message.length, true);
  assert.equal(formatName(name), "mail.example");
  assert.equal(end, pointed.length);
  const broken: [bytes: Buffer, offset: number, code: string][] = [
    [Buffer.of(0xc0, 0), 0, "bad_pointer"],
    [Buffer.of(0xc0, 2, 0xc0, 0), 0, "bad_pointer"],
    [Buffer.of(0, 0xc0), 1, "truncated"],
    [Buffer.of(3, 0x61), 0, "truncated"],
    [Buffer.of(), 0, "truncated"],
    [Buffer.of(0x40, 0), 0, "bad_label"],
    [Buffer.alloc(600, Buffer.from("\u0001a", "latin1")), 0, "name_too_long"],
  ];
  for (const [bytes, offset, code] of broken) assert.throws(() => readName(bytes, offset, true), { name: "WireError", code });
  assert.throws(() => readName(pointed, message.length, false), { code: "bad_pointer" });
});

test("property: any bytes are parsed as a name or refused with a WireError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, offset) => {
      try {
        assert.ok(readName(bytes, offset, true).name.length <= NAME_BYTES_MAX);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
      }
    }),
    { numRuns: 2000 },
  );
});

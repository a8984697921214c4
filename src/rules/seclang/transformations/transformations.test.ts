import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { isNarrowing, transformationOf, TRANSFORMATION_NAMES } from "./transformations.ts";

const apply = (name: string, text: string): string => transformationOf(name)!.apply(text);

/** From ModSecurity's own tests and its manual. */
const KNOWN: readonly (readonly [name: string, text: string, becomes: string])[] = [
  ["urlDecode", "a%41+%zz%2", "aA %zz%2"],
  ["urlDecodeUni", "%u0041%uff1c%u00e9+%41%u12", "A<\xe9 A%u12"],
  ["urlEncode", "a b&c", "a+b%26c"],
  ["htmlEntityDecode", "&lt;&#x3c;&#0060;&#60 &quot;&nope;&#x0000000000000000000000000000000000000000003c", '<<<< "&nope;<'],
  ["jsDecode", String.raw`\x41\u0042\u002f\101\n\q\77`, "AB/A\nq?"],
  ["cssDecode", String.raw`\41 b\000043\f\g\ff1c`, "AbC\x0fg<"],
  ["escapeSeqDecode", String.raw`\x41\102\n\"\q`, 'AB\n"q'],
  ["utf8toUnicode", "a\xc3\xa9\xef\xbc\x9c\xff\xc0\xaf\xe0\x80\xbc\xc3", "a%u00e9%uff1c\xff%u002f%u003c\xc3"],
  ["removeNulls", "a\0b", "ab"],
  ["replaceNulls", "a\0b", "a b"],
  ["removeWhitespace", " a\t\xa0b\n", "ab"],
  ["compressWhitespace", "a \t b", "a b"],
  ["replaceComments", "a/*b*/c/*d", "a c "],
  ["removeComments", "a/*b*/c--d", "ac"],
  ["removeCommentsChar", "a/*b*/<!--c#d", "abcd"],
  ["trim", " a ", "a"],
  ["lowercase", "AbC\xc9", "abc\xc9"],
  ["uppercase", "abc", "ABC"],
  ["cmdLine", 'C^:\\Win"dows,  /c (x', "c:windows/c(x"],
  ["normalizePath", "/a/./b/../../../etc//passwd", "/etc/passwd"],
  ["normalisePath", "a/../../b/", "../b/"],
  ["normalizePathWin", "a\\b\\..\\c", "a/c"],
  ["base64Decode", "YWJj!YWJj", "abc"],
  ["base64DecodeExt", "YW-Jj", "abc"],
  ["base64Encode", "abc", "YWJj"],
  ["hexEncode", "A\xff", "41ff"],
  ["hexDecode", "4142", "AB"],
  ["sqlHexDecode", "x0x414243z0x4", "xABCz0x4"],
  ["length", "abc", "3"],
  ["md5", "", Buffer.from("d41d8cd98f00b204e9800998ecf8427e", "hex").toString("latin1")],
  ["sha1", "", Buffer.from("da39a3ee5e6b4b0d3255bfef95601890afd80709", "hex").toString("latin1")],
  ["none", "aB", "aB"],
];

test("known values of each transformation", () => {
  for (const [name, text, becomes] of KNOWN) assert.equal(apply(name, text), becomes, `${name} of ${text}`);
  const tried = new Set(KNOWN.map(([name]) => name));
  const twins = ["normalisePathWin", "trimLeft", "trimRight"];
  assert.deepEqual(
    TRANSFORMATION_NAMES.split(", ").filter((name) => !tried.has(name) && !twins.includes(name)),
    [],
  );
});

const anyText = fc.array(fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0x25, 0x26, 0x5c, 0x2f, 0x2a, 0x41, 0x20, 0x2e)), {
  maxLength: 40,
});

test("transformations that are said to narrow add no byte but spaces, without regard to case", () => {
  for (const name of TRANSFORMATION_NAMES.split(", ").filter(isNarrowing))
    fc.assert(
      fc.property(anyText, (bytes) => {
        const text = String.fromCharCode(...bytes);
        const known = new Set(`${text.toLowerCase()} `);
        for (const byte of apply(name, text).toLowerCase()) assert.ok(known.has(byte), `${name} adds ${byte}`);
      }),
      { numRuns: 300 },
    );
});

test("a text without the bytes that a transformation changes stays unchanged, and every result is a byte string", () => {
  for (const name of TRANSFORMATION_NAMES.split(", ")) {
    const { apply: change, touches } = transformationOf(name)!;
    fc.assert(
      fc.property(anyText, (bytes) => {
        const text = String.fromCharCode(...bytes);
        const changed = change(text);
        assert.ok(!/[^\0-\xff]/.test(changed), name);
        if (touches !== null && ![...touches].some((byte) => text.includes(byte))) assert.equal(changed, text, name);
      }),
      { numRuns: 300 },
    );
  }
});

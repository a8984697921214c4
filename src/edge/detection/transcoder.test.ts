import assert from "node:assert/strict";
import { test } from "node:test";
import { TextDecoder } from "node:util";
import { fc } from "../../../test/support/property.ts";
import { charsetOf } from "#edge/http/media-type.ts";
import { createTranscoder } from "./transcoder.ts";

/** Sends the bytes through a transcoder, cut at these places. */
function transcoded(charset: string, bytes: Uint8Array, cuts: readonly number[] = []): string {
  const given: Buffer[] = [];
  const { write, end } = createTranscoder(charset, (text) => void given.push(Buffer.from(text)));
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [index, to] of places.slice(1).entries()) {
    // Overwritten at once, as read buffers are.
    const scratch = Uint8Array.from(bytes.subarray(places[index] ?? 0, to));
    write(scratch);
    scratch.fill(0x2a);
  }
  end();
  return Buffer.concat(given).toString();
}

/** The inverse of a decoder of two-byte characters. */
function encoded(charset: string, text: string): Buffer {
  const decoder = new TextDecoder(charset);
  const pairs = new Map<string, Buffer>();
  for (let lead = 0x81; lead < 0xff; lead++) {
    for (let trail = 0x40; trail < 0xff; trail++) {
      const bytes = Buffer.from([lead, trail]);
      pairs.set(decoder.decode(bytes), bytes);
    }
  }
  return Buffer.concat([...text].map((char) => (char < "\u0080" ? Buffer.from(char) : (pairs.get(char) ?? Buffer.from("?")))));
}

const utf16be = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

const utf32le = (text: string): Buffer => Buffer.from(Uint32Array.from([...text], (char) => char.codePointAt(0) ?? 0).buffer);
const utf32be = (text: string): Buffer => utf32le(text).swap32();

const BODIES: readonly (readonly [name: string, charset: string, bytes: Buffer, text: string])[] = [
  ["UTF-16, little end first, with a mark", "", Buffer.from("\ufeff<p>4716461583322103é", "utf16le"), "<p>4716461583322103é"],
  ["UTF-16, big end first, with a mark against its header", "utf-8", utf16be('\ufeff{"pan":1}'), '{"pan":1}'],
  ["UTF-16 by its header alone", "utf-16le", Buffer.from("é4716", "utf16le"), "é4716"],
  ["UTF-16 by its zeros", "", utf16be('{"a":"4716"}'), '{"a":"4716"}'],
  ["UTF-16 by its zeros, little end first", "utf-16", Buffer.from("<?xml?>4716", "utf16le"), "<?xml?>4716"],
  ["UTF-32, little end first, with a mark", "utf-16", utf32le("\ufeff<p>4716é😀"), "<p>4716é😀"],
  ["UTF-32, big end first, with a mark", "", utf32be("\ufeff<p>4716é😀"), "<p>4716é😀"],
  ["UTF-32 by its header alone", "utf-32", utf32be("é😀4716"), "é😀4716"],
  ["UTF-32 by its header alone, little end first", "utf-32le", utf32le("é😀4716"), "é😀4716"],
  ["UTF-32 by its zeros", "", utf32le('{"a":"4716"}'), '{"a":"4716"}'],
  ["UTF-32 by its zeros, big end first", "", utf32be('{"a":"4716"}'), '{"a":"4716"}'],
  ["Shift_JIS", "shift_jis", encoded("shift_jis", "カード番号 4716-4615"), "カード番号 4716-4615"],
  ["GB18030", "gb18030", encoded("gb18030", "护照号码 E12345678"), "护照号码 E12345678"],
  ["GBK under its old name", "gb2312", encoded("gbk", "卡号 4716"), "卡号 4716"],
  ["EUC-KR", "euc-kr", encoded("euc-kr", "주민등록번호 900101"), "주민등록번호 900101"],
  ["Big5", "big5", encoded("big5", "信用卡 4716"), "信用卡 4716"],
];

for (const [name, charset, bytes, text] of BODIES) {
  test(`the transcoder turns ${name} into UTF-8, wherever the input is cut`, () => {
    assert.equal(transcoded(charset, bytes), text);
    for (let cut = 0; cut <= bytes.length; cut++) assert.equal(transcoded(charset, bytes, [cut]), text, `cut at ${cut}`);
    fc.assert(
      fc.property(fc.array(fc.nat(100), { maxLength: 8 }), (cuts) => assert.equal(transcoded(charset, bytes, cuts), text)),
      { numRuns: 50 },
    );
  });
}

test("the transcoder passes charsets that contain ASCII on byte for byte", () => {
  for (const charset of ["", "utf-8", "iso-8859-1", "windows-1251", "koi8-r", "no-such-charset"]) {
    for (const bytes of [Buffer.from([0xe9, 0x20, 0x34, 0x37, 0x31]), Buffer.from("a"), Buffer.alloc(0), Buffer.from("\0\0\0\0")]) {
      const given: Uint8Array[] = [];
      const { write, end } = createTranscoder(charset, (text) => void given.push(Buffer.from(text)));
      for (const byte of bytes) write(Uint8Array.of(byte));
      end();
      assert.deepEqual(Buffer.concat(given), bytes, charset);
    }
  }
});

test("the transcoder replaces only the damaged characters of a text", () => {
  assert.equal(transcoded("shift_jis", Buffer.from([0x82, 0x34, 0x37, 0x31, 0x36, 0x82])), "\ufffd4716\ufffd");
  assert.equal(transcoded("utf-16le", Buffer.from([0x34, 0, 0x37])), "4\ufffd");
  assert.equal(transcoded("utf-32le", Buffer.from([0x34, 0, 0, 0, 0, 0, 0, 0x37, 0, 0xd8, 0, 0, 1])), "4\ufffd\ufffd\ufffd");
});

test("the charset comes from Content-Type, quoted or not and in any case", () => {
  for (const [header, charset] of [
    ["text/html", ""],
    ["text/html; charset=UTF-16", "utf-16"],
    ['text/html;boundary=x; Charset = "Shift_JIS"', "shift_jis"],
    ["text/html; charset=", ""],
  ] as const)
    assert.equal(charsetOf(header), charset, header);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { createTranscoder } from "#edge/detection/transcoder.ts";
import { Multipart } from "./multipart.ts";
import { assertGrowsLinearly } from "../../../../test/support/growth.ts";
import { fc } from "../../../../test/support/property.ts";

const CARD = "4716461583322103";
const base64 = (text: string | Buffer): string => Buffer.from(text).toString("base64").replaceAll(/.{20}/g, "$&\r\n");

/** The text to scan of a body that arrives in pieces of these sizes. */
function shown(body: string | Buffer, sizes: readonly number[] = [1e6]): { readonly text: string; readonly isPartial: boolean } {
  const bytes = Buffer.from(body);
  let text = "";
  const onText = (piece: Uint8Array): void => void (text += Buffer.from(piece).toString("latin1"));
  const parts = new Multipart(createTranscoder("", onText), onText);
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    // The caller reuses its memory.
    const piece = Buffer.from(bytes.subarray(at, at + size));
    parts.write(piece);
    piece.fill(0x2d);
    at += size;
  }
  parts.end();
  return { text, isPartial: parts.isPartial };
}

const part = (fields: string, body: string): string => `--cut\r\n${fields}\r\n\r\n${body}\r\n`;

test("RFC 2045 §6: the scanner decodes encoded parts, and takes the others as they are", () => {
  const quoted = `x=\r\n4716=34615=\n8332=32=31=30=33 =\r\n=E9=zz=4`;
  const image = base64(Buffer.from(`\x89PNG ${CARD}`, "latin1"));
  const body = [
    "preamble\r\n",
    part("Content-Type: text/plain\r\nContent-Transfer-Encoding: Base64", base64(`one ${CARD}`)),
    part("content-transfer-encoding: quoted-printable", quoted),
    part("Content-Type: image/png\r\nContent-Transfer-Encoding: base64", image),
    part('Content-Type: text/html;\r\n charset="utf-16le"\r\nContent-Transfer-Encoding: base64', base64(Buffer.from("<p>wide", "utf16le"))),
    part("Content-Transfer-Encoding: 8bit", "as it stands"),
    "--cut\r\n\r\nwithout a head\r\n--cut--\r\nepilogue",
  ].join("");
  const { text } = shown(body);
  for (const seen of ["preamble", `one ${CARD}`, "x4716461583322103 \xe9=zz=4", "<p>wide", "as it stands", "without a head", "epilogue"])
    assert.ok(text.includes(seen), seen);
  assert.ok(!text.includes(image.slice(0, 20)) && !text.includes("PNG"), "of an image nothing is shown");
});

test("the scanner looks into nested parts", () => {
  const inner = `--in\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(CARD)}\r\n--in--\r\n`;
  const body = `${part('Content-Type: multipart/mixed; boundary="in"', inner)}${part("Content-Transfer-Encoding: base64", base64("after"))}--cut--`;
  const { text } = shown(body);
  assert.match(text, new RegExp(`\n${CARD}\n[^]*\nafter\n`));
});

test("text that is not valid base64 or multipart stays unchanged", () => {
  const { text } = shown(part("Content-Transfer-Encoding: base64", `${base64("first")}\r\n, <${CARD}>`));
  assert.ok(text.includes(`<${CARD}>`));
  for (const plain of [
    "",
    "-",
    "--",
    "--\r\n",
    "no parts",
    `-- \r\n${CARD}\r\n--\r\n`,
    "\n-\n--",
    `--${"x".repeat(90)}\r\n${CARD}`,
    "--cut",
    "--cut\r\nA: b",
  ])
    assert.equal(shown(plain).text, plain);
});

test("RFC 9110 §14.6: the scanner leaves out text that the ends of a range cut", () => {
  const range = (from: number, to: number): string => `Content-Type: text/plain\r\nContent-Range: bytes ${from}-${to}/100`;
  const body = [
    part(range(0, 50), `<a>${CARD}</a> ${CARD}`),
    part(range(60, 90), `${CARD} <b> ${CARD}`),
    part(range(91, 99), `${CARD}, <c>${CARD}`),
    "--cut--",
  ].join("");
  const { text } = shown(body);
  assert.equal(text.split(CARD).length - 1, 2);
  for (const seen of [`<a>${CARD}</a>`, "b>", `<c>${CARD}`]) assert.ok(text.includes(seen), seen);
});

test("property: the text of a body does not depend on its chunks", () => {
  const piece = fc.constantFrom(
    "--cut\r\n",
    "--cut--\r\n",
    "--cu",
    "\n-",
    "\n--",
    "\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "Content-Transfer-Encoding: quoted-printable\r\n",
    "Content-Type: image/png\r\n",
    "Content-Type: multipart/mixed; boundary=in\r\n",
    "--in\r\n",
    "Content-Range: bytes 5-6/10\r\n",
    "NDcxNjQ2MTU4MzMyMjEwMw==",
    "=\r\n=34= ",
    "text ",
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      (pieces, sizes) => {
        const body = pieces.join("");
        assert.equal(shown(body, sizes).text, shown(body).text);
      },
    ),
  );
});

test("the scanner passes a body with more than 1024 parts on unparsed, and reports it as partial", () => {
  const body = `${"--x\n\n".repeat(1025)}rest`;
  assert.deepEqual(shown(body), { text: body, isPartial: true });
  assert.equal(shown("--x\n\n".repeat(1024)).isPartial, false);
});

test("parsing the head of a part byte by byte takes linear time", () => {
  const body = part(`X-Long: ${"x".repeat(5000)}\r\ncontent-transfer-encoding: base64`, base64(CARD));
  assert.ok(shown(body, [1]).text.includes(CARD));
  for (const piece of ["x", "a: b\r\n", "\n\r", "\r"])
    assertGrowsLinearly(
      piece,
      (length) => {
        const pieces = `--cut\r\n${piece.repeat(length / piece.length)}`;
        return () => shown(pieces, [1]);
      },
      2000,
    );
});

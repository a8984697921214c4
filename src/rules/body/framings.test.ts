import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { fc } from "../../../test/support/property.ts";
import { readBody } from "./read-body.ts";

const FORM = "application/x-www-form-urlencoded";
const SECRET = /(?:N[\0]?E[\0]?E[\0]?D[\0]?L[\0]?E)/;
const VALUE = "NEEDLE";

/** A body that some program finds the needle in, and the header fields that go with it. */
interface Framed {
  readonly type: string;
  readonly body: string;
}

/** Each character by itself or as what it is escaped to. */
const escaped = (escape: (char: string) => string) =>
  fc
    .array(fc.boolean(), { minLength: VALUE.length, maxLength: VALUE.length })
    .map((escapes) => Array.from(VALUE, (char, at) => (escapes[at] === true ? escape(char) : char)).join(""));

const hex = (char: string, digits: number): string => char.charCodeAt(0).toString(16).padStart(digits, "0");
const count = fc.oneof(fc.nat({ max: 3 }), fc.constantFrom(1001, 4097));
const around = (piece: string) => fc.tuple(count, count).map(([before, after]) => [piece.repeat(before), piece.repeat(after)] as const);

const form = fc
  .tuple(
    fc.oneof(
      escaped((char) => `%${hex(char, 2)}`),
      escaped((char) => `%u${hex(char, 4)}`),
    ),
    fc.constantFrom("q", "q[]", "q[a]", "?q", "\xef\xbb\xbfq", "q%00", "%71", "", "a.b"),
    around("a=1&"),
    fc.constantFrom("&", ";", "&&", "&x;"),
    fc.constantFrom(FORM, `${FORM};charset=UTF-8`, `${FORM} ; charset=utf-8`, FORM.toUpperCase(), `text/plain, ${FORM}`, "text/plain", ""),
  )
  .map(([value, name, [before, after], separator, type]): Framed => ({ type, body: `${before}b=2${separator}${name}=${value}&${after}` }));

const lineEnd = fc.constantFrom("\r\n", "\r\n", "\r\n", "\n");
const transfer = fc.constantFrom(
  ["", VALUE],
  ["Content-Transfer-Encoding: base64", btoa(VALUE)],
  ["Content-Transfer-Encoding: Quoted-Printable", "N=45=45DLE"],
  ["Content-Type: text/plain; charset=utf-16le", Buffer.from(VALUE, "utf16le").toString("latin1")],
  ["Content-Type: text/plain; charset=utf-7", "+AE4-EEDLE"],
  ["Content-Type: application/json", String.raw`["\u004eEEDLE"]`],
);
const multipart = fc
  .tuple(
    lineEnd,
    lineEnd,
    fc.constantFrom(
      '; name="q"',
      "; name=q",
      '; name="q"; filename=""',
      '; name="q"; x="; filename=y"',
      "; name*=utf-8''q",
      ';name="a";name="q"',
      "",
    ),
    transfer,
    fc.constantFrom("", "preamble", "--X--\r\n", "\r\n"),
    fc.constantFrom("--X--\r\n", "--X--", "", "--X--\r\nepilogue"),
    fc.constantFrom(
      "; boundary=X",
      '; boundary="X"',
      "; boundary = X",
      "; boundary=Y; boundary=X",
      "; boundary=X; boundary=Y",
      ";boundary=x",
    ),
    count,
  )
  .map(([delimiterEnd, headEnd, parameters, [field = "", value = ""], preamble, end, boundary, before]): Framed => {
    const other = '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(before);
    const head = `Content-Disposition: form-data${parameters}${headEnd}${field === "" ? "" : field + headEnd}${headEnd}`;
    return { type: `multipart/form-data${boundary}`, body: `${preamble}${other}--X${delimiterEnd}${head}${value}${delimiterEnd}${end}` };
  });

const json = fc
  .tuple(
    escaped((char) => `\\u${hex(char, 4)}`),
    fc.constantFrom("", "/**/", " ", "\xef\xbb\xbf", "\n\n"),
    fc.constantFrom(["", ""], ['{"a":[', "]}"], ["[[[", "]]]"], ['{"q":1,"q":', ',"q":2}']),
    fc.constantFrom("", "x", '{"a":1}', ","),
    fc.constantFrom(
      "application/json",
      "application/json; charset=utf-8",
      "text/plain",
      FORM,
      "",
      "multipart/form-data; boundary=X",
      "image/png",
    ),
  )
  .map(([value, before, [open = "", close = ""], after, type]): Framed => ({ type, body: `${before}${open}"${value}"${close}${after}` }));

const xml = fc
  .tuple(
    fc.oneof(
      escaped((char) => `&#x${hex(char, 2)};`),
      fc
        .nat({ max: VALUE.length })
        .chain((at) =>
          fc.constantFrom("<!-- -->", "<?a b?>", "<b>", "</b>", "<![CDATA[]]>").map((mark) => VALUE.slice(0, at) + mark + VALUE.slice(at)),
        ),
      fc.constant(`<![CDATA[${VALUE}]]>`),
    ),
    fc.constantFrom("<a>", '<?xml version="1.0"?><a>', "<!DOCTYPE a><a>"),
  )
  .map(([value, start]): Framed => ({ type: "application/xml", body: `${start}${value}</a>` }));

const CODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  "": (bytes) => bytes,
  identity: (bytes) => bytes,
  gzip: gzipSync,
  "X-GZip": (bytes) => Buffer.concat([gzipSync(bytes.subarray(0, bytes.length >> 1)), gzipSync(bytes.subarray(bytes.length >> 1))]),
  deflate: deflateSync,
  Deflate: deflateRawSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  "br, gzip": (bytes) => gzipSync(brotliCompressSync(bytes)),
};

test("for any framing, encoding, order and size, the reader finds a value that a program would see, or reports a cause", () => {
  const cut = fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) });
  fc.assert(
    fc.property(fc.oneof(form, multipart, json, xml), fc.constantFrom(...Object.keys(CODERS)), cut, ({ type, body }, coding, share) => {
      const sent = CODERS[coding]!(Buffer.from(body, "latin1")).toString("latin1");
      const raw = sent.slice(0, Math.ceil(sent.length * share));
      const { args, texts, pieces, causes } = readBody({
        raw,
        truncated: raw.length < sent.length,
        contentType: type === "" ? [] : [type],
        contentEncoding: coding === "" ? [] : [coding],
      });
      const seen = [
        ...args.flatMap(({ name, value, otherNames, otherValues }) => [name, value, ...otherNames, ...otherValues]),
        ...texts,
        ...pieces,
      ];
      assert.ok(seen.some((text) => SECRET.test(text)) || causes.size > 0, `${coding} ${type} ${JSON.stringify(body.slice(0, 300))}`);
    }),
    { numRuns: 600 },
  );
});

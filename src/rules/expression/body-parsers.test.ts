import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { readBody } from "#rules/body/read-body.ts";
import { type Multipart, multipartOf } from "#rules/expression/request/multipart.ts";
import { mimeOf } from "#rules/body/mime.ts";
import { lookUpJson } from "#rules/expression/request/json-lookup.ts";
import { readPairs } from "#rules/expression/request/request-parts.ts";

const readMultipart = (type: string, raw: string): Multipart | undefined =>
  multipartOf(readBody({ raw, truncated: false, contentType: [type], contentEncoding: [] }));

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array).toString("latin1"));
/** Parts of such bodies in any order, so that parsers get far. */
const pieces = (...known: readonly string[]) =>
  fc.array(fc.oneof(fc.constantFrom(...known), bytes), { maxLength: 40 }).map((all) => all.join(""));
const RUNS = { numRuns: 400 };

test("any text is read as a form: nothing of it is lost, and nothing is added", () => {
  fc.assert(
    fc.property(pieces("&", "=", "a", "%26", "+", "&&", "=="), (text) => {
      const pairs = text.split("&").filter((pair) => pair !== "");
      const { names, all } = readPairs(text);
      assert.deepEqual(
        names,
        pairs.map((pair) => pair.split("=", 1)[0]),
      );
      assert.deepEqual(
        all,
        pairs.map((pair) => pair.split("=").slice(1).join("=")),
      );
    }),
    RUNS,
  );
});

test("parts are read as they were written, whatever bytes they contain", () => {
  const part = fc.record({
    name: fc.stringMatching(/^[a-z0-9 _.]{1,12}$/),
    filename: fc.option(fc.stringMatching(/^[A-Za-z0-9 ._;-]{1,20}$/)),
    value: bytes,
  });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const boundary = "----boundary0123456789";
      fc.pre(!parts.some(({ value }) => value.includes(boundary)));
      const body = parts.map(({ name, filename, value }) => {
        const disposition = `form-data; name="${name}"${filename === null ? "" : `; filename="${filename}"`}`;
        return `--${boundary}\r\nContent-Disposition: ${disposition}\r\n\r\n${value}\r\n`;
      });
      const read = readMultipart(`multipart/form-data; boundary="${boundary}"`, `${body.join("")}--${boundary}--\r\n`);
      assert.deepEqual(
        read?.values,
        parts.map(({ value }) => value),
      );
      assert.deepEqual(
        read?.names,
        parts.map(({ name }) => [name]),
      );
      assert.deepEqual(
        read?.filenames,
        parts.map(({ filename }) => (filename === null ? [] : [filename])),
      );
    }),
    RUNS,
  );
});

test("invalid bodies never throw, and every list has one item per part", () => {
  const types = fc.constantFrom(
    "multipart/form-data; boundary=xx",
    'multipart/mixed;boundary="x\\x"',
    "multipart/form-data",
    "Multipart/Form-Data; charset=a; BOUNDARY=xx",
  );
  const body = pieces(
    "--xx",
    "--xx\r\n",
    "--xx--",
    "\r\n",
    "\n",
    "Content-Disposition: form-data; name=",
    '"a"',
    ';filename="',
    "\r\n\r\n",
    "Content-Type: a/b",
    ":",
  );
  fc.assert(
    fc.property(types, body, (type, text) => {
      const read = readMultipart(type, text);
      if (read === undefined) return;
      for (const list of [read.names, read.filenames, read.types, read.dispositions, read.encodings])
        assert.equal(list.length, read.values.length);
      assert.equal(typeof mimeOf(text), "string");
    }),
    RUNS,
  );
});

test("hostile bodies of maximum length do not stall the parsers", () => {
  const LENGTH = 131_072;
  const fill = (piece: string): string => piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
  for (const piece of [
    "&",
    "=",
    "a=",
    "--xx\r\n",
    "\r\n--xx",
    "\r\n--xx\r\n\r\n",
    '--xx\r\nContent-Disposition: ;name="',
    ';name="\\',
    "a: b\r\n",
    "\r\n-",
    "[",
    '{"a":',
    '"\\u0041"',
  ]) {
    const body = fill(piece);
    readPairs(body).get("a");
    readMultipart("multipart/form-data; boundary=xx", body)?.byName.get("a");
    readMultipart("multipart/form-data; boundary=xx", `--xx\r\nContent-Disposition: form-data${fill(";name=\\")}\r\n\r\nx\r\n--xx--`);
    mimeOf(body);
    lookUpJson(body, ["a", 1]);
  }
});

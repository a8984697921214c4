import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { fc } from "../../../test/support/property.ts";
import { HONEST_REQUESTS } from "./testing/honest-bodies.cases.ts";
import { MEASURED_BYTES, ODD_REQUESTS, type OddRequest } from "./testing/odd-bodies.cases.ts";
import type { Argument } from "./body-reading.ts";
import { cookieArguments } from "./cookies.ts";
import { formArguments } from "./form.ts";
import { readBody } from "./read-body.ts";

/** A value that was cut in two by what readers leave out is found too. */
const EVIL = /EV[\0\r\n +;]{0,3}IL/;

interface Seen {
  readonly args: readonly Argument[];
  readonly isRead: boolean;
  readonly causes: readonly string[];
}

function look({ query, cookies = [], types = [], codings = [], body = "" }: OddRequest, truncated = false): Seen {
  const args: Argument[] = [];
  if (query !== undefined) formArguments(query, "query", "", args);
  for (const line of cookies) cookieArguments(line, args);
  const reading = readBody({ raw: body, truncated, contentType: types, contentEncoding: codings });
  const all = [...args, ...reading.args];
  const texts = all.flatMap((one) => [one.name, one.value, ...one.otherNames, ...one.otherValues]);
  return {
    args: all,
    isRead: [...texts, ...reading.texts, ...reading.pieces].some((text) => EVIL.test(text)),
    causes: [...reading.causes],
  };
}

const ALL = [...ODD_REQUESTS, ...MEASURED_BYTES];

test("every value that a program behind the edge reads is read, or a cause is reported", () => {
  const blind = ALL.flatMap((row) => {
    const { isRead, causes } = look(row);
    return isRead || causes.length > 0 ? [] : [row.name];
  });
  assert.deepEqual(blind, []);
});

test("only a few bodies are reported without being read", () => {
  assert.deepEqual(
    ALL.flatMap((row) => (look(row).isRead ? [] : [`${row.name}: ${look(row).causes.join()}`])),
    [
      "multipart: head: unknown transfer encoding: coding-unknown",
      "json: comment within a value: json-invalid",
      "coding: three times: coding",
      "coding: grows by a thousand: coding",
    ],
  );
});

test("bodies of benign programs give no cause", () => {
  const said = HONEST_REQUESTS.flatMap((row) => {
    const { causes } = look(row);
    return causes.length === 0 ? [] : [`${row.name}: ${causes.join()}`];
  });
  assert.deepEqual(said, []);
});

test("an argument has at most three readings of its name and value, and all of them are found", () => {
  for (const row of [...ALL, ...HONEST_REQUESTS])
    for (const { otherNames, otherValues } of look(row).args) assert.ok(otherNames.length <= 2 && otherValues.length <= 2, row.name);
});

const CUTS = 80;

test("a body cut anywhere is reported as cut, and the cut gives no other cause", () => {
  for (const row of HONEST_REQUESTS) {
    const { body = "" } = row;
    const cuts = Array.from({ length: Math.min(CUTS, body.length - 1) }, (_, i) => 1 + Math.floor((i * body.length) / CUTS));
    for (const cut of new Set(cuts.filter((at) => at < body.length)))
      assert.deepEqual(look({ ...row, body: body.slice(0, cut) }, true).causes, ["size"], `${row.name}, cut at ${cut}`);
  }
});

const FORM = "application/x-www-form-urlencoded";
const TYPES = [FORM, "multipart/form-data; boundary=X", "application/json", "application/xml", "text/plain", `${FORM}; charset=utf-7`];

test("any bytes are read without an error, in linear time", () => {
  const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array).toString("latin1"));
  const odd = fc.constantFrom(...ALL.map(({ body = "" }) => body).filter((body) => body.length < 2000));
  const cutAt = fc.nat({ max: 2000 });
  const body = fc.oneof(
    bytes,
    fc.tuple(odd, cutAt, bytes).map(([text, at, more]) => text.slice(0, at) + more + text.slice(at)),
  );
  const codings = fc.constantFrom([], ["gzip"], ["br"], ["deflate, zstd"]);
  fc.assert(
    fc.property(fc.constantFrom(...TYPES), codings, body, fc.boolean(), (type, coding, text, truncated) => {
      look({ name: "", types: [type], codings: coding, body: text, cookies: [text], query: text }, truncated);
    }),
    { numRuns: 2000 },
  );
});

const PIECES = [
  ..."&=;%+,:\"'\\[]{}<>/-# a\n\r\0\xff",
  ...[
    "--X",
    "--X\r\n",
    "\r\n--X",
    "\n--X\n",
    "\r\n\r\n",
    "a=1&",
    "a;",
    '""',
    '","',
    '\\"',
    "/*",
    "//",
    "<!--",
    "<![CDATA[",
    "<a b='",
    "&#x4",
    "%u00",
  ],
  ...[
    "+A-",
    '{"a":',
    '{"a":1,',
    "[[",
    '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n',
    "a: b\r\n",
    "_charset_=",
    '"a":',
    "1,",
  ],
];

test("repeated pieces cost only their length", () => {
  for (const type of TYPES)
    for (const piece of PIECES)
      assertGrowsLinearly(
        `${JSON.stringify(piece)} as ${type}`,
        (length) => {
          const body = piece.repeat(length / piece.length);
          return () => look({ name: "", types: [type], body });
        },
        16 * 1024,
      );
  for (const piece of PIECES)
    assertGrowsLinearly(`${JSON.stringify(piece)} in a cookie and in a type`, (length) => {
      const text = piece.repeat(length / piece.length / 8);
      return () => look({ name: "", cookies: [`a=${text}`], types: [`multipart/form-data; ${text}`, text], body: "x" });
    });
});

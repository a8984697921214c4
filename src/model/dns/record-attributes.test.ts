import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { attributesText, readAttributes, type RecordAttributes } from "./record-attributes.ts";

test("comments contain tags, proxying and flattening as in dns.md", () => {
  const rows: readonly (readonly [attributes: RecordAttributes, text: string])[] = [
    [{ comment: null, tags: [], settings: {} }, ""],
    [{ comment: "a comment", tags: [], settings: {} }, "a comment"],
    [
      { comment: "a comment", tags: ["a", "b:x,y"], proxied: true, settings: { flatten_cname: true } },
      'a comment cf_tags=a,b:"x,y",cf-proxied:true,cf-flatten-cname',
    ],
    [{ comment: null, tags: ["team:edge"], proxied: false, settings: {} }, "cf_tags=team:edge,cf-proxied:false"],
    [
      { comment: null, tags: [], proxied: true, settings: { ipv4_only: true, ipv6_only: true } },
      "cf_tags=cf-proxied:true,cf-ipv4-only,cf-ipv6-only",
    ],
    [{ comment: "has cf_tags=a itself", tags: [], settings: {} }, "has cf_tags=a itself cf_tags="],
    [{ comment: "cf_tags=", tags: [], settings: {} }, "cf_tags= cf_tags="],
    [
      { comment: null, tags: ["cf-proxied:true", "cf-flatten-cname", "cf-ipv4-only"], settings: {} },
      'cf_tags="cf-proxied:true","cf-flatten-cname","cf-ipv4-only"',
    ],
    [{ comment: null, tags: ['a:say "hi" \\ x cf_tags=b'], settings: {} }, 'cf_tags=a:"say \\"hi\\" \\\\ x cf_tags\\=b"'],
  ];
  for (const [attributes, text] of rows) {
    assert.equal(attributesText(attributes), text);
    assert.deepEqual(readAttributes(text), attributes);
  }
});

test("handwritten comments are parsed as intended", () => {
  assert.deepEqual(readAttributes("  an old comment; with; more "), { comment: "an old comment; with; more", tags: [], settings: {} });
  assert.deepEqual(readAttributes("x cf_tags= a , b:c d,,"), { comment: "x", tags: ["a", "b:c d"], settings: {} });
  assert.deepEqual(readAttributes('cf_tags=a:"open'), { comment: null, tags: ["a:open"], settings: {} });
  assert.deepEqual(readAttributes("not_cf_tags=a"), { comment: "not_cf_tags=a", tags: [], settings: {} });
  assert.deepEqual(readAttributes("a\0b"), { comment: "a b", tags: [], settings: {} });
});

test("property: written attributes parse back, with any comment and tags", () => {
  const piece = fc.oneof(
    fc.constantFrom("cf_tags=", "cf-proxied:true", "cf-flatten-cname", "cf-ipv6-only", ",", '"', "\\", " ", "=", ":"),
    fc.string({ maxLength: 4 }),
  );
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
  const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/);
  // oxlint-disable-next-line no-control-regex
  const clean = text.map((value) => value.replace(/[\x00-\x1f\x7f\u2028\u2029]/g, ""));
  const tag = fc.oneof(
    name,
    fc.constantFrom("cf-flatten-cname", "cf-ipv4-only"),
    fc.tuple(fc.oneof(name, fc.constant("cf-proxied")), clean).map((parts) => parts.join(":")),
  );
  const attributes = fc.record(
    {
      comment: clean.map((value) => value.trim() || null),
      tags: fc.array(tag, { maxLength: 4 }),
      proxied: fc.boolean(),
      settings: fc.record(
        { flatten_cname: fc.constant(true as const), ipv4_only: fc.constant(true as const), ipv6_only: fc.constant(true as const) },
        { requiredKeys: [], noNullPrototype: true },
      ),
    },
    { requiredKeys: ["comment", "tags", "settings"] },
  );
  fc.assert(
    fc.property(attributes, (given) => {
      const written = attributesText(given);
      assert.ok(!/[\r\n]/.test(written));
      assert.deepEqual(readAttributes(written), { ...given });
    }),
    { numRuns: 3000 },
  );
});

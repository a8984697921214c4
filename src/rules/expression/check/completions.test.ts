import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { completions, type CompletionOptions } from "./completions.ts";

const CUSTOM = "http_request_firewall_custom";

const labels = (text: string, phase = CUSTOM, options: CompletionOptions = {}): readonly string[] =>
  completions(text, text.length, phase, options).items.map((item) => item.label);

const OPERATORS = ["eq", "ne", "lt", "le", "gt", "ge"];
const JOINS = ["and", "or", "xor"];

const OFFERED: readonly (readonly [text: string, offered: readonly string[]])[] = [
  ["http.ho", ["http.host"]],
  ["ssl and http.ho", ["http.host"]],
  ["(ssl or not (http.ho", ["http.host"]],
  ["lower(http.ho", ["http.host"]],
  ['concat("a", http.ho', ["http.host"]],
  ["star", ["starts_with"]],
  ["tru", ["true"]],
  ["http.host ", [...OPERATORS, "contains", "matches", "wildcard", "strict wildcard", "in"]],
  ["http.host w", ["wildcard"]],
  ["ip.src ", ["eq", "ne", "in"]],
  ["len(http.host) ", [...OPERATORS, "bitwise_and", "in"]],
  ["lower(http.host) c", ["contains"]],
  ["ssl ", JOINS],
  ['starts_with(http.host, "a") ', JOINS],
  ["(ssl) ", JOINS],
  ['http.host eq "a" ', JOINS],
  ['http.host in {"a"} ', JOINS],
  ["cf.edge.server_port eq 5 a", ["and"]],
  ["http.host eq http.ho", ["http.host"]],
  ["http.host eq http.host ", JOINS],
  ["ip.src != ", ["cf.edge.server_ip", "ip.src"]],
  ["http.host contains ", []],
  ["ip.src in ", ["$office", "$hosts"]],
  ["ip.src in $of", ["$office"]],
  ["http.request.headers.names[", ["*"]],
  ['http.request.headers["a"][', ["*"]],
  ['http.request.headers["a"][0] ma', ["matches"]],
  ["http.host[", []],
  ['http.host eq "http.ho', []],
];

test("completions fit the position, by phase and type", () => {
  for (const [text, offered] of OFFERED) assert.deepEqual(labels(text, CUSTOM, { lists: ["office", "hosts"] }), offered, text);
  assert.deepEqual(labels("http.response.co"), []);
  assert.deepEqual(labels("http.response.co", "http_response_firewall_managed"), [
    "http.response.code",
    "http.response.content_type.media_type",
  ]);
  assert.deepEqual(labels("regex_r"), []);
  assert.deepEqual(labels("regex_r", "http_request_transform", { use: "value" }), ["regex_replace"]);
  assert.ok(labels("").length > 150);
  assert.deepEqual(labels("", "no_such_phase"), []);
});

test("a completion replaces the characters of the word before the cursor", () => {
  const { from, to, items } = completions("ssl and http.ho eq 1", 15, CUSTOM);
  assert.deepEqual([from, to, items.map((item) => item.label)], [8, 15, ["http.host"]]);
  const [host] = items;
  assert.equal(host?.detail, "String");
});

test("every text and position gives a result", () => {
  const pieces = fc.constantFrom(
    "http.host",
    "len",
    "(",
    ")",
    "[",
    "]",
    "*",
    "eq",
    "in",
    "$a",
    '"',
    "1",
    "and",
    "not",
    "{",
    "}",
    ",",
    " ",
    "\t",
    "strict",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), fc.nat(60), (parts, offset) => {
      const text = parts.join(" ");
      const { from, to } = completions(text, offset, CUSTOM);
      assert.ok(from <= to && to <= text.length);
    }),
    { numRuns: 500 },
  );
});

import { createHostnameList } from "#rules/expression/values/lists.ts";
import { testRequest } from "./views.ts";
import type { RequestView } from "#rules/views.ts";

/** The most of a body that rules see. */
export const BODY_BYTES = 131_072;

const MULTIPART = "multipart/form-data; boundary=b";
export const FORM = "application/x-www-form-urlencoded";

export function posted(raw: string, type = "text/plain"): RequestView {
  return testRequest({ method: "POST", headers: { "content-type": [type] }, body: { raw, size: raw.length, truncated: false } });
}

const LONG = "a".repeat(BODY_BYTES);
const PAIRS = "a&".repeat(BODY_BYTES / 2);
/** Names of a form, each another one. */
const NAMES = Array.from({ length: 9000 }, (_, n) => `a${n}`).join("&");
const raw = "http.request.body.raw";

/** As many of a rule's tests as fit into an expression. */
const several = (count: number, join: string, test: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => test(n)).join(` ${join} `);

const AB = Array.from({ length: BODY_BYTES }, (_, n) => "ab"[(((n * 2_654_435_761) % 4_294_967_296) >> 30) & 1]).join("");

export interface Worst {
  readonly name: string;
  readonly expression: (i: number) => string;
  readonly body: string;
  readonly type?: string;
  /** An automaton keeps the states learned from the first requests, and costs the next ones less. */
  readonly learns?: true;
}

/** Rules that load a thread most, each with its worst body. No two rules are equal, so that they share nothing. */
export const WORST: readonly Worst[] = [
  { name: "a pattern", expression: (i) => `${raw} matches "[a-z]{20}[0-9]{${(i % 90) + 1}}"`, body: LONG, learns: true },
  { name: "a pattern of many steps", expression: (i) => `${raw} matches "[a-z]{200}[0-9]{${(i % 90) + 1}}"`, body: LONG, learns: true },
  { name: "a pattern of few steps", expression: (i) => `substring(${raw}, ${i}) matches "[a-z][b-z]"`, body: LONG, learns: true },
  {
    name: "a pattern of choices",
    expression: (i) => `${raw} matches "(?:a[a-z]{9}|a[b-z]{3}|[a-c]{30}[x-z])[0-9]{${(i % 90) + 1}}"`,
    body: LONG,
    learns: true,
  },
  { name: "a pattern of a loop", expression: (i) => `${raw} matches "^[a-z]+[0-9]{${i % 90}}!"`, body: LONG, learns: true },
  {
    name: "a pattern of a loop that gives back",
    expression: (i) => `${raw} matches "^[a-z]*[a-z]{90}[0-9]{${i % 90}}!"`,
    body: LONG,
    learns: true,
  },
  {
    name: "a pattern of many short texts",
    expression: (i) => several(40, "or", (n) => `substring(${raw}, ${i * 40 + n}, ${i * 40 + n + 60}) matches "[a-z]{50}[0-9]"`),
    body: LONG,
    learns: true,
  },
  { name: "an automaton", expression: (i) => `${raw} matches "(a+)+[bc]{${(i % 90) + 1}}"`, body: LONG, learns: true },
  {
    name: "an automaton of many states",
    expression: (i) => `${raw} matches "(?:.{1,30}a){20}x{${(i % 90) + 1}}!"`,
    body: `${AB.slice(0, -300)}x!`,
    learns: true,
  },
  {
    name: "an automaton without states",
    expression: (i) => `${raw} matches "(?s)(?:a.{400}b|b.{400}a)+z{${(i % 90) + 1}}"`,
    body: `${AB.slice(0, -2)}zz`,
    learns: true,
  },
  {
    name: "an automaton over characters",
    expression: (i) => `${raw} matches "(?u)(a|b)+\\\\d{${(i % 20) + 1}}"`,
    body: LONG,
    learns: true,
  },
  { name: "a text that nearly stands there", expression: (i) => `substring(${raw}, ${i}) contains "${"a".repeat(200)}b"`, body: LONG },
  {
    name: "a long text that nearly stands there",
    expression: (i) => `substring(${raw}, ${i}) contains "${"a".repeat(1500)}b${"a".repeat(1500)}"`,
    body: LONG,
  },
  { name: "a text of two bytes", expression: (i) => `substring(${raw}, ${i}) contains "ab"`, body: LONG },
  { name: "texts looked up", expression: (i) => `substring(${raw}, ${i}) contains "aab"`, body: LONG },
  { name: "texts found everywhere", expression: (i) => `substring(${raw}, ${i}) contains "aaa" and http.host eq "x"`, body: LONG },
  { name: "a wildcard", expression: (i) => `substring(${raw}, ${i}) strict wildcard "*aaaaab*"`, body: LONG },
  {
    name: "a wildcard of many parts",
    expression: (i) => `substring(${raw}, ${i}) strict wildcard "${"*a".repeat(1500)}*b"`,
    body: `${LONG}b`,
  },
  { name: "a wildcard without case", expression: (i) => `substring(${raw}, ${i}) wildcard "*aaaaab*"`, body: LONG.toUpperCase() },
  { name: "lower", expression: (i) => `lower(substring(${raw}, ${i})) eq "b"`, body: "A\xff".repeat(BODY_BYTES / 2) },
  { name: "upper", expression: (i) => `upper(substring(${raw}, ${i})) eq "b"`, body: LONG },
  { name: "decoding", expression: (i) => `url_decode(substring(${raw}, ${3 * i})) eq "b"`, body: "%41".repeat(BODY_BYTES / 3) },
  { name: "decoding again", expression: (i) => `url_decode(substring(${raw}, ${i}), "r") eq "b"`, body: "%25".repeat(BODY_BYTES / 3) },
  {
    name: "decoding characters",
    expression: (i) => `url_decode(substring(${raw}, ${6 * i}), "u") eq "b"`,
    body: "%u2601".repeat(BODY_BYTES / 6),
  },
  {
    name: "decoding characters again",
    expression: (i) => `url_decode(substring(${raw}, ${i}), "ru") eq "b"`,
    body: "%2525u0041".repeat(BODY_BYTES / 10),
  },
  { name: "bytes removed", expression: (i) => `remove_bytes(substring(${raw}, ${i}), "b") eq "b"`, body: LONG },
  {
    name: "texts cut",
    expression: (i) => several(50, "or", (n) => `substring(${raw}, ${i * 50 + n}, ${i * 50 + n + 16_000}) in {"a" "b"}`),
    body: LONG,
  },
  {
    name: "beginnings",
    expression: (i) => several(45, "and", (n) => `starts_with(${raw}, substring(${raw}, 0, -${i * 45 + n}))`),
    body: LONG,
  },
  { name: "ends", expression: (i) => several(45, "and", (n) => `ends_with(${raw}, substring(${raw}, ${i * 45 + n}))`), body: LONG },
  { name: "texts joined", expression: (i) => `concat(${raw}, "${i}", ${raw}) eq "b"`, body: LONG },
  { name: "JSON", expression: (i) => `lookup_json_integer(${raw}, ${60_000 + i}) eq 7`, body: `[${"1,".repeat(65_000)}1]` },
  {
    name: "JSON of escapes",
    expression: (i) => `lookup_json_string(${raw}, "${i}") eq "7"`,
    body: `{${Array.from({ length: 9000 }, (_, n) => `"${n % 10}\\n":"b"`).join(",")}}`,
  },
  {
    name: "JSON, deep",
    expression: (i) => `lookup_json_integer(${raw}${", 0".repeat(200)}, ${i}) eq 7`,
    body: `${"[".repeat(1000)}${"1,".repeat(50_000)}1${"]".repeat(1000)}`,
  },
  {
    name: "JSON of several texts",
    expression: (i) => `lookup_json_integer(concat(${raw}, "${" ".repeat(i)}"), 0) eq 7`,
    body: `{${Array.from({ length: 14_000 }, (_, n) => `"${n}":1`).join(",")}}`,
  },
  { name: "arrays", expression: (i) => `any(http.request.body.form.values[*] eq "${i}")`, body: PAIRS, type: FORM },
  { name: "arrays of integers", expression: (i) => `any(len(http.request.body.form.values[*])[*] eq ${i + 3})`, body: PAIRS, type: FORM },
  {
    name: "arrays joined",
    expression: (i) => `any(concat(http.request.body.form.names, http.request.body.form.values)[*] eq "${i}")`,
    body: PAIRS,
    type: FORM,
  },
  { name: "arrays in lower case", expression: (i) => `any(lower(http.request.body.form.names[*])[*] eq "${i}")`, body: PAIRS, type: FORM },
  {
    name: "arrays decoded",
    expression: (i) => `any(url_decode(http.request.body.form.names[*])[*] contains "${i}")`,
    body: "%61&".repeat(BODY_BYTES / 4),
    type: FORM,
  },
  { name: "arrays in a text", expression: (i) => `join(http.request.body.form.names, "${i}") eq "b"`, body: PAIRS, type: FORM },
  {
    name: "arrays of arrays",
    expression: (i) => `any(http.request.body.form[*][*] eq "${i}")`,
    body: Array.from({ length: 9000 }, (_, n) => `${n}=a`).join("&"),
    type: FORM,
  },
  {
    name: "several answers",
    expression: (i) => `any(http.request.body.form.names[*] eq "${i}" and http.request.body.form.names[*] ne "${i}")`,
    body: PAIRS,
    type: FORM,
  },
  {
    name: "arrays of patterns",
    expression: (i) => `any(http.request.body.form.names[*] matches "^[b-z]{${(i % 90) + 1}}")`,
    body: PAIRS,
    type: FORM,
  },
  {
    name: "parts",
    expression: (i) => `any(http.request.body.multipart.values[*] contains "${i}b")`,
    body: `--b\r\nA: b\r\n\r\n${"a".repeat(110)}\r\n`.repeat(1000),
    type: MULTIPART,
  },
  {
    name: "parts of parts",
    expression: (i) => `any(http.request.body.multipart.content_types[*][*] matches "${i}")`,
    body: `--b\r\nContent-Type: ${"b".repeat(20)}\r\n\r\n${"a".repeat(80)}\r\n`.repeat(1000),
    type: MULTIPART,
  },
  { name: "Base64", expression: (i) => `decode_base64(substring(${raw}, ${4 * i})) eq "b"`, body: LONG },
  {
    name: "tokens",
    expression: (i) => `is_timed_hmac_valid_v0("key${i}", ${raw}, 100, 1700000000)`,
    body: `${"a".repeat(BODY_BYTES - 60)}-1699999999-${"a".repeat(43)}%3D`,
  },
  {
    name: "tokens of hyphens",
    expression: (i) => `is_timed_hmac_valid_v0("key${i}", ${raw}, 100, 1700000000)`,
    body: "-".repeat(BODY_BYTES),
  },
  {
    name: "short tokens",
    expression: (i) => several(40, "or", (n) => `is_timed_hmac_valid_v0("key${i}${n}", ${raw}, 100, 1700000000)`),
    body: `a-1699999999-${"a".repeat(43)}%3D`,
  },
  {
    name: "names of many labels in a list",
    expression: (i) => `any(concat(http.request.body.form.names[*], ".${i}")[*] in $hosts)`,
    body: `${"a.".repeat(122)}&`.repeat(535),
    type: FORM,
  },
  {
    name: "wildcards of many parts",
    expression: (i) => `any(http.request.body.form.names[*] strict wildcard "${"*a".repeat(1800 - (i % 700))}*")`,
    body: `${"a".repeat(1000)}&`.repeat(131),
    type: FORM,
  },
  {
    name: "JSON that is none",
    expression: (i) => `any(lookup_json_string(http.request.body.form.names[*], "${i}")[*] eq "b")`,
    body: NAMES,
    type: FORM,
  },
  {
    name: "arrays of bytes removed",
    expression: (i) => `any(remove_bytes(http.request.body.form.names[*], "${i}")[*] eq "b")`,
    body: NAMES,
    type: FORM,
  },
  {
    name: "arrays of Base64",
    expression: (i) => `any(decode_base64(http.request.body.form.names[*])[*] contains "${i}z")`,
    body: "aaaa&".repeat(26_000),
    type: FORM,
  },
  { name: "arrays in upper case", expression: (i) => `any(upper(http.request.body.form.names[*])[*] eq "${i}")`, body: NAMES, type: FORM },
  { name: "arrays looked up", expression: (i) => `any(http.request.body.form.names[*] in {"b" "c${i}"})`, body: PAIRS, type: FORM },
  {
    name: "arrays of automata",
    expression: (i) => `any(http.request.body.form.names[*] matches "(a+)+[bc]{${(i % 90) + 1}}")`,
    body: NAMES,
    type: FORM,
    learns: true,
  },
  { name: "arrays of ends", expression: (i) => `any(ends_with(http.request.body.form.names[*], "${i}"))`, body: PAIRS, type: FORM },
  { name: "arrays cut", expression: (i) => `any(substring(http.request.body.form.names[*], 0, 1)[*] eq "${i}")`, body: PAIRS, type: FORM },
];

/** Contents of any list that the rules name. */
export const HOSTS = createHostnameList(["*.example.com"]);

export const worstRequest = ({ body, type }: Worst): RequestView => posted(body, type);

import assert from "node:assert/strict";
import { test } from "node:test";
import { countedWork } from "../../../../test/support/counted-work.ts";
import { fc } from "../../../../test/support/property.ts";
import { compileExpression } from "#rules/expression/expression.ts";
import { testRequest } from "#rules/testing/views.ts";
import type { Predicate, RequestView } from "#rules/views.ts";
import { creatingDispatch } from "./dispatch.ts";
import { finish } from "#kernel/process/slices.ts";

const filter = (text: string): Predicate => compileExpression(text, "http_request_firewall_custom");

function found(filters: readonly Predicate[], request: RequestView): readonly number[] {
  const scan = finish(creatingDispatch(filters)).scan(request, null);
  const numbers: number[] = [];
  for (let number = scan.next(); number !== -1; number = scan.next()) numbers.push(number);
  return numbers;
}

const HOSTS = ["a.example", "b.example", "c.example"];
const PATHS = ["/", "/a", "/b", "/admin/login", "/ADMIN/Login", "/admin/"];
const ADDRESSES = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "::ffff:192.0.2.1"];

const atom = fc.oneof(
  fc.constantFrom(...HOSTS).map((host) => `http.host eq "${host}"`),
  fc.constantFrom(...HOSTS).map((host) => `http.host ne "${host}"`),
  fc.subarray(HOSTS, { minLength: 1 }).map((hosts) => `http.host in {${hosts.map((host) => `"${host}"`).join(" ")}}`),
  fc.constantFrom(...PATHS).map((path) => `http.request.uri.path eq "${path}"`),
  fc.constantFrom(...PATHS).map((path) => `lower(http.request.uri.path) eq "${path}"`),
  fc.constantFrom(...ADDRESSES).map((address) => `ip.src eq ${address}`),
  fc.subarray(ADDRESSES, { minLength: 1 }).map((addresses) => `ip.src in {${addresses.join(" ")}}`),
  fc.constantFrom(
    "ip.src in {192.0.2.0/24}",
    "len(http.request.uri.path) eq 2",
    "len(http.request.uri.path) in {1 2}",
    "true",
    "ssl",
    "not ssl",
  ),
  fc.constantFrom(
    'http.request.uri.path contains "/admin"',
    'http.request.uri.path matches "(?i)/(ADMIN|login)/"',
    'http.request.uri.path matches "^/admin/[a-z]+$"',
    'http.request.uri.path wildcard "/ADM*/log*"',
    'http.request.uri.path strict wildcard "/adm*/log*"',
    'starts_with(http.request.uri.path, "/admin")',
    'ends_with(http.request.uri.path, "login")',
    'lower(http.request.uri.path) contains "/admin/"',
    "ip.src in {192.0.2.0/31 192.0.2.0/24}",
    "ip.src in {2001:db8::/64 192.0.2.2..192.0.2.9}",
    "ip.src in {0.0.0.0/0}",
    "ip.src in {::/0}",
  ),
  fc.constantFrom('http.request.headers["x"][0] eq "1"', 'any(http.request.headers["x"][*] eq "1")'),
);
const expression = fc
  .array(fc.tuple(atom, fc.constantFrom(" and ", " or ", " xor ", " and not ")), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map(([text, join], i) => (i === parts.length - 1 ? text : text + join)).join(""));

const requests = fc
  .record({ host: fc.constantFrom(...HOSTS), path: fc.constantFrom(...PATHS), client_ip: fc.constantFrom(...ADDRESSES), x: fc.boolean() })
  .map(({ x, ...changes }) => testRequest({ ...changes, headers: x ? { x: ["1"] } : {} }));

test("a dispatch finds the matching filters in their order", () => {
  fc.assert(
    fc.property(fc.array(expression, { maxLength: 70 }), requests, (texts, request) => {
      const filters = texts.map(filter);
      assert.deepEqual(
        found(filters, request),
        filters.flatMap((applies, number) => (applies(request, null) ? [number] : [])),
      );
    }),
    { numRuns: 300 },
  );
});

test("a filter that cannot match is not evaluated", () => {
  let asked = 0;
  const filters = Array.from({ length: 1000 }, (_, i) =>
    filter(`http.host eq "h${i}.example" and http.request.headers["count"][0] eq "x"`),
  );
  const request = testRequest({ host: "h77.example" });
  const watched = { ...request, headers: () => ((asked += 1), ["x"]) };
  assert.deepEqual(found(filters, watched), [77]);
  assert.equal(asked, 1);
});

test("foreign predicates are evaluated one by one", () => {
  const filters: Predicate[] = [() => true, filter("not ssl"), () => false, () => true];
  assert.deepEqual(found(filters, testRequest()), [0, 3]);
});

test("a dispatch of filters with many guards is made in steps of limited size", () => {
  const kinds: readonly ((i: number) => string)[] = [
    (i) => Array.from({ length: 60 }, (_, j) => `http.request.uri.path contains "/some/path/${i}/${j}"`).join(" or "),
    (i) => Array.from({ length: 60 }, (_, j) => `http.request.uri.path contains "/some/path/${i}/${j}"`).join(" and "),
    (i) => `ip.src in {${Array.from({ length: 200 }, (_, j) => `10.${i % 256}.${j}.0/${8 + ((i + j) % 16)}`).join(" ")}}`,
    (i) => `http.request.uri.path in {${Array.from({ length: 200 }, (_, j) => `"/${i}/${j}"`).join(" ")}}`,
  ];
  for (const kind of kinds) {
    const work = creatingDispatch(Array.from({ length: 200 }, (_, i) => filter(kind(i))));
    let [most, total, isDone] = [0, 0, false];
    while (!isDone) {
      const count = countedWork(() => (isDone = work.next().done === true));
      most = Math.max(most, count);
      total += count;
    }
    assert.ok(total > 50_000 && most < total / 5 && most < 100_000, `${most} of ${total} in one step`);
  }
});

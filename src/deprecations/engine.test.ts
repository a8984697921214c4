import assert from "node:assert/strict";
import { test } from "node:test";
import { isoDate, type IsoDate } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Deprecation, Effect } from "./deprecation.ts";
import { createDeprecationEngine, type DatedRequest } from "./engine.ts";
import { noticeHeaders } from "./notice.ts";
import { DEPRECATIONS } from "./table.ts";

const row = (effect: Effect, changes: Partial<Deprecation> = {}): Deprecation => ({
  id: "row",
  date: "2024-06-01",
  routes: ["GET /things"],
  effect,
  replacement: null,
  was: "",
  why: "",
  spec: "",
  ...changes,
});

function begin(table: readonly Deprecation[], route: string, date: IsoDate): DatedRequest {
  const request = createDeprecationEngine(table).at(route, date).begin();
  assert.ok(request, "rows of this day have to do with the route");
  return request;
}

const FACTS = { zone: { id: "z1", name: "example.com" } };

test("a row of every kind takes effect on its date and not the day before", () => {
  const engine = createDeprecationEngine([row({ kind: "endpoint_gone" })]);
  assert.equal(engine.at("GET /things", "2024-05-31").gone, null);
  assert.equal(engine.at("GET /things", "2024-06-01").gone?.id, "row");
  assert.equal(engine.at("GET /others", "2024-06-01").gone, null);
  assert.deepEqual(
    [...begin([row({ kind: "endpoint_gone" })], "GET /things", "2024-05-31").pending].map(({ id }) => id),
    ["row"],
  );
});

test("removed response fields are present until their date, in their old positions", () => {
  const record = { id: "r1", name: "www.example.com", type: "A", ttl: 1, meta: {} };
  const before = begin(DEPRECATIONS, "GET /zones/:zone_id/dns_records", "2024-07-13").result(record, FACTS);
  assert.deepEqual(Object.keys(before), ["id", "zone_id", "zone_name", "name", "type", "ttl", "locked", "meta"]);
  assert.deepEqual(before, { ...record, zone_id: "z1", zone_name: "example.com", locked: false });
  const between = begin(DEPRECATIONS, "GET /zones/:zone_id/dns_records", "2024-07-14").result(record, FACTS);
  assert.deepEqual(Object.keys(between), ["id", "zone_id", "zone_name", "name", "type", "ttl", "meta"]);
  assert.equal(createDeprecationEngine(DEPRECATIONS).at("GET /zones/:zone_id/dns_records/:dns_record_id", "2024-11-30").begin(), null);
});

test("the parts of an SRV record's name are in the response until their date, and only in SRV records", () => {
  const srv = { id: "r1", name: "_sip._tcp.a.example.com", type: "SRV", data: { priority: 1, weight: 2, port: 3, target: "t" } };
  const before = begin(DEPRECATIONS, "GET /zones/:zone_id/dns_records/:dns_record_id", "2024-05-30");
  assert.deepEqual(before.result(srv, FACTS)["data"], {
    priority: 1,
    weight: 2,
    port: 3,
    target: "t",
    service: "_sip",
    proto: "_tcp",
    name: "a.example.com",
  });
  const mx = { ...srv, type: "MX" };
  assert.deepEqual(before.result(mx, FACTS)["data"], mx.data);
  const after = begin(DEPRECATIONS, "GET /zones/:zone_id/dns_records/:dns_record_id", "2024-05-31");
  assert.deepEqual(after.result(srv, FACTS)["data"], srv.data);
});

test("an SRV record may be written by the parts of its name until their date, and is refused afterwards", () => {
  const body = { type: "SRV", data: { service: "_sip", proto: "_tcp", name: "example.com", priority: 1 } };
  const before = begin(DEPRECATIONS, "POST /zones/:zone_id/dns_records", "2024-05-30");
  assert.deepEqual(before.body(body), { type: "SRV", name: "_sip._tcp.example.com", data: { priority: 1 } });
  assert.ok([...before.pending].some(({ id }) => id === "dns-record-srv-name-parts-in-requests"));
  assert.deepEqual(before.body({ ...body, data: { ...body.data, name: "@" } }), { type: "SRV", name: "_sip._tcp", data: { priority: 1 } });
  assert.deepEqual(before.body({ type: "SRV", name: "kept", data: { service: "_sip" } }), { type: "SRV", name: "kept", data: {} });
  const after = begin(DEPRECATIONS, "POST /zones/:zone_id/dns_records", "2024-05-31");
  assert.throws(
    () => after.body(body),
    (error: unknown) => error instanceof PlatformError && error.errorName === "no_longer_supported" && error.source === "/data/service",
  );
  const naptr = { type: "NAPTR", data: { service: "SIP+D2U" } };
  assert.equal(after.body(naptr), naptr, "other types have a service of their own");
});

test("a handler never gets ignored request fields, before or after the date", () => {
  for (const date of ["2024-07-13", "2030-01-01"] as const) {
    const request = begin(DEPRECATIONS, "PATCH /zones/:zone_id/dns_records/:dns_record_id", date);
    assert.deepEqual(request.body({ ttl: 60, locked: true, zone_id: "x", zone_name: "y" }), { ttl: 60 });
  }
  const plain = { ttl: 60 };
  assert.equal(begin(DEPRECATIONS, "PATCH /zones/:zone_id/dns_records/:dns_record_id", "2030-01-01").body(plain), plain);
});

test("legacy query forms become the current ones until their date, and are refused afterwards", () => {
  const list = "GET /zones/:zone_id/dns_records";
  const before = begin(DEPRECATIONS, list, "2025-02-20");
  assert.deepEqual(before.query({ name: "contains:www", page: "2" }), { "name.contains": "www", page: "2" });
  assert.deepEqual(before.query({ content: "ends_with:.1" }), { "content.endswith": ".1" });
  assert.deepEqual(before.query({ type: "contains:aa" }), { type: ["AAAA", "CAA"] });
  assert.deepEqual(before.query({ type: "contains:zzz" }), { type: "contains:zzz" });
  assert.deepEqual(before.query({ name: "a.example.com,b.example.com" }), { name: ["a.example.com", "b.example.com"] });
  const after = begin(DEPRECATIONS, list, "2025-02-21");
  for (const query of [{ name: "contains:www" }, { content: "starts_with:1" }, { type: "contains:A" }])
    assert.throws(() => after.query(query), PlatformError);
  assert.deepEqual(after.query({ name: "a,b" }), { name: ["a", "b"] }, "comma lists stay until 2025-05-23");
  const last = begin(DEPRECATIONS, list, "2025-05-23");
  assert.throws(() => last.query({ name: "a,b" }), PlatformError);
  assert.deepEqual(last.query({ name: ["a", "b"], match: "any" }), { name: ["a", "b"], match: "any" });
});

test("causes are nested in one outer error until the date", () => {
  const items = [{ code: 9005, message: "bad" }];
  const before = begin(DEPRECATIONS, "POST /zones/:zone_id/dns_records", "2024-09-30");
  assert.deepEqual(before.errors(items), [{ code: 1004, message: "DNS Validation Error", error_chain: items }]);
  const other = [{ code: 81058, message: "identical" }];
  assert.equal(before.errors(other), other);
  const after = begin(DEPRECATIONS, "POST /zones/:zone_id/dns_records", "2024-10-01");
  assert.deepEqual(after.errors(items), items);
});

test("an endpoint alias uses its legacy format until its date, and is gone on it", () => {
  const route = "PATCH /zones/:zone_id/settings/cname_flattening";
  const before = begin(DEPRECATIONS, route, "2025-03-20");
  assert.deepEqual(before.body({ value: "on", id: "cname_flattening" }), { flatten_all_cnames: true });
  assert.deepEqual(before.body({ value: "apex" }), { flatten_all_cnames: false });
  assert.deepEqual(before.body({ value: "flatten_at_root" }), { flatten_all_cnames: false });
  assert.deepEqual(before.body({ value: "flatten_none" }), { flatten_all_cnames: false });
  assert.deepEqual(before.body({ value: "flatten_all" }), { flatten_all_cnames: true });
  assert.deepEqual(before.result({ flatten_all_cnames: false, ns_ttl: 300 }, FACTS), {
    id: "cname_flattening",
    editable: true,
    modified_on: null,
    value: "apex",
  });
  for (const body of [{}, { value: "flat" }, { value: true }, { flatten_all_cnames: true }])
    assert.throws(
      () => before.body(body),
      (error: unknown) => error instanceof PlatformError && error.errorName === "invalid_input" && error.source === "/value",
    );
  assert.equal(createDeprecationEngine(DEPRECATIONS).at(route, "2025-03-21").gone?.id, "zone-setting-cname-flattening");
});

test("a boolean with its own endpoint is refused under its own name", () => {
  for (const endpoint of ["use_apex_ns", "secondary_overrides"]) {
    const before = begin(DEPRECATIONS, `PATCH /zones/:zone_id/dns_settings/${endpoint}`, "2024-09-12");
    assert.throws(() => before.body({ value: "on" }), { message: '"value" must be true or false.', source: "/value" });
  }
});

test("legacy fields of an object are read newest field first, then by the first of its aliases", () => {
  const before = begin(DEPRECATIONS, "PUT /accounts/:account_id", "2025-03-13");
  const chosen = (body: object): unknown =>
    ["dns_settings", "zone_defaults", "nameservers", "type"].reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key],
      before.body({ ...body }),
    );
  assert.equal(chosen({ settings: { use_account_custom_ns_by_default: true } }), "custom.account");
  assert.equal(chosen({ settings: { use_account_custom_ns_by_default: false } }), "cloudflare.standard");
  assert.equal(chosen({ settings: { default_nameservers: "custom.tenant", use_account_custom_ns_by_default: true } }), "custom.tenant");
  const newest = { zone_defaults: { nameservers: { type: "cloudflare.standard" } } };
  assert.equal(chosen({ dns_settings: newest, settings: { default_nameservers: "custom.tenant" } }), "cloudflare.standard");
  assert.equal(chosen({ settings: { enforce_twofactor: true } }), undefined);
  const shown = before.result({ settings: { enforce_twofactor: false }, dns_settings: newest }, FACTS);
  assert.deepEqual(shown["settings"], {
    enforce_twofactor: false,
    default_nameservers: "cloudflare.standard",
    use_account_custom_ns_by_default: false,
  });
  const after = begin(DEPRECATIONS, "PUT /accounts/:account_id", "2025-03-14");
  for (const field of ["default_nameservers", "use_account_custom_ns_by_default"])
    assert.throws(
      () => after.body({ settings: { [field]: "custom.account" } }),
      (error: unknown) =>
        error instanceof PlatformError && error.errorName === "no_longer_supported" && error.source === `/settings/${field}`,
    );
  const beside = { dns_settings: newest, settings: { enforce_twofactor: true, default_nameservers: "custom.tenant" } };
  assert.deepEqual(after.body(beside), { dns_settings: newest, settings: { enforce_twofactor: true } });
  assert.deepEqual(after.body({ settings: { default_nameservers: null } }), { settings: {} });
  const unrelated = { settings: { enforce_twofactor: true } };
  assert.equal(after.body(unrelated), unrelated);
});

test("a request depends on a row if it uses the row's form, or if the row changes its response", () => {
  const request = begin(DEPRECATIONS, "GET /zones/:zone_id/dns_records", "2024-08-01");
  assert.deepEqual(
    [...request.pending].map(({ id }) => id),
    ["dns-record-zone-fields"],
  );
  request.query({ name: "contains:a" });
  assert.deepEqual([...request.pending].map(({ id }) => id).sort(), ["dns-record-zone-fields", "dns-records-filter-prefixes"]);
});

test("the notice has the earliest date in both standard forms and links every row", () => {
  const rows = DEPRECATIONS.filter(({ id }) => ["dns-record-locked", "dns-record-zone-fields"].includes(id));
  assert.deepEqual(
    noticeHeaders(rows, (id) => `/d/${id}`),
    {
      deprecation: `@${Date.UTC(2024, 6, 14) / 1000}`,
      sunset: "Sun, 14 Jul 2024 00:00:00 GMT",
      link: '</d/dns-record-locked>; rel="deprecation"; type="application/json", </d/dns-record-zone-fields>; rel="deprecation"; type="application/json"',
    },
  );
  assert.deepEqual(noticeHeaders([], String), {});
});

test("the table is valid: IDs are unique, dates are days, routes are not repeated", () => {
  assert.equal(new Set(DEPRECATIONS.map(({ id }) => id)).size, DEPRECATIONS.length);
  for (const { id, date, routes, effect } of DEPRECATIONS) {
    assert.equal(isoDate(Date.parse(`${date}T00:00:00Z`)), date, id);
    assert.equal(new Set(routes).size, routes.length, id);
    assert.ok(routes.length > 0 !== (effect.kind === "protocol_rule"), id);
  }
});

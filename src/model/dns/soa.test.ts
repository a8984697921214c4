import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { Compile } from "typebox/compile";
import { PlatformError } from "#kernel/errors/errors.ts";
import { formatName, parseAbsoluteName } from "#wire/dns/name.ts";
import { changeSoa, Soa, SOA_DEFAULTS, SOA_NUMBERS, type SoaChange, soaView } from "./soa.ts";

const schema = Compile(Soa);
const fits = (change: SoaChange): boolean => schema.Check({ ...soaView({}), ...change });
const refusedAt = (source: string) => (error: unknown) => error instanceof PlatformError && error.code === 10400 && error.source === source;

test("SPEC 2.4 and SPEC 8.10: the defaults, minimums and maximums are allowed, and nothing beyond them", () => {
  assert.deepEqual(SOA_DEFAULTS, { refresh: 10_000, retry: 2400, expire: 604_800, ttl: 3600, min_ttl: 1800 });
  assert.ok(fits({}));
  for (const [field, { min, max }] of Object.entries(SOA_NUMBERS)) {
    for (const value of [min, max]) assert.ok(fits({ [field]: value }), `${field} ${value}`);
    for (const value of [min - 1, max + 1, min + 0.5, String(min), null]) assert.ok(!fits({ [field]: value }), `${field} ${value}`);
  }
});

test("SPEC 2.4: retry is not greater than refresh, and expire not smaller", () => {
  assert.deepEqual(changeSoa({}, { refresh: 2400 }, ""), { refresh: 2400 });
  assert.deepEqual(changeSoa({}, { refresh: 86_400, expire: 86_400 }, ""), { refresh: 86_400, expire: 86_400 });
  assert.throws(() => changeSoa({}, { refresh: 2399 }, "/soa"), refusedAt("/soa/refresh"), "the default retry is greater");
  assert.throws(() => changeSoa({ refresh: 1200, retry: 1200 }, { retry: 1201 }, "/soa"), refusedAt("/soa/retry"));
  assert.throws(() => changeSoa({ expire: 600 }, { refresh: 2400 }, ""), refusedAt("/refresh"));
  assert.deepEqual(changeSoa({ refresh: 1200, retry: 1200 }, { retry: 600, refresh: 600 }, ""), { refresh: 600, retry: 600 });
});

test("SPEC 2.4: an e-mail address becomes a name, with dots before the @ escaped", () => {
  const rname = (text: string) => changeSoa({}, { rname: text }, "").rname;
  assert.equal(rname("admin@example.com"), "admin.example.com");
  assert.equal(rname("dns.admin@Example.COM."), "dns\\.admin.example.com");
  assert.equal(rname("a.b+c@bücher.example"), "a\\.b+c.xn--bcher-kva.example");
  assert.equal(rname("dns\\.admin.example.com."), "dns\\.admin.example.com");
  assert.equal(rname("hostmaster.example.com"), "hostmaster.example.com");
  for (const bad of [
    "",
    "@",
    "@example.com",
    "a@",
    "a b@example.com",
    "a..b@example.com",
    '"a b"@example.com',
    "a@exa mple.com",
    ".",
    "a..b",
    "single",
    "a b.example",
  ])
    assert.throws(() => rname(bad), refusedAt("/rname"), bad);
  assert.throws(() => rname(`${"a".repeat(64)}@example.com`), refusedAt("/rname"));
});

test("property: the local part of every address is the first label of the name", () => {
  const atom = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,9}$/);
  fc.assert(
    fc.property(fc.array(atom, { minLength: 1, maxLength: 5 }), (atoms) => {
      const local = atoms.join(".");
      const name = parseAbsoluteName(changeSoa({}, { rname: `${local}@example.com` }, "").rname ?? "");
      assert.equal(name.subarray(1, 1 + (name[0] ?? 0)).toString(), local);
      assert.equal(formatName(name.subarray(1 + local.length)), "example.com");
    }),
  );
});

test("the primary is a host name, and null restores the zone's own", () => {
  assert.equal(changeSoa({}, { mname: "NS1.Example.com." }, "").mname, "ns1.example.com");
  assert.throws(() => changeSoa({}, { mname: "not a name" }, "/soa"), refusedAt("/soa/mname"));
  assert.deepEqual(changeSoa({ mname: "ns1.example.com" }, { mname: null, rname: null }, ""), { mname: null, rname: null });
});

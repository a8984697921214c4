import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { fc } from "../../test/support/property.ts";
import { buildMmdb } from "../../test/support/mmdb.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { createGeoip, openGeoipDatabase } from "./geoip.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { rulesetOp, zoneOp } from "#edge/testing/entries.ts";

const BERLIN = {
  city: { geoname_id: 1, names: { de: "Berlin", en: "Berlin" } },
  continent: { code: "EU", names: { en: "Europe" } },
  country: { iso_code: "DE", is_in_european_union: true, names: { en: "Germany" } },
  location: { latitude: 52.52, longitude: 13.5, time_zone: "Europe/Berlin", accuracy_radius: 100 },
  postal: { code: "10115" },
  subdivisions: [{ iso_code: "BE", names: { en: "Land Berlin" } }],
};
const CITIES = buildMmdb({
  "192.0.2.0/24": BERLIN,
  "2001:db8::/32": { country: { iso_code: "FR", is_in_european_union: true }, continent: { code: "EU" } },
  "198.51.100.0/24": {
    country: { iso_code: "US" },
    subdivisions: [{ iso_code: "CA" }, { iso_code: "XY" }],
    location: { metro_code: 807 },
    city: { names: { en: "São José" } },
  },
  "198.51.100.128/25": { country: { iso_code: "CA" } },
  "127.0.0.0/8": BERLIN,
});
const NETWORKS = buildMmdb(
  {
    "192.0.2.0/25": { autonomous_system_number: 64500, autonomous_system_organization: "Example" },
    "127.0.0.0/8": { autonomous_system_number: 64501 },
  },
  24,
);

const shared = (bytes: Buffer): SharedArrayBuffer => {
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
};
const failures = { value: 0 };

test("city and network databases together give the location of an address", () => {
  const places = createGeoip([shared(CITIES), shared(NETWORKS)], failures);
  assert.deepEqual(places.of("192.0.2.7"), {
    country: "DE",
    continent: "EU",
    is_in_european_union: true,
    city: "Berlin",
    region: "Land Berlin",
    region_code: "BE",
    subdivision_1: "DE-BE",
    postal_code: "10115",
    timezone: "Europe/Berlin",
    latitude: "52.52",
    longitude: "13.5",
    asn: 64500,
  });
  assert.deepEqual(places.of("192.0.2.200")?.asn, undefined);
  assert.deepEqual([places.of("2001:db8::1")?.country, places.of("2001:db9::1")?.country], ["FR", "XX"]);
  const american = places.of("198.51.100.1");
  assert.deepEqual([american?.is_in_european_union, american?.subdivision_2, american?.metro_code], [false, "US-XY", "807"]);
  assert.equal(Buffer.from(american?.city ?? "", "latin1").toString(), "São José");
  assert.equal(places.of("198.51.100.129")?.country, "CA");
  // The same object, so it was remembered.
  assert.equal(places.of("192.0.2.7"), places.of("192.0.2.7"));
  places.use([]);
  assert.equal(places.of("192.0.2.7"), undefined);
  assert.equal(failures.value, 0);
});

test("the reader reads records of 24, 28 and 32 bits alike", () => {
  for (const size of [24, 28, 32] as const)
    assert.equal(
      createGeoip([shared(buildMmdb({ "192.0.2.0/24": BERLIN, "0.0.0.0/1": { country: { iso_code: "IT" } } }, size))], failures).of(
        "192.0.2.1",
      )?.country,
      "DE",
    );
});

test("the reader rejects files that are not databases, and a look-up in a damaged database fails without throwing", () => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from("no database"),
    CITIES.subarray(0, CITIES.length - 40),
    CITIES.subarray(CITIES.length - 180),
  ])
    assert.throws(() => openGeoipDatabase(bytes));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(CITIES.indexOf("MaxMind.com") - 4), fc.nat(255)), { minLength: 1, maxLength: 30 }), (changes) => {
      const bytes = Buffer.from(CITIES);
      for (const [at, byte] of changes) bytes[at] = byte;
      const places = createGeoip([shared(bytes)], failures);
      for (const ip of ["192.0.2.7", "198.51.100.1", "2001:db8::1", "127.0.0.1", "::"])
        assert.equal(typeof places.of(ip)?.country, "string");
    }),
    { numRuns: 300 },
  );
});

let origin: TestOrigin;
let edge: TestEdge;
let asked: Readonly<Record<string, unknown>> = {};
before(async () => {
  origin = await httpOrigin((req, res) => {
    asked = req.headers;
    res.end("ok");
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const get = (path: string, more = "") =>
  exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n${more}\r\n`);

test("rules and origins get the client's location, as the zone's settings say", async () => {
  const rule = (expression: string) => ({ action: "block", expression });
  edge.replica.apply([
    rulesetOp("r", "zone", "zone", "http_request_firewall_custom", [
      rule('ip.src.country eq "DE" and http.request.uri.path eq "/country"'),
      rule('ip.src.asnum in {64501} and ip.src.continent eq "EU" and http.request.uri.path eq "/network"'),
      rule('ip.geoip.country ne "DE" and http.request.uri.path eq "/country"'),
    ]),
  ]);
  // Without a database no comparison is true, and origins get no country.
  assert.match(await get("/country", "svc-ipcountry: ZZ\r\ncf-ipcountry: ZZ\r\n"), /^HTTP\/1\.1 200/);
  assert.deepEqual([asked["svc-ipcountry"], asked["cf-ipcountry"]], [undefined, undefined]);
  edge.usePlaces([shared(CITIES), shared(NETWORKS)]);
  assert.match(await get("/country"), /^HTTP\/1\.1 403/);
  assert.match(await get("/network"), /^HTTP\/1\.1 403/);
  await get("/", "svc-ipcountry: ZZ\r\n");
  assert.equal(asked["svc-ipcountry"], "DE");
  edge.replica.apply([zoneOp("zone", "example.com", { edge: { ip_geolocation: false } })]);
  await get("/", "svc-ipcountry: ZZ\r\n");
  assert.equal(asked["svc-ipcountry"], undefined);
  assert.match(await get("/country"), /^HTTP\/1\.1 403/);
});

test("a detection event has the client's country, like all rows of its request", async () => {
  edge.replica.apply([
    rulesetOp("sdd", "zone", "zone", "http_response_firewall_managed", [
      { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } },
    ]),
  ]);
  for (const [databases, country] of [
    [[], ""],
    [[shared(CITIES)], "DE"],
  ] as const) {
    edge.usePlaces(databases);
    edge.scanned.length = 0;
    await get("/found");
    await eventually(() => edge.scanned.length === 1 && edge.requests.at(-1)?.path === "/found");
    assert.deepEqual([edge.scanned[0]?.subject.country, edge.requests.at(-1)?.country], [country, country]);
  }
});

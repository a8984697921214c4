import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { zoneOp } from "../../test/support/zone-entries.ts";
import type { ZoneEntry } from "./entries.ts";
import { ANY_ACCOUNT, isReliedOn } from "./reliance.ts";
import { createZoneDirectory, type Viewer } from "./zone-directory.ts";

interface Listed {
  readonly entry: ZoneEntry;
}

const parentOf = (name: string): string | undefined => (name.includes(".") ? name.slice(name.indexOf(".") + 1) : undefined);
const directoryOf = (...zones: readonly Listed[]) => {
  const directory = createZoneDirectory<string, Listed>({ keyOf: ({ entry }) => entry.name, parentOf });
  for (const zone of zones) directory.add(zone);
  return directory;
};
const zone = (id: string, name: string, account_id: string, change: Partial<ZoneEntry> = {}): Listed => ({
  entry: zoneOp(id, name, { account_id, ...change }).value as ZoneEntry,
});
const PENDING = { status: "pending", proof: "none" } as const;

test("an outside query finds active zones, and an account's record finds its own zones and other accounts' proved ones", () => {
  const directory = directoryOf(
    zone("1", "a.test", "A"),
    zone("2", "www.a.test", "B", { proof: "none" }),
    zone("3", "deep.www.a.test", "B", PENDING),
    zone("4", "p.test", "B", { proof: "delegation" }),
  );
  const id = (name: string, viewer: Viewer): string | undefined => directory.nearestZone(name, viewer)?.entry.id;
  assert.deepEqual(
    ["x.deep.www.a.test", "a.test", "p.test", "test"].map((name) => id(name, null)),
    ["2", "1", "4", undefined],
  );
  assert.deepEqual(
    ["x.deep.www.a.test", "a.test", "p.test"].map((name) => id(name, "A")),
    ["1", "1", "4"],
  );
  assert.deepEqual(
    ["x.deep.www.a.test", "a.test", "p.test"].map((name) => id(name, "B")),
    ["2", "1", "4"],
  );
  assert.deepEqual(
    ["x.deep.www.a.test", "p.test"].map((name) => id(name, ANY_ACCOUNT)),
    ["1", "4"],
  );
});

test("a moved zone answers until another zone covers the name, and accounts' records do not find it", () => {
  const directory = directoryOf(zone("1", "www.a.test", "B", { status: "moved" }), zone("2", "b.test", "B", { status: "moved" }));
  const id = (name: string, viewer: Viewer = null): string | undefined => directory.nearestZone(name, viewer)?.entry.id;
  assert.deepEqual([id("www.a.test"), id("b.test"), id("www.a.test", "B")], ["1", "2", undefined]);
  directory.add(zone("3", "a.test", "A"));
  assert.deepEqual([id("www.a.test"), id("b.test")], ["3", "2"]);
  assert.deepEqual(Array.from(directory.standing(), ({ entry }) => entry.id).sort(), ["2", "3"]);
});

test("the oldest of several pending zones is visible if no active zone has the name, and thousands cost as little as one", () => {
  const directory = directoryOf();
  const claims = Array.from({ length: 5_000 }, (_, i) => {
    const id = String((i * 7_919) % 5_000).padStart(4, "0");
    return zone(id, "a.test", `account ${i}`, { ...PENDING, created_on: `2026-01-01T00:00:00.00${id}Z` });
  });
  for (const claim of claims) directory.add(claim);
  assert.equal(directory.nearestZone("a.test", null), undefined);
  assert.deepEqual([directory.oldestClaim("a.test")?.entry.id, directory.oldestClaim("www.a.test")], ["0000", undefined]);
  assert.equal(Array.from(directory.named("a.test")).length, 64);
  const active = zone("active", "a.test", "A");
  directory.add(active);
  assert.equal(directory.oldestClaim("a.test"), undefined);
  assert.equal(directory.named("a.test").next().value, active);
  directory.remove("a.test", active);
  for (const claim of claims.toSorted((a, b) => (a.entry.id < b.entry.id ? -1 : 1))) {
    assert.equal(directory.oldestClaim("a.test"), claim);
    directory.remove("a.test", claim);
  }
  assert.deepEqual([directory.size, [...directory.named("a.test")].length], [0, 0]);
});

test("property: after any additions and removals, the directory finds the same zone as a search through all zones", () => {
  const zones = fc
    .record({
      id: fc.integer({ min: 1, max: 12 }).map(String),
      name: fc.constantFrom("a.test", "www.a.test", "b.www.a.test", "test"),
      account_id: fc.constantFrom("A", "B", "C"),
      status: fc.constantFrom("active", "pending", "moved"),
      proof: fc.constantFrom("none", "delegation", "operator"),
      created_on: fc.constantFrom("1", "2", "3"),
    })
    .map(({ id, name, account_id, ...change }) => zone(id, name, account_id, change as Partial<ZoneEntry>));
  fc.assert(
    fc.property(fc.array(fc.tuple(zones, fc.boolean()), { maxLength: 40 }), (changes) => {
      const directory = directoryOf();
      const held = new Map<string, Listed>();
      for (const [changed, isThere] of changes) {
        const before = held.get(changed.entry.id);
        if (before) directory.remove(before.entry.name, before);
        held.delete(changed.entry.id);
        if (!isThere) continue;
        directory.add(changed);
        held.set(changed.entry.id, changed);
      }
      const all = [...held.values()].map(({ entry }) => entry);
      const longest = (host: string, counts: (entry: ZoneEntry) => boolean): string | undefined =>
        all
          .filter((entry) => counts(entry) && (host === entry.name || host.endsWith(`.${entry.name}`)))
          .toSorted((a, b) => b.name.length - a.name.length)[0]?.name;
      for (const host of ["a.test", "x.www.a.test", "b.www.a.test", "c.test"]) {
        const asked = longest(host, ({ status }) => status === "active") ?? longest(host, ({ status }) => status === "moved");
        assert.equal(directory.nearestZone(host, null)?.entry.name, asked);
        for (const viewer of ["A", "B", ANY_ACCOUNT]) {
          const found = directory.nearestZone(host, viewer)?.entry;
          assert.equal(
            found?.name,
            longest(host, (entry) => isReliedOn(entry, viewer)),
          );
          assert.ok(found === undefined || isReliedOn(found, viewer));
        }
        const claims = all.filter(({ name, status }) => name === host && status === "pending");
        assert.equal(directory.oldestClaim(host) !== undefined, claims.length > 0 && asked === undefined);
      }
      assert.equal(directory.size, new Set(all.filter(({ status }) => status !== "pending").map(({ name, status }) => name + status)).size);
    }),
  );
});

import assert from "node:assert/strict";
import { fc } from "../support/property.ts";
import { fixedClock } from "#kernel/clock.ts";
import type { ZoneEntry } from "#snapshot/entries.ts";
import { controlOver } from "../support/control.ts";
import { startFakePrimary, zoneVersion } from "../support/fake-primary.ts";
import { storeTest } from "../support/store.ts";

const NAME = "zone.example";

/** Records of one version: few names and values, so that versions differ in all ways, TTL and apex included. */
const line = fc.oneof(
  fc
    .tuple(fc.constantFrom("a", "b", "*.c", "d.e"), fc.constantFrom(60, 300), fc.nat(3))
    .map(([host, ttl, last]) => `${host}.${NAME} ${ttl} A 192.0.2.${last}`),
  fc.tuple(fc.constantFrom("b", "f"), fc.nat(2)).map(([host, i]) => `${host}.${NAME} 300 MX ${i} MX${i}.Example.`),
  fc.tuple(fc.constantFrom("g", "d.e"), fc.nat(2)).map(([host, i]) => `${host}.${NAME} 300 TYPE65400 \\# 1 0${i}`),
  fc.tuple(fc.constantFrom(3600, 7200), fc.nat(2)).map(([ttl, i]) => `${NAME} ${ttl} NS ns${i}.example.`),
);
const NS = `${NAME} 7200 NS ns0.example.`;
const APEX_NS = new RegExp(`^${NAME} \\d+ NS `);

/** A record is there once: versions with two TTLs of one set are none that a primary has. */
const lines = fc
  .array(line, { maxLength: 12 })
  .map((given) => [...new Map(given.map((text) => [text.replace(/ \d+ /, " "), text])).values()])
  .map((given) => given.map((text) => sameTtl(text, given)))
  // A version without name servers is not a zone, and is refused.
  .map((given) => (given.some((text) => APEX_NS.test(text)) ? given : [...given, NS]));
const sameTtl = (text: string, all: readonly string[]): string => {
  const [name = "", , type = "", ...content] = text.split(" ");
  const first = all.find((other) => other.startsWith(`${name} `) && other.split(" ")[2] === type)?.split(" ")[1];
  return [name, first, type, ...content].join(" ");
};

const contentOf = (text: string): string => text.replace(/\.$/, "").toLowerCase();

storeTest("any sequence of differences gives the same zone as a full transfer", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { clock: fixedClock("2026-05-01T00:00:00Z") });
  const primary = await startFakePrimary([zoneVersion(NAME, 1, [NS])]);
  const { id } = await control.zones.create(call(), { name: NAME, account: { id: account_id }, type: "secondary" });
  const zone = { id, name: NAME, account_id, plan: "free" };
  const peer = await control.transfers.peers.create(call(), account_id, {
    name: "p",
    ip: "127.0.0.1",
    port: primary.port,
    ixfr_enable: true,
  });
  const shown = async (): Promise<string[]> => {
    const { items } = await control.dnsRecords.list(zone, {}, { page: 1, per_page: 1000 });
    const { name_servers, ns_ttl } = (await newestEntry()) as ZoneEntry;
    const records = items.map(({ name, ttl, type, priority, content }) =>
      [name, ttl, type, priority, content].filter((part) => part !== undefined).join(" "),
    );
    return [...records, ...name_servers.map((server) => `${NAME} ${ns_ttl} NS ${server}`)].map(contentOf).toSorted();
  };
  const newestEntry = async (): Promise<unknown> => {
    const sets = (await store.changesSince(0, 100_000)) ?? [];
    return sets.flatMap(({ changes }) => changes).findLast((change) => change.kind === "zone" && change.id === id)?.value;
  };
  const check = async (): Promise<void> => {
    await control.secondaries.notified(id);
    await control.secondaries.idle();
  };
  try {
    await control.transfers.incoming.create(call(), zone, { peers: [peer.id] });
    await control.secondaries.idle();
    let serial = 1;
    let previous = primary.versions.at(-1);
    // Each run goes on where the last one ended, several versions at a time.
    const property = fc.asyncProperty(fc.array(lines, { minLength: 1, maxLength: 4 }), async (given) => {
      assert.ok(previous);
      primary.versions = [previous, ...given.map((of) => zoneVersion(NAME, ++serial, of))];
      previous = primary.versions.at(-1);
      primary.asked.length = 0;
      await check();
      assert.deepEqual(primary.asked, ["SOA", `IXFR ${serial - given.length}`], "no whole transfer was needed");
      assert.equal((await control.transfers.incoming.get(zone)).transfer_method, "IXFR");
      const byDifferences = await shown();
      assert.deepEqual(byDifferences, (given.at(-1) ?? []).map(contentOf).toSorted());

      const versions = async (): Promise<number> => (await control.dnsVersions.list(zone, { page: 1, per_page: 5 })).total_count;
      const before = await versions();
      await control.transfers.forceAxfr(call(), zone);
      await control.secondaries.idle();
      assert.equal((await control.transfers.incoming.get(zone)).transfer_method, "AXFR");
      assert.deepEqual(await shown(), byDifferences);
      assert.equal(await versions(), before, "the whole transfer found nothing to change");
    });
    await fc.assert(property, { numRuns: 25, endOnFailure: true });
  } finally {
    await control.secondaries.close();
    await primary.close();
  }
});

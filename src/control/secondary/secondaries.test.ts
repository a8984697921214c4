import assert from "node:assert/strict";
import { wholeText } from "../../../test/support/whole-text.ts";
import { type FixedClock, fixedClock } from "#kernel/clock.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { type Op, opWeight, type SerialEntry, type ZoneEntry } from "#snapshot/entries.ts";
import { createSnapshotState } from "#snapshot/state.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { beginImport, endImport } from "#store/dns/dns-imports.ts";
import type { Store } from "#store/database/store.ts";
import { updateZone } from "#store/zones/zones.ts";
import { RCODE } from "#wire/dns/codes.ts";
import { createTsigKey } from "#wire/dns/tsig.ts";
import { controlOver } from "../../../test/support/control.ts";
import { type FakePrimary, startFakePrimary, zoneVersion, type ZoneVersion } from "../../../test/support/fake-primary.ts";
import { alertsTold, wantAlerts } from "../../../test/support/alerts.ts";
import { dump } from "../../../test/support/feed.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";

const NAME = "zone.example";
const YEAR_MS = 365 * 86_400_000;
const SECRET = Buffer.from("a secret that two servers share");
const NS = [`${NAME} 7200 NS ns1.${NAME}.`, `${NAME} 7200 NS ns2.elsewhere.example.`];
const version = (serial: number, lines: readonly string[] = [], timers?: string): ZoneVersion =>
  zoneVersion(NAME, serial, [...NS, ...lines], timers);

async function secondaryOver(
  store: Store,
  primary: FakePrimary,
  options: { readonly ixfr?: boolean; readonly tsig?: boolean; readonly clock?: FixedClock; readonly recordsPerZoneMax?: number } = {},
) {
  const { clock = fixedClock("2026-05-01T00:00:00Z"), ixfr = false, tsig = false } = options;
  const { recordsPerZoneMax = 1000 } = options;
  const { control, account_id, call } = await controlOver(store, {
    clock,
    recordsPerZoneMax,
    secondaryLimits: { idleTimeoutMs: 1_500, unprovedRecordsMax: 20 },
  });
  const { transfers } = control;
  const { id } = await control.zones.create(call(), { name: NAME, account: { id: account_id }, type: "secondary" });
  const zone = { id, name: NAME, account_id, plan: "free" };
  const key = tsig
    ? await transfers.tsigs.create(call(), account_id, { name: "key.example.", algo: "hmac-sha256.", secret: SECRET.toString("base64") })
    : null;
  const peer = await transfers.peers.create(call(), account_id, {
    name: "primary",
    ip: "127.0.0.1",
    port: primary.port,
    ixfr_enable: ixfr,
    tsig_id: key?.id ?? null,
  });
  await transfers.incoming.create(call(), zone, { peers: [peer.id] });
  await control.secondaries.idle();
  const check = async (): Promise<void> => {
    await control.secondaries.startDue();
    await control.secondaries.idle();
  };
  /** A NOTIFY has come. */
  const notified = async (): Promise<void> => {
    await control.secondaries.notified(id);
    await check();
  };
  const records = async (): Promise<string[]> => {
    const { items } = await control.dnsRecords.list(zone, {}, { page: 1, per_page: 1000 });
    return items
      .map(({ name, ttl, type, content, priority }) => [name, ttl, type, priority, content].filter((part) => part !== undefined).join(" "))
      .toSorted();
  };
  const newest = async <T>(kind: string): Promise<T | null> => {
    const sets = (await store.changesSince(0, 10_000)) ?? [];
    return (sets.flatMap(({ changes }) => changes).findLast((change) => change.kind === kind && change.id === id)?.value ??
      null) as T | null;
  };
  return {
    control,
    call,
    clock,
    zone,
    peer,
    account_id,
    check,
    notified,
    records,
    status: () => transfers.incoming.get(zone),
    zoneEntry: () => newest<ZoneEntry>("zone"),
    serial: async () => (await newest<SerialEntry>("serial"))?.serial,
  };
}

storeTest("a secondary zone gets records, apex and serial of its primary as one version", async ({ store }) => {
  const lines = [
    `www.${NAME} 300 A 192.0.2.1`,
    `1.${NAME} 1 A 192.0.2.2`,
    `${NAME} 300 MX 10 mail.${NAME}.`,
    `a\\.b.${NAME} 600 TYPE65400 \\# 2 0102`,
    `sub.${NAME} 600 NS sub.${NAME}.`,
    `sub.${NAME} 600 A 192.0.2.3`,
    `www.${NAME} 300 TYPE46 \\# 4 00010203`,
  ];
  const primary = await startFakePrimary([
    version(
      2_026_050_101,
      lines.filter((line) => !line.includes("TYPE46")),
    ),
  ]);
  const secondary = await secondaryOver(store, primary);
  try {
    assert.deepEqual(await secondary.records(), [
      `1.${NAME} 0 A 192.0.2.2`,
      `a\\.b.${NAME} 600 TYPE65400 \\# 2 0102`,
      `sub.${NAME} 600 A 192.0.2.3`,
      `sub.${NAME} 600 NS sub.${NAME}`,
      `www.${NAME} 300 A 192.0.2.1`,
      `${NAME} 300 MX 10 mail.${NAME}`,
    ]);
    const entry = await secondary.zoneEntry();
    assert.deepEqual(entry?.name_servers, ["ns1.zone.example", "ns2.elsewhere.example"]);
    assert.deepEqual([entry?.ns_ttl, entry?.expired, entry?.paused], [7200, undefined, true]);
    assert.deepEqual(entry?.soa, {
      mname: `ns1.${NAME}`,
      rname: `who.${NAME}`,
      refresh: 10_000,
      retry: 2400,
      expire: 604_800,
      min_ttl: 1800,
      ttl: 3600,
    });
    assert.equal(await secondary.serial(), 2_026_050_101);
    const file = await wholeText(await secondary.control.zoneFiles.export(secondary.zone));
    for (const line of [/\sSOA\s.*\s2026050101\s/, /\sNS\s+ns2\.elsewhere\.example\./, /TYPE65400\s+\\# 2 0102/]) assert.match(file, line);
    const [made, ...others] = (await secondary.control.dnsVersions.list(secondary.zone, { page: 1, per_page: 10 })).items;
    assert.deepEqual([made?.kind, made?.created, others.length], ["transfer", 6, 0]);
    assert.equal(made?.reason, `serial 2026050101 from primary (127.0.0.1, port ${primary.port}) by AXFR`);
    const status = await secondary.status();
    assert.deepEqual(
      [status.status, status.soa_serial, status.checked_time, status.transfer_method, status.last_error],
      ["ok", 2_026_050_101, "2026-05-01T00:00:00.000000Z", "AXFR", null],
    );
  } finally {
    await secondary.control.secondaries.close();
    await primary.close();
  }
});

storeTest("with IXFR enabled the differences are fetched, and the whole zone if they do not fit", async ({ store }) => {
  const first = version(5, [`www.${NAME} 300 A 192.0.2.1`, `old.${NAME} 300 TXT "x"`]);
  const primary = await startFakePrimary([first]);
  const secondary = await secondaryOver(store, primary, { ixfr: true });
  try {
    assert.deepEqual(primary.asked, ["SOA", "AXFR"]);
    const second = version(6, [`www.${NAME} 600 A 192.0.2.1`, `www.${NAME} 300 A 192.0.2.9`]);
    const third = zoneVersion(NAME, 7, [
      NS[0] ?? "",
      `${NAME} 3600 NS ns3.${NAME}.`,
      `www.${NAME} 600 A 192.0.2.1`,
      `new.${NAME} 300 AAAA 2001:db8::1`,
    ]);
    primary.versions = [first, second, third];
    await secondary.notified();
    assert.deepEqual(primary.asked.splice(0), ["SOA", "AXFR", "SOA", "IXFR 5"]);
    assert.deepEqual(await secondary.records(), [`new.${NAME} 300 AAAA 2001:db8::1`, `www.${NAME} 600 A 192.0.2.1`]);
    assert.deepEqual((await secondary.zoneEntry())?.name_servers, [`ns1.${NAME}`, `ns3.${NAME}`]);
    assert.equal((await secondary.status()).transfer_method, "IXFR");

    // A primary whose history is another than ours.
    primary.versions = [zoneVersion(NAME, 7, [`never.${NAME} 300 A 192.0.2.1`]), version(8, [`www.${NAME} 300 A 192.0.2.8`])];
    await secondary.notified();
    assert.deepEqual(
      primary.asked.splice(0),
      ["SOA", "IXFR 7", "SOA", "AXFR"].filter((_, i) => i !== 2),
    );
    assert.deepEqual(await secondary.records(), [`www.${NAME} 300 A 192.0.2.8`]);
    assert.deepEqual([(await secondary.status()).transfer_method, await secondary.serial()], ["AXFR", 8]);

    await secondary.notified();
    assert.deepEqual(primary.asked.splice(0), ["SOA"], "nothing newer");
    assert.equal(await secondary.control.transfers.forceAxfr(secondary.call(), secondary.zone), "OK");
    await secondary.check();
    assert.deepEqual(primary.asked.splice(0), ["SOA", "AXFR"]);
  } finally {
    await secondary.control.secondaries.close();
    await primary.close();
  }
});

const alias = (name: string, target: string): string => `${name}.${NAME} 300 CNAME ${target}.${NAME}.`;
/** Sets that no zone may have at one name. */
const BESIDE_AN_ALIAS: readonly (readonly string[])[] = [
  [alias("www", "a"), `www.${NAME} 300 A 192.0.2.2`],
  [`www.${NAME} 300 A 192.0.2.2`, alias("www", "a")],
  [alias("www", "a"), alias("www", "b")],
  [alias("www", "www"), `www.${NAME} 300 TXT "x"`],
  [`d.${NAME} 300 DNAME a.${NAME}.`, `d.${NAME} 300 DNAME b.${NAME}.`],
  [`d.${NAME} 300 DNAME a.${NAME}.`, alias("d", "b")],
];

storeTest("a transfer that is damaged, truncated, too long or of another zone changes nothing", async ({ store }) => {
  const primary = await startFakePrimary([version(5, [`www.${NAME} 300 A 192.0.2.1`])]);
  const secondary = await secondaryOver(store, primary, { recordsPerZoneMax: 6 });
  try {
    const [before, revision] = [await secondary.records(), await store.revision()];
    const many = Array.from({ length: 7 }, (_, i) => `h${i}.${NAME} 300 A 192.0.2.1`);
    const more = Array.from({ length: 30 }, (_, i) => `h${i}.${NAME} 300 A 192.0.2.1`);
    const newer = version(6, [`www.${NAME} 300 A 192.0.2.2`]);
    const transferOnly =
      (change: (messages: readonly Buffer[]) => readonly Buffer[]): FakePrimary["distort"] =>
      (messages, type) =>
        type === 252 ? change(messages) : messages;
    const cases: readonly (readonly [RegExp, ZoneVersion, FakePrimary["distort"]])[] = [
      [/malformed/, newer, transferOnly(([first = Buffer.alloc(0)]) => [first.subarray(0, -3)])],
      [/malformed/, newer, transferOnly((messages) => messages.map((bytes) => Buffer.concat([bytes, Buffer.of(0)])))],
      [/no response within/, newer, transferOnly((messages) => messages.slice(0, -1))],
      [
        /answered REFUSED/,
        newer,
        (messages) => messages.map((bytes) => Buffer.concat([bytes.subarray(0, 3), Buffer.of(5), bytes.subarray(4)])),
      ],
      [/does not match the query/, newer, (messages) => messages.map((bytes) => Buffer.concat([Buffer.of(0, 0), bytes.subarray(2)]))],
      [
        /not authoritative/,
        newer,
        (messages) => messages.map((bytes) => Buffer.concat([bytes.subarray(0, 2), Buffer.of(0x80), bytes.subarray(3)])),
      ],
      [/maximum|quota|limit/i, version(6, many), (messages) => messages],
      [/more than 24 records/, version(6, more), (messages) => messages],
      [/outside of the zone/, version(6, ["www.other.example 300 A 192.0.2.1"]), (messages) => messages],
      [/CNAME/, version(6, [`${NAME} 300 CNAME www.${NAME}.`]), (messages) => messages],
      [/older than 5/, version(4), (messages) => messages],
      [/no NS records at its name/, zoneVersion(NAME, 6, []), (messages) => messages],
      [/no NS records at its name/, zoneVersion(NAME, 6, [`www.${NAME} 300 A 192.0.2.2`]), (messages) => messages],
      ...BESIDE_AN_ALIAS.map(
        (lines) => [/beside another|more than one/, version(6, lines), (messages) => messages] as (typeof cases)[number],
      ),
    ];
    for (const [reason, zone, distort] of cases) {
      Object.assign(primary, { versions: [zone], distort });
      await secondary.notified();
      const { status, last_error, soa_serial } = await secondary.status();
      assert.match(last_error ?? "", reason);
      assert.deepEqual([status, soa_serial], ["failing", 5]);
      assert.deepEqual([await secondary.records(), await store.revision()], [before, revision]);
    }
    Object.assign(primary, { versions: [newer], distort: (messages: readonly Buffer[]) => messages });
    await secondary.notified();
    assert.deepEqual([(await secondary.status()).status, await secondary.serial()], ["ok", 6]);
  } finally {
    await secondary.control.secondaries.close();
    await primary.close();
  }
});

storeTest("one account's primaries that never finish do not use up the places and records of other accounts", async ({ store }) => {
  const endless = await startFakePrimary([version(5, [`www.${NAME} 300 A 192.0.2.1`])]);
  endless.tamper = (messages, type) => (type === 252 ? [] : messages);
  const honest = await startFakePrimary([zoneVersion("honest.example", 5, [`honest.example 300 NS ns1.honest.example.`])]);
  const { control, account_id, call } = await controlOver(store, {
    clock: fixedClock("2026-05-01T00:00:00Z"),
    secondaryLimits: { idleTimeoutMs: 60_000, zonesAtOnce: 4 },
  });
  const { transfers } = control;
  const open = async (account: string, name: string, port: number) => {
    const { id } = await control.zones.create(call(), { name, account: { id: account }, type: "secondary" });
    const peer = await transfers.peers.create(call(), account, { name, ip: "127.0.0.1", port, ixfr_enable: false, tsig_id: null });
    const zone = { id, name, account_id: account, plan: "free" };
    await transfers.incoming.create(call(), zone, { peers: [peer.id] });
    return zone;
  };
  try {
    for (let i = 0; i < 9; i++) {
      const name = `z${i}.example`;
      endless.versions = [zoneVersion(name, 5, [`${name} 300 NS ns1.${name}.`])];
      await open(account_id, name, endless.port);
      await control.secondaries.startDue();
      await eventually(() => endless.asked.filter((type) => type === "AXFR").length === Math.min(i + 1, 2));
    }
    const other = "5e".repeat(16);
    await store.write(({ db }) =>
      insertAccount(db, { id: other, name: "Other", type: "standard", settings: "{}", created_on: "2026-05-01T00:00:00Z" }),
    );
    const zone = await open(other, "honest.example", honest.port);
    await control.secondaries.startDue();
    await eventually(async () => (await transfers.incoming.get(zone)).soa_serial === 5);
    assert.equal(endless.asked.filter((type) => type === "AXFR").length, 2);
  } finally {
    await control.secondaries.close();
    await endless.close();
    await honest.close();
  }
});

storeTest("a peer with a key needs its signature, and the status says what is wrong", async ({ store }) => {
  const primary = await startFakePrimary([version(5, [`www.${NAME} 300 A 192.0.2.1`])]);
  const key = createTsigKey("key.example", "hmac-sha256", SECRET);
  const secondary = await secondaryOver(store, primary, { tsig: true });
  const lastError = async (): Promise<string> => {
    await secondary.notified();
    return (await secondary.status()).last_error ?? "none";
  };
  try {
    assert.match(await lastError(), /not signed with the TSIG key/);
    primary.key = createTsigKey("key.example", "hmac-sha256", Buffer.from("another secret of two servers"));
    assert.match(await lastError(), /answered REFUSED/);
    assert.deepEqual([await secondary.records(), (await secondary.zoneEntry())?.expired], [[], true]);
    primary.key = key;
    // A retry waits for its time, a correction does not.
    const { control, call, account_id, peer } = secondary;
    await control.transfers.peers.update(call(), account_id, peer.id, { ...peer, name: "corrected" });
    await control.secondaries.idle();
    assert.equal((await secondary.status()).last_error, null);
    assert.deepEqual(await secondary.records(), [`www.${NAME} 300 A 192.0.2.1`]);

    primary.versions = [
      version(
        6,
        [1, 2, 3, 4].map((i) => `h${i}.${NAME} 300 A 192.0.2.1`),
      ),
    ];
    // Signed messages are unchanged: a message that is changed in transit is detected.
    for (const tamper of [
      [2, 1, 3],
      [1, 3],
      [1, 2, 2, 3],
    ].map((order) => (messages: readonly Buffer[]) => order.map((at) => messages[at - 1] ?? Buffer.alloc(12)))) {
      primary.tamper = (messages, type) => (type === 252 ? tamper(messages) : messages);
      assert.match(await lastError(), /TSIG signature of its response is wrong/);
    }
    assert.deepEqual(await secondary.records(), [`www.${NAME} 300 A 192.0.2.1`]);
    const stored = await store.read.selectFrom("incoming_transfer_states").selectAll().execute();
    assert.ok(!JSON.stringify(stored).includes(SECRET.toString("base64")));
  } finally {
    await secondary.control.secondaries.close();
    await primary.close();
  }
});

storeTest(
  "SPEC 2.4: without its primary a zone is retried and expires, and is served again once the primary confirms it",
  async ({ store }) => {
    const clock = fixedClock("2026-05-01T00:00:00Z");
    const primary = await startFakePrimary([version(5, [`www.${NAME} 300 A 192.0.2.1`], "3600 600 86400 300")]);
    const secondary = await secondaryOver(store, primary, { clock });
    await wantAlerts(secondary, ["secondary_dns_all_primaries_failing", "secondary_dns_zone_successfully_updated"]);
    const away: FakePrimary["distort"] = (messages) =>
      messages.map((bytes) => Buffer.concat([bytes.subarray(0, 3), Buffer.of(2), bytes.subarray(4)]));
    const inSeconds = async (): Promise<number> => (Date.parse((await secondary.status()).next_check_time ?? "") - clock.nowMs()) / 1000;
    try {
      const refresh = await inSeconds();
      assert.ok(refresh > 3200 && refresh <= 3600, `refresh after ${refresh} s`);
      primary.distort = away;
      clock.advance(3000 * 1000);
      await secondary.check();
      assert.deepEqual(primary.asked, ["SOA", "AXFR"], "not due yet");
      clock.advance(600 * 1000);
      await secondary.check();
      const retry = await inSeconds();
      assert.ok(retry > 500 && retry <= 600, `retry after ${retry} s`);
      assert.equal((await secondary.status()).status, "failing");
      assert.equal((await secondary.zoneEntry())?.expired, undefined);

      clock.advance(82_300 * 1000);
      await secondary.check();
      const left = await inSeconds();
      assert.ok(left <= 500, "the last try is at the expiry");
      clock.advance(left * 1000);
      await secondary.check();
      assert.deepEqual([(await secondary.status()).status, (await secondary.zoneEntry())?.expired], ["expired", true]);
      assert.deepEqual(await secondary.records(), [`www.${NAME} 300 A 192.0.2.1`], "the records stay");

      primary.distort = (messages) => messages;
      clock.advance(600 * 1000);
      await secondary.check();
      assert.deepEqual([(await secondary.status()).status, (await secondary.zoneEntry())?.expired], ["ok", undefined]);
      assert.equal(primary.asked.at(-1), "SOA", "confirmed, not fetched again");

      primary.versions = [version(6)];
      await secondary.notified();
      assert.deepEqual(await alertsTold(store, secondary.account_id), [
        ["secondary_dns_all_primaries_failing", `No primary of ${NAME} responds`],
        ["secondary_dns_all_primaries_failing", `Zone ${NAME} has expired`],
        ["secondary_dns_zone_successfully_updated", `Zone ${NAME} updated to serial 6`],
      ]);
    } finally {
      await secondary.control.secondaries.close();
      await primary.close();
    }
  },
);

storeTest("all peers are tried, starting with the one that answered last", async ({ store }) => {
  const primary = await startFakePrimary([version(5)]);
  const other = await startFakePrimary([version(6)], "127.0.0.2");
  const secondary = await secondaryOver(store, primary);
  try {
    const { control, call, zone, account_id, peer } = secondary;
    const second = await control.transfers.peers.create(call(), account_id, { name: "second", ip: "127.0.0.2", port: other.port });
    const silent = await control.transfers.peers.create(call(), account_id, { name: "no address" });
    await control.transfers.incoming.update(call(), zone, { peers: [silent.id, peer.id, second.id] });
    await control.secondaries.idle();
    assert.equal(await secondary.serial(), 5, "the first that confirms is enough");
    await control.secondaries.notified(zone.id, "127.0.0.2");
    await control.secondaries.idle();
    assert.equal(await secondary.serial(), 6, "the primary that announced a change is asked first");
    other.versions = [version(7)];
    primary.versions = [version(6)];
    await control.transfers.incoming.update(call(), zone, { peers: [peer.id, second.id] });
    await control.secondaries.idle();
    assert.equal(await secondary.serial(), 7, "then the one that answered last");
    primary.versions = [version(8)];
    await other.close();
    await secondary.notified();
    assert.equal(await secondary.serial(), 8, "then the others");
    assert.equal((await secondary.status()).last_error, null);
  } finally {
    await secondary.control.secondaries.close();
    await primary.close();
  }
});

storeTest(
  "SPEC 2.5: callers cannot write records of a secondary zone, but with overrides they can proxy them and add an apex CNAME",
  async ({ store }) => {
    const primary = await startFakePrimary([
      version(5, [`www.${NAME} 300 A 192.0.2.1`, `low.${NAME} 30 A 192.0.2.1`, `${NAME} 300 A 192.0.2.1`]),
    ]);
    const secondary = await secondaryOver(store, primary);
    const { control, call, zone } = secondary;
    try {
      const { items } = await control.dnsRecords.list(zone, {}, { page: 1, per_page: 10 });
      const www = items.find(({ name }) => name === `www.${NAME}`);
      const low = items.find(({ name }) => name === `low.${NAME}`);
      assert.ok(www && low);
      const alias = { type: "CNAME", name: "@", content: "elsewhere.example" };
      const forbidden = [
        () => control.dnsRecords.create(call(), zone, { type: "A", name: "new", content: "192.0.2.1" }),
        () => control.dnsRecords.edit(call(), zone, www.id, { content: "192.0.2.2" }),
        () => control.dnsRecords.delete(call(), zone, www.id),
        () => control.zoneFiles.import(call(), zone, "new 300 IN A 192.0.2.1\n", { proxied: false }),
      ];
      const overrides = [
        () => control.dnsRecords.edit(call(), zone, www.id, { proxied: true }),
        () => control.dnsRecords.create(call(), zone, alias),
      ];
      for (const write of [...forbidden, ...overrides]) await assert.rejects(write(), failing(10420));
      await control.dnsSettings.editZone(call(), zone.id, { secondary_overrides: true });
      for (const write of forbidden) await assert.rejects(write(), failing(10420));
      assert.deepEqual((await secondary.zoneEntry())?.paused, false);
      const proxied = await control.dnsRecords.edit(call(), zone, www.id, { proxied: true, comment: "ours" });
      assert.deepEqual([proxied.proxied, proxied.ttl, proxied.comment], [true, 1, "ours"]);
      // Its TTL is none that callers may choose, and comes back with its own addresses.
      assert.equal((await control.dnsRecords.edit(call(), zone, low.id, { proxied: true })).ttl, 1);
      assert.equal((await control.dnsRecords.edit(call(), zone, low.id, { proxied: false })).ttl, 30);
      const own = (await control.dnsRecords.create(call(), zone, alias)).id;
      assert.equal(await secondary.serial(), 5, "the serial is the primary's");

      primary.versions = [version(6, [`www.${NAME} 60 A 192.0.2.7`, `${NAME} 300 A 192.0.2.1`])];
      await secondary.notified();
      const after = (await control.dnsRecords.list(zone, {}, { page: 1, per_page: 10 })).items;
      assert.deepEqual(
        after.map(({ name, type, content, proxied: on }) => [name, type, content, on]).toSorted(),
        [
          ["www.zone.example", "A", "192.0.2.7", true],
          [NAME, "A", "192.0.2.1", false],
          [NAME, "CNAME", "elsewhere.example", false],
        ].toSorted(),
      );
      await control.dnsRecords.delete(call(), zone, own);

      const edited = await control.zones.edit(call(), zone.id, { type: "full" });
      assert.equal(edited.type, "full");
      await control.dnsRecords.create(call(), zone, { type: "A", name: "new", content: "192.0.2.1" });
      assert.deepEqual((await secondary.zoneEntry())?.name_servers, edited.name_servers);
    } finally {
      await control.secondaries.close();
      await primary.close();
    }
  },
);

storeTest("one node runs a check, and the others see its result", async ({ store, open }) => {
  const clock = fixedClock("2026-05-01T00:00:00Z");
  const primary = await startFakePrimary([version(5)]);
  const secondary = await secondaryOver(store, primary, { clock });
  const { control } = await controlOver(await open(), { clock });
  try {
    assert.deepEqual(primary.asked.splice(0), ["SOA", "AXFR"]);
    assert.equal(await control.secondaries.startDue(), 0, "not due yet");
    clock.advance(10_000_000);
    const started = await Promise.all([control.secondaries.startDue(), secondary.control.secondaries.startDue()]);
    assert.equal(started[0] + started[1], 1);
    await Promise.all([control.secondaries.idle(), secondary.control.secondaries.idle()]);
    assert.deepEqual(primary.asked.splice(0), ["SOA"]);
    assert.equal((await secondary.status()).status, "ok");
  } finally {
    await Promise.all([control.secondaries.close(), secondary.control.secondaries.close()]);
    await primary.close();
  }
});

storeTest(
  "a TSIG key that cannot be decrypted is in the zone's status, and the caller that starts checks gets internal failures",
  async ({ store }) => {
    const primary = await startFakePrimary([version(5)]);
    const secondary = await secondaryOver(store, primary, { tsig: true });
    try {
      const { id, value } = await store.read
        .selectFrom("transfer_objects")
        .selectAll()
        .where("kind", "=", "tsig")
        .executeTakeFirstOrThrow();
      const sealed = JSON.stringify({ ...(JSON.parse(value) as object), secret: "sv1.damaged" });
      await store.write(({ db }) => db.updateTable("transfer_objects").set({ value: sealed }).where("id", "=", id).execute());
      await secondary.notified();
      assert.match((await secondary.status()).last_error ?? "", /cannot decrypt its TSIG key/);

      await store.write(({ db }) => db.updateTable("zone_transfers").set({ settings: "no JSON" }).execute());
      await secondary.control.secondaries.notified(secondary.zone.id);
      await secondary.control.secondaries.idle();
      await assert.rejects(secondary.control.secondaries.startDue(), SyntaxError);
      await secondary.control.secondaries.startDue();
    } finally {
      await secondary.control.secondaries.close();
      await primary.close();
    }
  },
);

storeTest(
  "a secondary zone made full continues above the primary's serial, and made secondary again takes the primary's",
  async ({ store }) => {
    const primary = await startFakePrimary([version(3_000_000_000, [`www.${NAME} 300 A 192.0.2.1`])]);
    const secondary = await secondaryOver(store, primary);
    const { control, call, zone } = secondary;
    try {
      assert.equal(await secondary.serial(), 3_000_000_000);
      await control.zones.edit(call(), zone.id, { type: "full" });
      const own = (await secondary.serial()) ?? 0;
      assert.ok(own > 3_000_000_000, String(own));
      await control.dnsRecords.create(call(), zone, { type: "A", name: "own", content: "192.0.2.5" });
      assert.equal(await secondary.serial(), own + 1);

      await control.zones.edit(call(), zone.id, { type: "secondary" });
      const entry = await secondary.zoneEntry();
      assert.deepEqual([entry?.type, entry?.expired], ["secondary", undefined]);
      primary.versions = [version(7, [`www.${NAME} 300 A 192.0.2.7`])];
      await secondary.notified();
      // Only the primary's serial counts, not the former one.
      assert.deepEqual([await secondary.records(), await secondary.serial()], [[`www.${NAME} 300 A 192.0.2.7`], 7]);
    } finally {
      await control.secondaries.close();
      await primary.close();
    }
  },
);

storeTest("a clock that was a year ahead does not expire a secondary zone for longer than that", async ({ store }) => {
  const clock = fixedClock("2026-05-01T00:00:00Z");
  const primary = await startFakePrimary([version(5, [`www.${NAME} 300 A 192.0.2.1`])]);
  const secondary = await secondaryOver(store, primary, { clock });
  const { distort } = primary;
  const shown = async (): Promise<unknown> => [(await secondary.status()).status, (await secondary.zoneEntry())?.expired];
  try {
    // As one whose own clock is right refuses signatures of another year.
    primary.distort = (messages) =>
      messages.map((bytes) => Buffer.concat([bytes.subarray(0, 3), Buffer.of(RCODE.REFUSED), bytes.subarray(4)]));
    clock.advance(YEAR_MS);
    await secondary.check();
    assert.deepEqual(await shown(), ["expired", true]);

    primary.distort = distort;
    clock.advance(-YEAR_MS);
    await secondary.check();
    assert.deepEqual(await shown(), ["ok", undefined]);
    const asked = primary.asked.length;
    await secondary.check();
    assert.equal(primary.asked.length, asked, "not due again");
  } finally {
    await secondary.control.secondaries.close();
    await primary.close();
  }
});

storeTest("a transfer of thousands of records is written in chunks, and the planes apply it at once", async ({ store }) => {
  const hosts = (count: number, address: string): string[] => Array.from({ length: count }, (_, i) => `h${i}.${NAME} 300 A ${address}`);
  const primary = await startFakePrimary([version(1, [`a.${NAME} 60 A 192.0.2.1`])]);
  primary.recordsAtOnce = 500;
  try {
    const { notified, zone, control, serial, clock, status } = await secondaryOver(store, primary, { recordsPerZoneMax: 10_000 });
    const plane = createSnapshotState();
    const follow = async (): Promise<number[]> => {
      const counts = new Set<number>();
      for (const { rev, changes } of (await store.changesSince(plane.rev, 1000)) ?? []) {
        assert.ok(changes.length <= 600, "a unit of thousands");
        for (const op of changes as Op[]) if (op.kind === "staged") assert.ok(opWeight(op) <= 250, "a piece of thousands");
        plane.apply(rev, changes as readonly Op[]);
        counts.add([...plane.entries("record")].length);
      }
      return [...counts];
    };
    assert.deepEqual((await follow()).at(-1), 1);
    primary.versions = [version(2, [`a.${NAME} 60 A 192.0.2.1`, ...hosts(2_600, "192.0.2.7")])];
    clock.advance(10_000);
    await notified();
    assert.deepEqual([await follow(), await serial()], [[1, 2_601], 2]);
    const written = [...plane.entries("record")].filter(([, { name }]) => name.startsWith("h"));
    const ids = written.toSorted(([, a], [, b]) => Number(/\d+/.exec(a.name)) - Number(/\d+/.exec(b.name))).map(([id]) => id);
    assert.ok(ids.join() === ids.toSorted().join(), "identifiers of a transfer ascend as it is written, so that they share pages");

    // Most change their TTL, some go, some come.
    const changed = hosts(2_500, "192.0.2.7").map((line) => line.replace(" 300 ", " 600 "));
    primary.versions = [version(3, [...changed, `new.${NAME} 60 A 192.0.2.8`])];
    clock.advance(10_000);
    await notified();
    assert.deepEqual([await follow(), await serial()], [[2_601, 2_501], 3]);
    assert.equal((await status()).last_error, null);
    const { items } = await control.dnsVersions.list(zone, { page: 1, per_page: 10 });
    assert.deepEqual(items.map(({ kind, created, updated, deleted }) => [kind, created, updated, deleted]).slice(0, 2), [
      ["transfer", 1, 2_500, 101],
      ["transfer", 2_600, 0, 0],
    ]);
    const { ops } = await rebuildSnapshot(store);
    const whole = createSnapshotState();
    whole.replace(plane.rev, ops);
    assert.deepEqual(dump(plane), dump(whole));
  } finally {
    await primary.close();
  }
});

storeTest("a zone whose earlier transfer is still taken back is checked again soon, and no failure is counted", async ({ store }) => {
  const primary = await startFakePrimary([version(1)]);
  try {
    const { zone, notified, serial, clock, check, status } = await secondaryOver(store, primary);
    const left = { zone_id: zone.id, id: "0123456789abcdef", kind: "transfer", touched_on: "2026-05-01T00:00:00Z" };
    await store.write(({ db }) => beginImport(db, left));
    primary.versions = [version(2)];
    const asked = primary.asked.length;
    clock.advance(10_000);
    await notified();
    assert.deepEqual([await serial(), primary.asked.length], [1, asked]);
    assert.deepEqual([(await status()).status, (await status()).last_error], ["ok", null]);
    await store.write(({ db }) => endImport(db, left));
    clock.advance(2_000);
    await check();
    assert.equal(await serial(), 2);
  } finally {
    await primary.close();
  }
});

storeTest("an RRset above the size limit is refused, and the zone's status says so", async ({ store }) => {
  const lines = (count: number): string[] => Array.from({ length: count }, (_, i) => `many.${NAME} 300 A 10.0.${i >> 8}.${i & 255}`);
  const primary = await startFakePrimary([version(1, lines(2_048))]);
  primary.recordsAtOnce = 500;
  try {
    const { check, notified, records, status, clock } = await secondaryOver(store, primary, { recordsPerZoneMax: 10_000, ixfr: true });
    await check();
    assert.equal((await records()).length, 1_000);
    primary.versions = [...primary.versions, version(2, lines(2_049))];
    clock.advance(10_000);
    await notified();
    assert.match(JSON.stringify(await status()), /the records of many\.zone\.example of type A have more than 8192 bytes together/);
    assert.ok(primary.asked.includes("IXFR 1") && primary.asked.includes("AXFR"));
  } finally {
    await primary.close();
  }
});

storeTest("a transferred zone stays editable after it stops being secondary, and its export can be imported", async ({ store }) => {
  const odd = [
    "3cx 300 A 192.0.2.3",
    "123 604800 CNAME u1.wl.sendgrid.example.",
    "trailing_ 3600 A 192.0.2.4",
    String.raw`two\032words 3600 A 192.0.2.5`,
    String.raw`dotted\.label 3600 MX 10 odd\032host.example.`,
    "quick 5 TXT one",
  ];
  const primary = await startFakePrimary([
    version(
      7,
      odd.map((line) => line.replace(/^(\S+)/, `$1.${NAME}.`)),
    ),
  ]);
  try {
    const { control, call, zone, account_id, notified, records } = await secondaryOver(store, primary);
    await notified();
    assert.equal((await records()).length, odd.length);
    await control.zones.edit(call(), zone.id, { type: "full" });
    const { items } = await control.dnsRecords.list(zone, {}, { page: 1, per_page: 100 });
    for (const { id, name, type, ...record } of items) {
      assert.equal((await control.dnsRecords.edit(call(), zone, id, { comment: "seen" })).name, name);
      const { content, ttl, priority } = record;
      const put = { name, type, content, ttl, ...(priority === undefined ? {} : { priority }), comment: "put" };
      assert.equal((await control.dnsRecords.overwrite(call(), zone, id, put)).comment, "put");
    }
    const phone = items.find(({ name }) => name.startsWith("3cx"));
    assert.ok(phone);
    await control.dnsRecords.create(call(), zone, { type: "AAAA", name: phone.name, content: "2001:db8::3" });
    const file = await wholeText(await control.zoneFiles.export(zone));
    await control.zones.delete(call(), zone.id);
    const { id } = await control.zones.create(call(), { name: NAME, account: { id: account_id } });
    const { recs_added } = await control.zoneFiles.import(call(), { ...zone, id }, file, { proxied: false });
    assert.equal(recs_added, odd.length + 1);
  } finally {
    await primary.close();
  }
});

storeTest("an unproved zone is fetched at most once an hour and with few records, and completely once proved", async ({ store }) => {
  const primary = await startFakePrimary([version(5)]);
  try {
    const { control, call, clock, zone, account_id, check, notified, status } = await secondaryOver(store, primary);
    assert.equal((await status()).status, "ok");
    await store.write(({ db }) => updateZone(db, zone.id, { status: "pending", proof: "none" }));
    const asked = (): number => primary.asked.length;
    const before = asked();
    primary.versions = [version(6)];
    for (let i = 0; i < 5; i++) await notified();
    clock.advance(3_500_000);
    await notified();
    assert.equal(asked(), before, "a NOTIFY within the hour leads to no question");
    clock.advance(200_000);
    await check();
    assert.ok(asked() > before);
    primary.versions = [
      version(
        7,
        Array.from({ length: 50 }, (_, i) => `h${i}.${NAME} 300 A 192.0.2.1`),
      ),
    ];
    clock.advance(3_700_000);
    await notified();
    assert.match((await status()).last_error ?? "", /records/);
    await control.zoneSettling.prove(call(), NAME, account_id);
    await check();
    await control.secondaries.idle();
    assert.deepEqual(
      [(await status()).status, (await control.dnsRecords.list(zone, {}, { page: 1, per_page: 5 })).total_count],
      ["ok", 50],
    );
  } finally {
    await primary.close();
  }
});

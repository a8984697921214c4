import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createQueryParentDs } from "#control/dns/dnssec/parent-ds.ts";
import { watchDnssec } from "#jobs/watch-dnssec.ts";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Dnssec } from "#model/dns/dnssec.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { controlOver } from "../support/control.ts";
import { askTcp, queryFor } from "../support/dns-client.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { storeTest } from "../support/store.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";

// A separate nameserver serves the parent zone, and is queried over TCP like by a resolver.

const HOUR_MS = 3_600_000;
const PARENT = "example";
const ZONE = `child.${PARENT}`;

interface Parent {
  readonly server: string;
  /** Replaces the zone's DS set; each as `Dnssec.ds` has it. */
  say(...ds: readonly (string | null)[]): void;
  close(): Promise<void>;
}

async function startParent(): Promise<Parent> {
  const zone = [zoneOp("p", PARENT), serialOp("p", 1), recordOp("p", ZONE, "NS", "ns1.elsewhere.test.")];
  const replica = createMemoryReplica(zone);
  const nameserver = createNameserver({
    replica,
    metrics: createMetrics(),
    config: nameserverConfig(),
    ...NAMESERVER_PARTS,
  });
  const { tcp } = await nameserver.listen();
  return {
    server: `127.0.0.1:${tcp}`,
    say: (...ds) => {
      const records = ds.map((text): Op => recordOp("p", ZONE, "DS", (text ?? "").replace(/^.* DS /, ""), { ttl: 3600 }));
      replica.replace([...zone, ...records]);
    },
    close: () => nameserver.close(100),
  };
}

const OTHER_DS = `${ZONE}. 3600 IN DS 4711 13 2 ${"AB".repeat(32)}`;

storeTest("the status follows the parent's DS, a rollover waits for it, and DNSSEC ends once the DS expired", async ({ store }) => {
  const parent = await startParent();
  const clock = fixedClock("2026-01-01T00:00:00Z");
  try {
    const { control, account_id, call } = await controlOver(store, { clock, scanResolvers: [parent.server] });
    const { id, name } = await control.zones.create(call(), { name: ZONE, account: { id: account_id } });
    const zone = { id, name, account_id };
    const { dnssec } = control;
    const job = watchDnssec(control.dnssecWatch);
    /** Hours go by, in which the job runs as it does in a server. */
    const live = async (hours: number): Promise<Dnssec> => {
      for (let hour = 0; hour < hours; hour++) {
        clock.advance(HOUR_MS);
        await job.run();
      }
      return dnssec.get(call(), zone);
    };
    const entry = async () => {
      const changes = ((await store.changesSince(0, 1000)) ?? []).flatMap((set) => set.changes);
      return changes.findLast(({ kind }) => kind === "dnssec")?.value as {
        keys: { id: string; signs_zone: boolean }[];
        cds: unknown;
      } | null;
    };

    const on = await dnssec.edit(call(), zone, { status: "active" });
    assert.equal(on.status, "pending");
    assert.equal((await live(1)).status, "pending");
    parent.say(OTHER_DS);
    assert.equal((await live(1)).status, "pending", "that DS is of another key");
    const told = call();
    await dnssec.get(told, zone);
    assert.match(told.notes?.join() ?? "", /^The parent's DS records name only other keys \(4711\)/);
    parent.say(on.ds);
    assert.equal((await live(1)).status, "active");
    assert.deepEqual((await dnssec.rollover(zone)).parent.key_tags, [on.key_tag]);

    const rolling = await dnssec.startRollover(call(), zone);
    assert.deepEqual(
      rolling.keys.map(({ role }) => role),
      ["active", "publish"],
    );
    await assert.rejects(dnssec.startRollover(call(), zone), /already in progress/);
    assert.equal((await dnssec.get(call(), zone)).ds, on.ds);
    const submitted = await live(5);
    const { stage, keys } = await dnssec.rollover(zone);
    assert.deepEqual([stage, submitted.ds], ["submit", keys[1]?.ds]);
    const [oldKey, newKey] = (await entry())?.keys ?? [];
    assert.deepEqual([(await entry())?.cds, oldKey?.signs_zone, newKey?.signs_zone], [[newKey?.id], true, false]);
    await live(240);
    assert.equal((await dnssec.rollover(zone)).stage, "submit", "it waits for the parent as long as that takes");
    const asked = call();
    await dnssec.get(asked, zone);
    assert.match(asked.notes?.join() ?? "", /^A new key has been waiting since 2026-01-01T\S+ for its DS record in the parent zone/);
    parent.say(submitted.ds);
    await live(1);
    assert.deepEqual(
      (await dnssec.signingKeys(zone)).map(({ Tag }) => Tag),
      ["retired", "active"],
    );
    assert.deepEqual(
      (await entry())?.keys.map(({ signs_zone }) => signs_zone),
      [false, true],
    );
    const rolled = await live(48);
    assert.deepEqual([rolled.status, rolled.ds, (await entry())?.keys.length], ["active", submitted.ds, 1]);
    assert.equal((await store.read.selectFrom("zone_dnssec_keys").selectAll().execute()).length, 1, "the old key is gone");

    const off = await dnssec.edit(call(), zone, { status: "disabled" });
    assert.deepEqual([off.status, (await entry())?.cds], ["pending-disabled", "delete"]);
    await assert.rejects(dnssec.remove(call(), zone), /only while it is disabled/);
    assert.equal((await live(72)).status, "pending-disabled", "the parent has it still");
    parent.say();
    assert.equal((await live(20)).status, "pending-disabled", "others may remember it");
    assert.equal((await live(20)).status, "disabled");
    assert.equal(await entry(), null);
    assert.equal(await dnssec.remove(call(), zone), "");

    const audit = await store.read.selectFrom("audit_log").selectAll().where("resource_type", "=", "dnssec").execute();
    assert.equal(audit.filter(({ action }) => action === "dnssec.progress").length, 5);
    assert.ok(!/PRIVATE|sv1\./.test(JSON.stringify(audit)), "neither keys nor sealed keys are in the audit log");
  } finally {
    await parent.close();
  }
});

storeTest("a key's age starts a rollover, which stops while the parent is unreachable", async ({ store }) => {
  const parent = await startParent();
  const clock = fixedClock("2026-01-01T00:00:00Z");
  try {
    const { control, account_id, call } = await controlOver(store, { clock, scanResolvers: [parent.server], dnssecRolloverDays: 30 });
    const { id, name } = await control.zones.create(call(), { name: ZONE, account: { id: account_id } });
    const zone = { id, name, account_id };
    const run = async (hours: number) => {
      clock.advance(hours * HOUR_MS);
      return watchDnssec(control.dnssecWatch).run();
    };
    const on = await control.dnssec.edit(call(), zone, { status: "active" });
    parent.say(on.ds);
    assert.deepEqual(await run(1), { checked: 1, changed: [`${ZONE}: pending → active`], failures: 0, failed: [] });
    assert.equal(await run(0), null, "not due");
    assert.equal(await run(29 * 24 - 1), null);
    assert.deepEqual((await run(24))?.["changed"], [`${ZONE}: rollover none → publish`]);
    await parent.close();
    const blind = await run(24);
    assert.deepEqual([blind?.["changed"], blind?.["failures"]], [[], 1]);
    assert.match(String(blind?.["failed"]), /child\.example: 127\.0\.0\.1:\d+: connect ECONNREFUSED/);
    assert.equal(await run(0), null, "the next try comes later");
    assert.match((await control.dnssec.rollover(zone)).parent.failure ?? "", /ECONNREFUSED/);
  } finally {
    await parent.close();
  }
});

storeTest("a zone with an unreachable parent stays pending, and its owner sees why", async ({ store }) => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const { control, account_id, call } = await controlOver(store, { clock });
  const { id, name } = await control.zones.create(call(), { name: ZONE, account: { id: account_id } });
  const zone = { id, name, account_id };
  await control.dnssec.edit(call(), zone, { status: "active" });
  await watchDnssec(control.dnssecWatch).run();
  const asked = call();
  assert.equal((await control.dnssec.get(asked, zone)).status, "pending");
  assert.match(asked.notes?.[0] ?? "", /^Status stays pending: the parent zone could not be checked: 127\.0\.0\.1:1: connect ECONNREFUSED/);
});

storeTest("secondaries of a signed zone get a NOTIFY before its signatures expire", async ({ store }) => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const { control, account_id, call } = await controlOver(store, { clock });
  const { transfers, dnssec } = control;
  const peer = await transfers.peers.create(call(), account_id, { name: "ns", ip: "192.0.2.53", port: 5353 });
  const signed = await Promise.all(
    ["fetched.example", "alone.example"].map(async (zoneName) => {
      const { id, name } = await control.zones.create(call(), { name: zoneName, account: { id: account_id } });
      const zone = { id, name, account_id };
      await dnssec.edit(call(), zone, { status: "active" });
      return zone;
    }),
  );
  const [fetched] = signed;
  assert.ok(fetched);
  await transfers.outgoing.create(call(), fetched, { peers: [peer.id] });
  await transfers.enable(call(), fetched, true);
  const before = await store.revision();
  for (let hour = 0; hour < 8 * 24; hour++) {
    clock.advance(HOUR_MS);
    await watchDnssec(control.dnssecWatch).run();
  }
  const changes = ((await store.changesSince(before, 100)) ?? []).flatMap((set) => set.changes);
  assert.deepEqual(
    changes.map(({ kind, id }) => [kind, id]),
    [
      ["serial", fetched.id],
      ["serial", fetched.id],
    ],
    "twice in eight days, though the parent cannot be seen",
  );
});

test("only the parent's own answers count, and all resolvers must agree", async () => {
  const [one, other] = [await startParent(), await startParent()];
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  const deaf = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  try {
    const look = createQueryParentDs([one.server, other.server]);
    assert.deepEqual(await look(ZONE), { records: [], ttl: 0 });
    one.say(OTHER_DS);
    assert.deepEqual(await look(ZONE), { reason: "the resolvers do not agree yet" });
    other.say(OTHER_DS);
    const seen = await look(ZONE);
    assert.ok("records" in seen);
    assert.deepEqual([seen.records.length, seen.ttl], [1, 86_400], "without a signature nobody knows the whole TTL");
    const child = await look(PARENT);
    assert.match("reason" in child ? child.reason : "", /its response contains nothing from the parent zone/);
    const nobody = await look("elsewhere.test");
    assert.match("reason" in nobody ? nobody.reason : "", /RCODE 5/);
    const mute = await createQueryParentDs([deaf])(ZONE);
    assert.match("reason" in mute ? mute.reason : "", /no response within 2000 ms/);
  } finally {
    silent.close();
    await one.close();
    await other.close();
  }
});

test(
  "the server checks the parents of its zones by itself, and signs a zone as soon as it is activated",
  { timeout: 300_000 },
  async () => {
    const parent = await startParent();
    const selvedge = await startSelvedge({ args: ["--dns-scan-resolvers", parent.server] });
    try {
      const call = apiCaller(selvedge.ready);
      const zone = await succeed(call("POST", "/zones", { name: ZONE, account: { id: selvedge.ready.account_id } }));
      const path = `/zones/${zone.id}/dnssec`;
      const on = await succeed(call("PATCH", path, { status: "active" }));
      const port = Number(selvedge.ready.dns.split(":").at(-1));
      const [response] = await askTcp(port, [queryFor(`${ZONE}.`, TYPE.DNSKEY, 1)]);
      const [dnskey] = decodeMessage(response as Buffer).answers;
      assert.equal(Buffer.from(dnskey?.rdata.subarray(4) ?? []).toString("base64"), on.public_key);
      parent.say(on.ds);
      while ((await succeed(call("GET", path))).status !== "active") await delay(250);
      // The line comes through a pipe.
      await eventually(() => /child\.example: pending → active/.test(selvedge.log()));
    } finally {
      await selvedge.stop();
      await parent.close();
    }
  },
);

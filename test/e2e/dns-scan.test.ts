import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import { createScanResolver } from "#control/dns/scan/scan-resolver.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { controlOver } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { storeTest } from "../support/store.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";

// The zone as somebody else serves it: a real nameserver, which the scan asks over UDP.

const ZONE = "scanned.example";

async function elsewhere(records: readonly Op[]): Promise<{ server: string; close(): Promise<void> }> {
  const nameserver = createNameserver({
    replica: createMemoryReplica([zoneOp("z", ZONE), serialOp("z", 1), ...records]),
    metrics: createMetrics(),
    config: nameserverConfig(),
    ...NAMESERVER_PARTS,
  });
  const { udp } = await nameserver.listen();
  return { server: `127.0.0.1:${udp}`, close: () => nameserver.close(100) };
}

const RECORDS: readonly Op[] = [
  recordOp("z", ZONE, "A", "192.0.2.1"),
  recordOp("z", ZONE, "MX", `10 mail.${ZONE}.`),
  recordOp("z", ZONE, "TXT", '"v=spf1 \\"quoted\\" " "-all"'),
  recordOp("z", ZONE, "CAA", '128 issue "ca.example"'),
  recordOp("z", `www.${ZONE}`, "CNAME", `${ZONE}.`),
  recordOp("z", `mail.${ZONE}`, "A", "192.0.2.2", { ttl: 30 }),
  recordOp("z", `mail.${ZONE}`, "AAAA", "2001:db8::2"),
  recordOp("z", `_sip._tcp.${ZONE}`, "SRV", `1 2 5060 mail.${ZONE}.`),
  recordOp("z", `_dmarc.${ZONE}`, "TXT", '"v=DMARC1; p=none"'),
  recordOp("z", `nobodyasksforthis.${ZONE}`, "A", "192.0.2.9"),
];

storeTest("a scan finds a zone's common records, and a review accepts some of them", async ({ store }) => {
  const other = await elsewhere(RECORDS);
  try {
    const { control, account_id, call } = await controlOver(store, { scanResolvers: [other.server] });
    const { id, name } = await control.zones.create(call(), { name: ZONE, account: { id: account_id } });
    const zone = { id, name, account_id, plan: "free" };
    const { recordScans, dnsRecords, dnsVersions } = control;
    await dnsRecords.create(call(), zone, { type: "A", name: "@", content: "192.0.2.1" });
    await recordScans.trigger(zone);
    const found = await recordScans.list(zone);
    const shown = found
      .map((record) => [record.name.replace(/\.?scanned\.example$/, "") || "@", record.type, record.content, record.ttl].join(" "))
      .toSorted();
    assert.deepEqual(shown, [
      '@ CAA 128 issue "ca.example" 1',
      `@ MX mail.${ZONE} 1`,
      '@ TXT "v=spf1 \\"quoted\\" " "-all" 1',
      '_dmarc TXT "v=DMARC1; p=none" 1',
      `_sip._tcp SRV 2 5060 mail.${ZONE} 1`,
      "mail A 192.0.2.2 60",
      "mail AAAA 2001:db8::2 600",
      `www CNAME ${ZONE} 1`,
    ]);

    const idOf = (host: string, type: string): string =>
      found.find((record) => record.name === `${host}.${ZONE}` && record.type === type)?.id ?? "";
    const reviewed = await recordScans.review(call(), zone, {
      accepts: [{ id: idOf("www", "CNAME"), proxied: true }, { id: idOf("mail", "A") }],
      rejects: [{ id: idOf("mail", "AAAA") }, { id: "0".repeat(32) }],
    });
    assert.deepEqual(
      reviewed.accepts.map((record) => [record.name, record.content, record.proxied]),
      [
        [`www.${ZONE}`, ZONE, true],
        [`mail.${ZONE}`, "192.0.2.2", false],
      ],
    );
    assert.deepEqual(reviewed.rejects, [idOf("mail", "AAAA")]);
    assert.equal((await recordScans.list(zone)).length, found.length - 3);
    assert.equal((await dnsRecords.usage(zone)).record_usage, 3);
    const [version] = (await dnsVersions.list(zone, { page: 1, per_page: 1 })).items;
    assert.deepEqual([version?.kind, version?.created], ["scan", 2]);

    // A record that has something in its way is left out, the others are added.
    await dnsRecords.create(call(), zone, { type: "CNAME", name: "_dmarc", content: "policy.example.net" });
    const { recs_added, total_records_parsed } = await recordScans.add(call(), zone);
    assert.deepEqual([recs_added, total_records_parsed], [5, 9]);
    assert.deepEqual(
      (await recordScans.list(zone)).map((record) => record.name),
      [`_dmarc.${ZONE}`],
      "what the zone has is no longer a candidate",
    );
    await control.zones.delete(call(), id);
    assert.deepEqual(await store.read.selectFrom("dns_scan_candidates").selectAll().execute(), [], "candidates go with their zone");
  } finally {
    await other.close();
  }
});

storeTest("a scan reports a wildcard once, and finds nothing if the resolver does not answer", async ({ store, dialect }) => {
  if (dialect === "postgres") return;
  const other = await elsewhere([recordOp("z", `*.${ZONE}`, "A", "192.0.2.5"), recordOp("z", `api.${ZONE}`, "A", "192.0.2.6")]);
  try {
    const { control, account_id, call } = await controlOver(store, { scanResolvers: [other.server] });
    const { id, name } = await control.zones.create(call(), { name: ZONE, account: { id: account_id } });
    const zone = { id, name, account_id, plan: "free" };
    await control.recordScans.trigger(zone);
    const found = await control.recordScans.list(zone);
    assert.deepEqual(found.map((record) => `${record.name} ${record.content}`).toSorted(), [
      `*.${ZONE} 192.0.2.5`,
      `api.${ZONE} 192.0.2.6`,
    ]);
  } finally {
    await other.close();
  }
});

storeTest("scans of one account that get no answers leave places for others", async ({ store, dialect }) => {
  if (dialect === "postgres") return;
  const silent = createSocket("udp4");
  await new Promise<void>((resolve) => silent.bind(0, "127.0.0.1", resolve));
  try {
    const { control, account_id, call } = await controlOver(store, { scanResolvers: [`127.0.0.1:${silent.address().port}`] });
    const { id, name } = await control.zones.create(call(), { name: ZONE, account: { id: account_id } });
    const zone = { id, name, account_id, plan: "free" };
    const outcomes = new Map<string, "running" | "done" | "refused">();
    const scan = (label: string, account: string): void => {
      outcomes.set(label, "running");
      control.recordScans.trigger({ ...zone, account_id: account }).then(
        () => outcomes.set(label, "done"),
        (error: unknown) => outcomes.set(label, error instanceof PlatformError ? "refused" : "done"),
      );
    };
    for (let n = 0; n < 6; n++) scan(`greedy ${n}`, account_id);
    scan("other", "other");
    await eventually(() => [...outcomes.values()].filter((outcome) => outcome === "refused").length >= 3);
    assert.deepEqual([...outcomes.values()], ["running", "running", "refused", "refused", "refused", "refused", "running"]);
  } finally {
    silent.close();
  }
});

test("an unreachable resolver gives an empty answer", async () => {
  assert.deepEqual(await createScanResolver(["127.0.0.1:1"])("www.scanned.example", "A"), []);
});

import { createRemovals } from "#control/zones/removals.ts";
import { createImportJobs, type RunImport } from "./import-jobs.ts";
import assert from "node:assert/strict";
import { wholeText } from "../../../../test/support/whole-text.ts";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Control } from "#control/control.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { OnError } from "#model/dns/dns-import.ts";
import type { DnsRecordWrite } from "#model/dns/dns-record.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { checkedZone } from "../../../../test/support/checked-zone.ts";
import { type ControlFixture, controlOver } from "../../../../test/support/control.ts";
import { storeTest } from "../../../../test/support/store.ts";
import { toolOrSkip } from "../../../../test/support/tools.ts";
import type { ImportResult } from "./zone-files.ts";

const run = promisify(execFile);

const ONE_JOB = { proxied: false, onError: "clamp", total: 10, report: [] } as const;

interface Zoned extends ControlFixture {
  readonly zone: PlannedZoneRef;
  create(write: DnsRecordWrite): ReturnType<Control["dnsRecords"]["create"]>;
  load(file: string, proxied?: boolean, onError?: OnError): Promise<ImportResult>;
  /** Result of a dry run. */
  tried(file: string, onError?: OnError): Promise<ImportResult>;
  save(): Promise<string>;
  /** `name type content` of each record, apex names as `@`. */
  shown(): Promise<string[]>;
}

async function zoned(store: Store, options: { readonly plan?: string; readonly recordsPerZoneMax?: number } = {}): Promise<Zoned> {
  const fixture = await controlOver(store, options.recordsPerZoneMax === undefined ? {} : { recordsPerZoneMax: options.recordsPerZoneMax });
  return { ...fixture, ...(await zoneOf(fixture, "example.com", options.plan ?? "pro")) };
}

async function zoneOf(
  { control, account_id, call }: ControlFixture,
  name: string,
  plan: string,
): Promise<Omit<Zoned, keyof ControlFixture>> {
  const { id } = await control.zones.create(call(), { name, account: { id: account_id } });
  const zone = { id, name, account_id, plan };
  return {
    zone,
    create: (write) => control.dnsRecords.create(call(), zone, write),
    load: (file, proxied = false, onError = "clamp") => control.zoneFiles.import(call(), zone, file, { proxied, onError }),
    tried: (file, onError = "clamp") => control.zoneFiles.import({ ...call(), dry_run: true }, zone, file, { proxied: false, onError }),
    save: async () => wholeText(await control.zoneFiles.export(zone)),
    shown: async () => {
      const { items } = await control.dnsRecords.list(zone, {}, { page: 1, per_page: 10_000 });
      return items.map((record) => `${record.name} ${record.type} ${record.content}`).sort();
    },
  };
}

/** One record of every type that can be created, and everything that comments carry. */
const EVERY_TYPE: readonly DnsRecordWrite[] = [
  { type: "A", name: "@", content: "192.0.2.1", proxied: true },
  { type: "A", name: "www", content: "192.0.2.2", ttl: 300, comment: "a comment; with (signs) and cf_tags=x" },
  { type: "AAAA", name: "www", content: "2001:db8::1", ttl: 600, tags: ["team:edge", "note:a,b"] },
  { type: "CNAME", name: "alias", content: "www", settings: { flatten_cname: true }, comment: "both", tags: ["prod"] },
  { type: "CNAME", name: "*.wild", content: "target.example.net", proxied: true },
  { type: "A", name: "four", content: "192.0.2.4", proxied: true, settings: { ipv4_only: true } },
  { type: "CNAME", name: "six", content: "www", settings: { ipv6_only: true, flatten_cname: true } },
  { type: "MX", name: "@", content: "mail.example.com", priority: 10 },
  { type: "MX", name: "null", content: ".", priority: 0 },
  { type: "TXT", name: "@", content: "v=spf1 -all" },
  { type: "TXT", name: "long", content: "x".repeat(600) },
  { type: "TXT", name: "odd", content: '"semi;colon \\"quotes\\" \\\\ ü" "two"' },
  { type: "NS", name: "child", content: "ns1.example.net" },
  { type: "DS", name: "child", data: { key_tag: 60485, algorithm: 13, digest_type: 2, digest: "ab".repeat(32) } },
  { type: "CAA", name: "@", data: { flags: 0, tag: "issue", value: "ca.example; x=y" } },
  { type: "SRV", name: "_sip._tcp", data: { priority: 1, weight: 2, port: 5060, target: "sip.example.com" } },
  { type: "PTR", name: "ptr", content: "www.example.com" },
  { type: "HTTPS", name: "svc", data: { priority: 1, target: ".", value: 'alpn="h3,h2" ipv4hint="192.0.2.1" ech="AAQBAgME"' } },
  { type: "SVCB", name: "svc", data: { priority: 2, target: "www.example.com.", value: 'key667="a b"' } },
  { type: "HTTPS", name: "svcalias", data: { priority: 0, target: "www.example.com.", value: "" } },
  { type: "URI", name: "uri", data: { weight: 1, target: "https://example.com/a b" }, priority: 10 },
  {
    type: "NAPTR",
    name: "naptr",
    data: { order: 1, preference: 2, flags: "u", service: "E2U+sip", regex: "!^.*$!sip:x@example.com!", replacement: "." },
  },
  { type: "SSHFP", name: "ssh", data: { algorithm: 4, type: 2, fingerprint: "cd".repeat(32) } },
  { type: "TLSA", name: "_443._tcp.www", data: { usage: 3, selector: 1, matching_type: 1, certificate: "ef".repeat(32) } },
  { type: "SMIMEA", name: "smimea", data: { usage: 3, selector: 0, matching_type: 0, certificate: "abcdef" } },
  { type: "CERT", name: "cert", data: { type: 1, key_tag: 2, algorithm: 13, certificate: "aGVsbG8=" } },
  {
    type: "DNSKEY",
    name: "key",
    data: { flags: 257, protocol: 3, algorithm: 13, public_key: `${"mdsswUyr3DPW132mOi8V9xESWE8jTo0d".repeat(2)}${"A".repeat(22)}==` },
  },
  { type: "OPENPGPKEY", name: "pgp", content: "aGVsbG8=" },
  {
    type: "LOC",
    name: "loc",
    data: {
      lat_degrees: 37,
      lat_minutes: 46,
      lat_seconds: 46.5,
      lat_direction: "N",
      long_degrees: 122,
      long_minutes: 23,
      long_seconds: 35,
      long_direction: "W",
      altitude: 0,
      size: 100,
      precision_horz: 0,
      precision_vert: 0,
    },
  },
  { type: "TYPE65280", name: "unknown", content: "\\# 3 abcdef" },
  { type: "HINFO", name: "old", content: '"PDP-11/70" "UNIX"' },
  { type: "RP", name: "old", content: "admin.people txt.people" },
  { type: "AFSDB", name: "old", content: "1 afs.example.net" },
  { type: "EUI48", name: "old", content: "00-00-5e-00-53-2a" },
  { type: "DHCID", name: "old", content: "AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=" },
  { type: "TXT", name: "$dollar", content: "a name that looks like a directive" },
];

/** The serial counts writes, which zones with the same records need not share. */
const withoutSerial = (file: string): string => file.replace(/^(\S+\t\d+\tIN\tSOA\t\S+ \S+ )\d+/m, "$1N");

storeTest("import → export → import is byte-stable, in the same zone and in another one", async ({ store }) => {
  const first = await zoned(store);
  for (const write of EVERY_TYPE) await first.create(write);
  const exported = await first.save();
  assert.deepEqual(await first.load(exported), { recs_added: 0, total_records_parsed: EVERY_TYPE.length + 3 });
  assert.equal(await first.save(), exported);

  const records = await first.shown();
  await first.control.zones.delete(first.call(), first.zone.id);
  const second = await zoneOf(first, "example.com", "pro");
  assert.deepEqual(await second.load(exported), { recs_added: EVERY_TYPE.length, total_records_parsed: EVERY_TYPE.length + 3 });
  const again = await second.save();
  assert.equal(withoutSerial(again), withoutSerial(exported));
  assert.deepEqual(await second.load(again), { recs_added: 0, total_records_parsed: EVERY_TYPE.length + 3 });
  assert.equal(await second.save(), again);
  // Only TXT changes how it is written: a zone file has it in strings of 255 bytes at most.
  const other = (shown: readonly string[]): string[] => shown.filter((record) => !record.includes(" TXT "));
  assert.deepEqual(other(await second.shown()), other(records));
  const { version } = (await first.control.dnsVersions.list(second.zone, { page: 1, per_page: 10 })).items[0] ?? {};
  assert.equal(
    (
      await store.read
        .selectFrom("dns_versions")
        .select("kind")
        .where("version", "=", version ?? 0)
        .executeTakeFirst()
    )?.kind,
    "import",
  );
});

const checkers = toolOrSkip("named-checkzone") || toolOrSkip("kzonecheck");

test("the checkers of other nameservers accept every export, with the same records", { skip: checkers }, async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-export-"));
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
  try {
    const { create, save } = await zoned(store);
    for (const write of EVERY_TYPE) await create(write);
    const path = join(directory, "zone");
    writeFileSync(path, await save());
    await run("kzonecheck", ["-o", "example.com", path], { timeout: 60_000 });
    // SOA and two NS are the zone's own.
    assert.equal((await checkedZone("example.com", path, join(directory, "raw"))).length, EVERY_TYPE.length + 3);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});

storeTest("an import counts SOA, apex NS and existing records, and does not change them", async ({ store }) => {
  const { create, load, shown } = await zoned(store);
  await create({ type: "A", name: "www", content: "192.0.2.1", ttl: 60, comment: "kept" });
  await create({ type: "CNAME", name: "alias", content: "WWW.example.com" });
  const file = `$TTL 300
@ SOA ns.old.example. host.old.example. 1 7200 900 1209600 300
@ NS ns.old.example.
@ DNSKEY 257 3 13 aGVsbG8=
@ CDS 0 0 0 00
www RRSIG A 13 2 300 20300101000000 20200101000000 1 example.com. aGVsbG8=
www A 192.0.2.1
www A 192.0.2.1
alias CNAME www
alias CNAME www.example.com.
new A 192.0.2.2
$GENERATE 1-3 host$ A 192.0.2.1$
`;
  assert.deepEqual(await load(file), { recs_added: 5, total_records_parsed: 13 });
  assert.deepEqual(await shown(), [
    "alias.example.com CNAME WWW.example.com",
    "example.com DNSKEY 257 3 13 aGVsbG8=",
    "host1.example.com A 192.0.2.11",
    "host2.example.com A 192.0.2.12",
    "host3.example.com A 192.0.2.13",
    "new.example.com A 192.0.2.2",
    "www.example.com A 192.0.2.1",
  ]);
});

storeTest("the request decides about proxying unless a comment does, and TTLs are optional", async ({ store }) => {
  const { control, zone, load } = await zoned(store);
  await load(
    `a A 192.0.2.1\nb A 192.0.2.2 ; off cf_tags=team:x,cf-proxied:false\nc 600 TXT "x" ; plain\nd CNAME a ; cf_tags=cf-flatten-cname\n`,
    true,
  );
  const { items } = await control.dnsRecords.list(zone, {}, { page: 1, per_page: 10 });
  assert.deepEqual(
    items.map((record) => [record.name[0], record.proxied, record.ttl, record.comment, record.tags, record.settings]),
    [
      ["a", true, 1, null, [], {}],
      ["b", false, 1, "off", ["team:x"], {}],
      ["c", false, 600, "plain", [], {}],
      ["d", true, 1, null, [], { flatten_cname: true }],
    ],
  );
});

storeTest("a file with errors is not imported, and each error has its line", async ({ store }) => {
  const { create, load, shown } = await zoned(store, { plan: "free", recordsPerZoneMax: 10 });
  await create({ type: "CNAME", name: "taken", content: "elsewhere.example" });
  const refused = (file: string, ...lines: readonly (readonly [code: number, message: RegExp])[]): Promise<void> =>
    assert.rejects(load(file, false, "refuse"), (error) => {
      assert.ok(error instanceof PlatformError && error.code === 9310, String(error));
      assert.ok(error.message.startsWith(error.chain[0]?.message ?? "?"));
      assert.equal(error.chain.length, lines.length, JSON.stringify(error.chain));
      for (const [i, [code, message]] of lines.entries()) {
        assert.equal(error.chain[i]?.code, code);
        assert.match(error.chain[i]?.message ?? "", message);
      }
      return true;
    });
  await refused(
    "good A 192.0.2.1\n$INCLUDE /etc/passwd\nbad A 192.0.2.256\n@ DS 1 13 9 aabb\ntags A 192.0.2.1 ; cf_tags=a\nttl 5 A 192.0.2.1\n",
    [9310, /^Line 2: \$INCLUDE directive not allowed\.$/],
    [9310, /^Line 3: .*IPv4/],
    [9000, /^Line 4: DNS name is invalid/],
    [9300, /^Line 5: .*tags/],
    [9021, /^Line 6: TTL must be/],
  );
  await refused("ok A 192.0.2.1\ntaken A 192.0.2.1\n", [81054, /^Line 2: A CNAME record with that host already exists/]);
  await refused("both A 192.0.2.1\nboth CNAME www\n", [81053, /^Line 2: /]);
  await refused(Array.from({ length: 12 }, (_, i) => `h${i} A 192.0.2.1\n`).join(""), [81045, /^Line 10: /]);
  await refused("@ TXT x ; ".padEnd(200, "y"), [9302, /^Line 1: .*100 characters/]);
  await assert.rejects(load("nonsense\n".repeat(1000)), (error) => error instanceof PlatformError && error.chain.length === 50);
  assert.deepEqual(await shown(), ["taken.example.com CNAME elsewhere.example"]);
  assert.deepEqual(await load("; nothing\n"), { recs_added: 0, total_records_parsed: 0 });
});

storeTest("an import into a multi-provider zone includes the other providers' apex NS records", async ({ store }) => {
  const { load, shown, zone } = await zoned(store);
  await store.write(async ({ db }) => {
    await db
      .updateTable("zones")
      .set({ settings: JSON.stringify({ multi_provider: true }) })
      .where("id", "=", zone.id)
      .execute();
  });
  assert.deepEqual(await load("@ NS ns1.selvedge.internal.\n@ NS ns.other.example.\n"), { recs_added: 1, total_records_parsed: 2 });
  assert.deepEqual(await shown(), ["example.com NS ns.other.example"]);
});

storeTest("a large file becomes a job with an ID and progress, which continues without its client", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "jobs.example", account: { id: account_id } });
  const zone = { id, name, account_id, plan: "enterprise" };
  const hosts = Array.from({ length: 2_300 }, (_, i) => `h${i} 300 A 192.0.2.1`).join("\n");
  const asked = await control.zoneFiles.import(call(), zone, hosts, { proxied: false, respondAsync: true });
  assert.deepEqual([asked.recs_added, asked.total_records_parsed, asked.import?.total_records_parsed], [0, 2_300, 2_300]);
  const over = async (job: string) => {
    for (;;) {
      const seen = await control.zoneFiles.jobs.get(zone, job);
      if (seen.finished_on !== null) return seen;
      assert.ok(["queued", "running"].includes(seen.status) && seen.records_done <= 2_300);
      await new Promise(setImmediate);
    }
  };
  const done = await over(asked.import!.id);
  assert.deepEqual([done.status, done.recs_added, done.records_done, done.errors], ["done", 2_300, 2_300, []]);
  assert.equal((await control.dnsRecords.list(zone, {}, { page: 1, per_page: 1 })).total_count, 2_300);

  const failed = await control.zoneFiles.import(call(), zone, `${hosts}\nh7 300 CNAME x.example.`, { proxied: false, respondAsync: true });
  const why = await over(failed.import!.id);
  assert.deepEqual([why.status, why.recs_added], ["failed", 0]);
  assert.match(why.errors[0]?.message ?? "", /^Line 2301: An A, AAAA, or CNAME record with that host already exists/);
  // The same again, waited for: nothing is new.
  const again = await control.zoneFiles.import(call(), zone, hosts, { proxied: false });
  assert.deepEqual([again.recs_added, again.import?.status], [0, "done"]);
  assert.deepEqual(
    (await control.zoneFiles.jobs.list(zone)).map(({ status }) => status),
    ["done", "failed", "done"],
  );
  // Each part of a large file has its own unit, and others run in between.
  const { job_id } = await store.read.selectFrom("dns_import_files").select("job_id").executeTakeFirstOrThrow();
  const more = [1, 2].map((part) => ({ job_id, part, content: "x" }));
  await store.write(({ db }) => db.insertInto("dns_import_files").values(more).execute());
  const left: number[] = [];
  const counting: typeof store = {
    ...store,
    write: async (work, ...rest) => {
      const written = await store.write(work, ...rest);
      left.push((await store.read.selectFrom("dns_import_files").select("part").where("job_id", "=", job_id).execute()).length);
      return written;
    },
  };
  await createRemovals({ store: counting }).run(call());
  assert.deepEqual([...new Set([3, ...left])], [3, 2, 1, 0]);
  assert.deepEqual(await store.read.selectFrom("dns_import_files").select("part").execute(), []);
  await assert.rejects(control.zoneFiles.jobs.get(zone, "none"), (error: Error) => /does not exist/.test(error.message));
});

storeTest("the next server completes an import whose server ended, and an account has few waiting imports", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "jobs.example", account: { id: account_id } });
  const zone = { id, name, account_id, plan: "enterprise" };
  const file = Array.from({ length: 10 }, (_, i) => `h${i} 300 A 192.0.2.1`).join("\n");
  const jobs = (run: RunImport) => createImportJobs({ store, clock: systemClock, run });
  const never = jobs(() => new Promise(() => {}));
  const first = await never.submit(call(), zone, file, ONE_JOB);
  assert.equal(first.status, "running");
  for (let i = 0; i < 4; i++) assert.equal((await never.submit(call(), zone, file, ONE_JOB)).status, "queued");
  await assert.rejects(never.submit(call(), zone, file, ONE_JOB), (error: Error) => /too many imports/i.test(error.message));

  // Its program ends; nobody takes what another one may still be at.
  const ran: string[] = [];
  const next = jobs(async (by, _zone, text) => {
    ran.push(`${by.actor.id} ${text === file}`);
    return { added: 10, report: [] };
  });
  await store.write(({ db }) => db.updateTable("dns_import_jobs").set({ touched_on: "" }).where("id", "=", first.id).execute());
  assert.equal(await next.resume(), 1);
  while ((await next.list(zone)).some(({ finished_on }) => finished_on === null)) await new Promise(setImmediate);
  assert.deepEqual(
    ran,
    Array.from({ length: 5 }, () => `${call().actor.id} true`),
  );
  assert.deepEqual((await next.get(zone, first.id)).recs_added, 10);
});

storeTest("an import whose file was not stored completely fails, and can be retried", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "parts.example", account: { id: account_id } });
  const zone = { id, name, account_id, plan: "enterprise" };
  const part = Promise.withResolvers<void>();
  // The program ends between the first part of the file and the second.
  const dying: typeof store = {
    ...store,
    write: async (work, ...rest) => {
      const written = await store.write(work, ...rest);
      const [stored] = await store.read.selectFrom("dns_import_files").select("part").execute();
      if (stored === undefined) return written;
      part.resolve();
      return new Promise(() => {});
    },
  };
  const file = "x 300 A 192.0.2.1\n".repeat(40_000);
  void createImportJobs({ store: dying, clock: systemClock, run: async () => ({ added: 0, report: [] }) }).submit(
    call(),
    zone,
    file,
    ONE_JOB,
  );
  await part.promise;

  const next = createImportJobs({ store, clock: systemClock, run: async () => ({ added: 0, report: [] }) });
  await next.resume();
  assert.deepEqual(
    (await next.list(zone)).map(({ status }) => status),
    // SQLite belongs to one program, which knows that the other one is gone.
    [store.dialect === "sqlite" ? "failed" : "receiving"],
  );
  await store.write(({ db }) => db.updateTable("dns_import_jobs").set({ touched_on: "" }).execute());
  assert.equal(await next.resume(), 0);
  const [failed] = await next.list(zone);
  assert.equal(failed?.status, "failed");
  assert.match(failed?.errors[0]?.message ?? "", /before it had stored the whole file/);
  await control.removals.run(call());
  assert.deepEqual(await store.read.selectFrom("dns_import_files").select("part").execute(), []);
});

/** Debian's /etc/bind/db.local, db.empty and db.127, and the template that most small zones began with. */
const DEBIAN = {
  "db.local":
    "; BIND data file for local loopback interface\n$TTL\t604800\n@\tIN\tSOA\tlocalhost. root.localhost. (\n\t\t\t      2\t\t; Serial\n\t\t\t 604800\t\t; Refresh\n\t\t\t  86400\t\t; Retry\n\t\t\t2419200\t\t; Expire\n\t\t\t 604800 )\t; Negative Cache TTL\n;\n@\tIN\tNS\tlocalhost.\n@\tIN\tA\t127.0.0.1\n@\tIN\tAAAA\t::1\n",
  "db.empty": "$TTL\t86400\n@\tIN\tSOA\tlocalhost. root.localhost. (\n\t\t\t      1 604800 86400 2419200 86400 )\n@\tIN\tNS\tlocalhost.\n",
  "db.127":
    "$TTL\t604800\n@\tIN\tSOA\tlocalhost. root.localhost. ( 1 604800 86400 2419200 604800 )\n@\tIN\tNS\tlocalhost.\n1.0.0\tIN\tPTR\tlocalhost.\n",
  small: `$ORIGIN example.com.
$TTL 1W
@ 1D IN SOA ns1 hostmaster 2026010101 3H 15M 1W 1D
     IN NS ns1
     IN NS ns2.example.net.
     IN MX 10 mail
ns1  2d IN A 192.0.2.1
mail IN A 192.0.2.2
www  1h30m IN CNAME @
sub  IN NS sub
sub  IN A 192.0.2.53
     IN AAAA 2001:db8::53
deep IN NS ns.deep
ns.deep A 192.0.2.54
3cx  A 192.0.2.3
`,
} as const;

storeTest("names of SVCB, HTTPS and NAPTR keep their final dot in a zone file, as those of the API do", async ({ store }) => {
  const { load, create, control, zone } = await zoned(store);
  const file = 's SVCB 1 svc.example.net.\nh HTTPS 1 svc\nr HTTPS 1 . alpn=h2\nn NAPTR 1 2 s SIP+D2U "" _sip._udp\n';
  assert.equal((await load(file)).recs_added, 4);
  const read = async (): Promise<unknown[]> =>
    (await control.dnsRecords.list(zone, { order: "name" }, { page: 1, per_page: 10 })).items.map(({ content, data }) => [content, data]);
  const imported = await read();
  assert.deepEqual(imported, [
    ["1 svc.example.com.", { priority: 1, target: "svc.example.com.", value: "" }],
    [
      '1 2 "s" "SIP+D2U" "" _sip._udp.example.com.',
      { order: 1, preference: 2, flags: "s", service: "SIP+D2U", regex: "", replacement: "_sip._udp.example.com." },
    ],
    ['1 . alpn="h2"', { priority: 1, target: ".", value: 'alpn="h2"' }],
    ["1 svc.example.net.", { priority: 1, target: "svc.example.net.", value: "" }],
  ]);
  const made = await create({ type: "SVCB", name: "s2", data: { priority: 1, target: "svc.example.net.", value: "" } });
  assert.deepEqual([made.content, made.data], imported[3]);
});

storeTest("common zone files are imported, and TTLs above the maximum are cut with a message", async ({ store }) => {
  const { load, shown, control, call, zone } = await zoned(store, { plan: "free" });
  const notes: string[] = [];
  const { recs_added, report } = await control.zoneFiles.import({ ...call(), notes }, zone, DEBIAN.small, { proxied: false });
  assert.equal(recs_added, 10);
  assert.deepEqual(
    report?.map(({ line, action, message }) => [line, action, message]),
    [6, 7, 8, 10, 11, 12, 13, 14, 15].map((line) => [
      line,
      "clamped",
      `TTL ${line === 7 ? 172_800 : 604_800} was changed to 86400, the maximum.`,
    ]),
  );
  assert.deepEqual(notes, [
    "Line 6: TTL 604800 was changed to 86400, the maximum. 8 more lines were changed to fit the limits; see report.",
  ]);
  assert.ok((await shown()).includes("sub.example.com A 192.0.2.53"));
  assert.equal((await load(DEBIAN["db.local"])).recs_added, 2);
  assert.equal((await load(DEBIAN["db.empty"])).recs_added, 0);
  await assert.rejects(
    load(DEBIAN.small.replace("www", "new"), false, "refuse"),
    (error) => error instanceof PlatformError && error.chain[0]?.code === 9021,
  );
  const again = await load(await wholeText(await control.zoneFiles.export(zone)));
  assert.deepEqual([again.recs_added, again.report], [0, undefined]);
});

const MIXED = `$TTL 3600
@ SOA ns1 hostmaster 1 2 3 4 5
@ NS ns1
www A 192.0.2.1
www A 192.0.2.1
bad A 192.0.2.256
week 1W A 192.0.2.2 ; ${"c".repeat(120)}
www CNAME elsewhere.example.
$INCLUDE other.zone
have A 192.0.2.9
quick 5 A 192.0.2.3 ; cf_tags=a,b
"owner" A 192.0.2.4
`;

storeTest("a truncated report and a truncated error list say so", async ({ store }) => {
  const { control, zone, call } = await zoned(store, { plan: "enterprise" });
  const refusedWith = async (lines: number): Promise<string> =>
    control.zoneFiles.import(call(), zone, "h A 999.0.2.1\n".repeat(lines), { proxied: false }).then(
      () => assert.fail("it is refused"),
      (error: unknown) => (error instanceof PlatformError ? error.message : assert.fail("by another error")),
    );
  assert.match(await refusedWith(49), / 48 more .* lists them\.$/);
  assert.match(await refusedWith(6_000), / At least 49 more .* lists the first 50\.$/);
  for (const [lines, expected] of [
    [999, []],
    [1_500, ["The report has its maximum of 1000 lines; lines that were left out come first. The file may have more."]],
  ] as const) {
    const notes: string[] = [];
    const options = { proxied: false, onError: "skip" } as const;
    const { report } = await control.zoneFiles.import({ ...call(), notes }, zone, "h A 999.0.2.1\n".repeat(lines), options);
    assert.deepEqual([report?.length, notes], [Math.min(lines, 1_000), expected]);
  }
});

storeTest("each wrong line is reported, and with skipping the others are imported", async ({ store }) => {
  const { create, load, tried, shown } = await zoned(store, { plan: "free" });
  await create({ type: "A", name: "have", content: "192.0.2.9" });
  const before = await shown();
  const expected = [
    [2, "ignored", undefined],
    [3, "ignored", undefined],
    [4, "added", undefined],
    [6, "skipped", 9310],
    [7, "clamped", undefined],
    [8, "skipped", 81053],
    [9, "skipped", 9310],
    [10, "unchanged", undefined],
    [11, "clamped", undefined],
    [12, "skipped", 9310],
  ];
  const trial = await tried(MIXED, "skip");
  assert.deepEqual(
    trial.report?.map(({ line, action, code }) => [line, action, code]),
    expected,
  );
  assert.deepEqual(await shown(), before);
  const done = await load(MIXED, false, "skip");
  assert.deepEqual([done.recs_added, done.total_records_parsed], [trial.recs_added, trial.total_records_parsed]);
  assert.deepEqual(
    done.report,
    trial.report?.filter(({ action }) => action === "skipped" || action === "clamped"),
  );
  assert.match(done.report?.find(({ line }) => line === 11)?.message ?? "", /TTL 5 .* 2 of 2 tags/);
  assert.deepEqual(
    (await shown()).filter((record) => !before.includes(record)).map((record) => record.split(".")[0]),
    ["quick", "week", "www"],
  );
  for (const onError of ["clamp", "refuse"] as const) {
    await assert.rejects(tried(MIXED, onError), (error) => error instanceof PlatformError && error.code === 9310);
    await assert.rejects(load(MIXED, false, onError), (error) => error instanceof PlatformError && error.code === 9310);
  }
});

storeTest("a large file with wrong lines is imported without them, and its job reports them and the quota by line", async ({ store }) => {
  const { load, control, zone } = await zoned(store, { plan: "enterprise", recordsPerZoneMax: 2_900 });
  const lines = Array.from({ length: 3_000 }, (_, i) => (i % 1_000 === 7 ? `h${i} A 999.0.2.1` : `h${i} 1W A 192.0.2.${i % 250}`));
  lines[1_500] = "h1 CNAME elsewhere.example.";
  const done = await load(lines.join("\n"), false, "skip");
  assert.equal(done.recs_added, 2_900);
  const job = await control.zoneFiles.jobs.get(zone, done.import?.id ?? "");
  const skipped = job.report.filter(({ action }) => action === "skipped");
  assert.deepEqual(
    skipped.slice(0, 4).map(({ line, code }) => [line, code]),
    [
      [8, 9310],
      [1_008, 9310],
      [1_501, 81053],
      [2_008, 9310],
    ],
  );
  // 2,996 records could be imported.
  assert.deepEqual([skipped.length, new Set(skipped.slice(4).map(({ code }) => code))], [100, new Set([81045])]);
  assert.equal(job.report.length, 1_000);
  await assert.rejects(load(lines.join("\n"), false, "clamp"), (error) => error instanceof PlatformError && error.code === 9310);
});

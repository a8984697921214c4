import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import Cloudflare from "cloudflare";
import { watchDnssec } from "#jobs/watch-dnssec.ts";
import { type Clock, fixedClock, systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { DnssecRollover } from "#model/dns/dnssec.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { startApi } from "../support/api-server.ts";
import { runClient } from "../support/client.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { type SignedParent, startSignedParent } from "../support/signed-parent.ts";
import { toolOrSkip } from "../support/tools.ts";
import { validate } from "../support/validator.ts";

// A zone's DNSSEC from its first key to its last, through the published SDK. Knot DNS signs and serves the parent, BIND's
// dnssec-cds decides there what CDS and CDNSKEY ask for, and Unbound and delv say at each step whether the zone validates.
// The keys' clock is the test's; signatures are made, and checked, by the clock of the day.

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");
const HOUR_MS = 3_600_000;
const skip = ["knotd", "unbound", "delv", "dig", "dnssec-cds"].map(toolOrSkip).find((reason) => reason !== false) ?? false;

/** A management API, and a nameserver that learns of what it commits as planes do. */
async function startProvider(clock: Clock, parentPort: number) {
  const api = await startApi({ clock, scanResolvers: [`127.0.0.1:${parentPort}`] });
  const replica = createMemoryReplica([]);
  const nameserver = createNameserver({ ...NAMESERVER_PARTS, replica, metrics: createMetrics(), config: nameserverConfig() });
  const { udp: port } = await nameserver.listen();
  let served = 0;
  return {
    api,
    client: new Cloudflare({ apiToken: api.token, baseURL: api.url }),
    port,
    dig: (name: string, type: string): Promise<string> =>
      runClient("dig", ["@127.0.0.1", "-p", String(port), "+noall", "+answer", "+dnssec", "+time=30", "+tries=1", name, type]),
    /** Tells the nameserver what was committed since. */
    serve: async (): Promise<void> => {
      for (const { rev, changes } of (await api.store.changesSince(served, 1000)) ?? []) {
        replica.apply(changes as readonly Op[]);
        served = rev;
      }
    },
    close: async () => {
      await nameserver.close(100);
      await api.close();
    },
  };
}

async function startWorld(directory: string) {
  const clock = fixedClock(Date.now());
  const parent = await startSignedParent(directory, "test.", ["signed.test."]);
  const provider = await startProvider(clock, parent.port);
  const job = watchDnssec(provider.api.control.dnssecWatch);
  return {
    ...provider,
    parent,
    /** Hours go by, in which the job runs as in a server. */
    live: async (hours: number): Promise<void> => {
      for (let hour = 0; hour < hours; hour++) {
        clock.advance(HOUR_MS);
        await job.run();
      }
      await provider.serve();
    },
    close: async () => {
      await provider.close();
      await parent.stop();
    },
  };
}

const dsOf = (text: string | null | undefined): string => (text ?? "").replace(/^.* DS /, "");

/** A parent that follows RFC 7344: checks the zone's CDS against its DS, and publishes the requested ones. */
async function obey(
  directory: string,
  parent: SignedParent,
  dig: (name: string, type: string) => Promise<string>,
  now: string,
): Promise<void> {
  const child = (await Promise.all(["DNSKEY", "CDS", "CDNSKEY"].map((type) => dig("signed.test", type)))).join("");
  await writeFile(join(directory, "child"), child);
  await writeFile(join(directory, "dsset"), `signed.test. 60 IN DS ${now}\n`);
  const asked = await runClient("dnssec-cds", [
    "-s",
    "-86400",
    "-d",
    join(directory, "dsset"),
    "-f",
    join(directory, "child"),
    "signed.test",
  ]);
  await parent.setDs(
    "signed.test.",
    asked.split("\n").flatMap((line) => / DS (?<data>.+)$/.exec(line)?.groups?.["data"] ?? []),
  );
}

test("a zone validates at every step of DNSSEC: signing, rollovers and the return to unsigned", { skip }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-dnssec-"));
  const { api, client, parent, port, dig, serve, live, close } = await startWorld(directory);
  try {
    const { account_id } = api;
    const { id: zone_id } = await client.zones.create({ account: { id: account_id }, name: "signed.test" });
    await client.dns.records.create({ zone_id, type: "A", name: "www", content: "192.0.2.1", ttl: 60 });
    const zones = { "test.": [parent.port], "signed.test.": [port] };
    const validated = async (secure: boolean): Promise<void> => {
      await serve();
      const options = { directory, zones, anchor: parent.anchor };
      for (const [name, type, found] of [
        ["www", "A", 1],
        ["nothing", "A", 0],
        ["", "DNSKEY", null],
      ] as const) {
        const { status, authentic, records } = await validate(options, `${name}${name && "."}signed.test`, type);
        assert.ok(["NOERROR", "NXDOMAIN"].includes(status), `${name} ${type}: ${status}`);
        assert.equal(authentic, secure, `${name} ${type}`);
        if (found !== null) assert.equal(records.length, found);
      }
    };
    const status = async (): Promise<string | undefined> => (await client.dns.dnssec.get({ zone_id })).status;
    const rollover = async (): Promise<DnssecRollover> =>
      ((await client.get(`/zones/${zone_id}/dnssec/rollover`)) as { result: DnssecRollover }).result;

    await validated(false);
    const on = await client.dns.dnssec.edit({ zone_id, status: "active" });
    assert.equal(on.status, "pending");
    await live(1);
    assert.equal(await status(), "pending");
    await validated(false);

    await parent.setDs("signed.test.", [dsOf(on.ds)]);
    await live(1);
    assert.equal(await status(), "active");
    await validated(true);
    await writeFile(join(directory, "anchors"), `trust-anchors { signed.test. static-ds ${dsOf(on.ds).replace(/ (\w+)$/, ' "$1"')}; };\n`);
    const delv = await runClient("delv", [
      "@127.0.0.1",
      "-p",
      String(port),
      "-a",
      join(directory, "anchors"),
      "+root=signed.test",
      "www.signed.test",
      "A",
    ]);
    assert.match(delv, /; fully validated/);

    const begun = await runClient(process.execPath, [PROGRAM, "zone", "roll-key", "signed.test", "--api", api.url], {
      SELVEDGE_TOKEN: api.token,
    });
    assert.match(
      begun,
      new RegExp(`^signed\\.test: the new key is being published, since .*\n  key ${on.key_tag} active, named by the parent: `),
    );
    assert.equal((await rollover()).stage, "publish");
    await validated(true);
    await live(5);
    assert.equal((await rollover()).stage, "submit");
    await validated(true);
    await obey(directory, parent, dig, dsOf(on.ds));
    await validated(true);
    const asked = dsOf((await client.dns.dnssec.get({ zone_id })).ds);
    await obey(directory, parent, dig, asked);
    await live(1);
    const { stage, keys } = await rollover();
    assert.deepEqual([stage, keys.map(({ role }) => role)], ["retire", ["retired", "active"]]);
    await validated(true);
    await live(48);
    const rolled = await client.dns.dnssec.get({ zone_id });
    assert.deepEqual([rolled.status, rolled.ds, (await rollover()).keys.length], ["active", keys[1]?.ds, 1]);
    assert.notEqual(rolled.key_tag, on.key_tag);
    await validated(true);

    assert.equal((await client.dns.dnssec.edit({ zone_id, status: "disabled" })).status, "pending-disabled");
    await validated(true);
    assert.match(await dig("signed.test", "CDS"), /\tCDS\t0 0 0 00\n/);
    await obey(directory, parent, dig, dsOf(rolled.ds));
    await live(2);
    assert.equal(await status(), "pending-disabled");
    assert.match(await dig("www.signed.test", "A"), /RRSIG/, "signed for those who remember the DS");
    await validated(false);
    await live(8);
    assert.equal(await status(), "disabled");
    await validated(false);
    assert.doesNotMatch(await dig("www.signed.test", "A"), /RRSIG/);
    assert.equal(await client.dns.dnssec.delete({ zone_id }), "");
    assert.equal((await client.dns.dnssec.get({ zone_id })).key_tag, null);
  } finally {
    await close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("a zone signed by two providers validates, whichever provider answers", { skip }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-signers-"));
  const parent = await startSignedParent(directory, "test.", ["signed.test."]);
  const providers = [await startProvider(systemClock, parent.port), await startProvider(systemClock, parent.port)];
  try {
    const signed = await Promise.all(
      providers.map(async ({ api, client }) => {
        const { id: zone_id } = await client.zones.create({ account: { id: api.account_id }, name: "signed.test" });
        await client.dns.records.create({ zone_id, type: "A", name: "www", content: "192.0.2.1", ttl: 60 });
        return { zone_id, client, dnssec: await client.dns.dnssec.edit({ zone_id, status: "active", dnssec_multi_signer: true }) };
      }),
    );
    for (const [i, { zone_id, client }] of signed.entries()) {
      const public_key = signed[1 - i]?.dnssec.public_key ?? "";
      const data = { flags: 257, protocol: 3, algorithm: 13, public_key };
      await client.dns.records.create({ zone_id, type: "DNSKEY", name: "signed.test", ttl: 3600, data });
    }
    for (const { serve } of providers) await serve();
    await parent.setDs(
      "signed.test.",
      signed.map(({ dnssec }) => dsOf(dnssec.ds)),
    );
    const keySets = await Promise.all(providers.map(({ dig }) => dig("signed.test", "DNSKEY")));
    const keysOf = (set: string): string[] => [...set.matchAll(/\tDNSKEY\t(257.*)/g)].map(([, key]) => key ?? "").sort();
    assert.deepEqual([keysOf(keySets[0] ?? "").length, keysOf(keySets[0] ?? "")], [2, keysOf(keySets[1] ?? "")]);
    assert.equal(await providers[0]?.dig("signed.test", "CDS").then((set) => set.includes("\tCDS\t")), false);
    const both = providers.map(({ port }) => port);
    for (const ports of [...both.map((port) => [port]), both, both, both, both]) {
      const options = { directory, zones: { "test.": [parent.port], "signed.test.": ports }, anchor: parent.anchor };
      const { status, authentic } = await validate(options, "www.signed.test", "A");
      assert.deepEqual([status, authentic], ["NOERROR", true], `from ${ports.join(" and ")}`);
    }
  } finally {
    for (const { close } of providers) await close();
    await parent.stop();
    await rm(directory, { recursive: true, force: true });
  }
});

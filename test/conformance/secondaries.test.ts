import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connectPrimary } from "#control/secondary/primary-client.ts";
import { createRecordBudget } from "#control/secondary/record-budget.ts";
import { systemClock } from "#kernel/clock.ts";
import { TSIG_ALGORITHMS } from "#model/dns/zone-transfer.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { formatName, parseAbsoluteName } from "#wire/dns/name.ts";
import { encodeContent, typeCode } from "#wire/dns/record-types.ts";
import { soaSerial } from "#wire/dns/serial.ts";
import { createTsigKey } from "#wire/dns/tsig.ts";
import { freePort } from "../bench/program.ts";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { askTcp, queryFor } from "../support/dns-client.ts";
import {
  BIND,
  KNOT,
  NSD,
  type Secondary,
  type SecondaryProgram,
  type SharedKey,
  startSecondary,
} from "../support/secondary-nameservers.ts";
import { randomZone, seededRandom } from "../support/random-zone.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";
import { lineOf } from "../support/transfers.ts";
import { PATIENCE_MS } from "../support/eventually.ts";

// Other people's nameservers fetch a zone from us under a key, are told of each change, and then have the same records.

const SOA = 6;
/** Bounds a wait that never ends; what works takes some milliseconds. */

const skipWithout = (...tools: readonly string[]): string | false => tools.map(toolOrSkip).find((reason) => reason !== false) ?? false;

let selvedge: Selvedge;
let call: ApiCall;
let primaryPort: number;
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), "selvedge-secondaries-"));
  selvedge = await startSelvedge();
  call = apiCaller(selvedge.ready);
  primaryPort = Number(selvedge.ready.dns.split(":")[1]);
});
after(async () => {
  await selvedge?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The zone's serial at the server; null while it has none. */
async function serialAt(port: number, zone: string): Promise<number | null> {
  const [response] = await askTcp(port, [queryFor(zone, SOA, 1)]).catch(() => []);
  const soa = response && decodeMessage(response).answers[0];
  return soa ? soaSerial(soa.rdata) : null;
}

/** Waits until the secondary is where we are; gives the milliseconds that it took. */
async function caughtUp(port: number, zone: string): Promise<number> {
  const started = performance.now();
  const serial = await serialAt(primaryPort, zone);
  assert.ok(serial);
  while ((await serialAt(port, zone)) !== serial) {
    assert.ok(
      performance.now() - started < PATIENCE_MS,
      `the secondary has ${await serialAt(port, zone)}, not ${serial}\n${selvedge.log()}`,
    );
    await sleep(2);
  }
  return performance.now() - started;
}

/** The zone as dig writes it, one record a line. */
async function zoneText(port: number, zone: string, key?: SharedKey): Promise<string> {
  const signed = key ? ["-y", `${key.algorithm}:${key.name}:${key.secret}`] : [];
  const shown = ["+onesoa", "+nocmd", "+nocomments", "+nostats", "+noall", "+answer"];
  const text = await runClient("dig", ["@127.0.0.1", "-p", String(port), ...signed, zone, "AXFR", ...shown]);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(";") && !line.includes("\tTSIG\t"));
  return `${lines.join("\n")}\n`;
}

/** Every record that a transfer gives, in a form in which equal ones are equal. */
const transferred = async (port: number, zone: string, key?: SharedKey): Promise<readonly string[]> =>
  (await zoneText(port, zone, key))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(/\s+/g, " ").toLowerCase())
    .sort();

/** How many transfers of the sort have ended well, over all threads of the nameserver. */
async function transfersSent(kind: "axfr" | "ixfr"): Promise<number> {
  const text = await (await fetch(new URL("/metrics", selvedge.ready.api))).text();
  const lines = text.split("\n").filter((line) => line.startsWith("selvedge_dns_transfers_total{") && line.includes(`kind="${kind}"`));
  return lines.filter((line) => line.includes('result="sent"')).reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
}

interface ApiRecord {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly content: string;
  readonly priority?: number | null;
}

interface Transferred {
  readonly zoneId: string;
  readonly zone: string;
  readonly key: SharedKey;
  readonly secondary: Secondary;
  /** Path of the zone's records. */
  readonly records: string;
}

/** A zone of twenty hosts that a peer on that port may fetch. */
async function zoneWithPeer(zone: string, algorithm: string, port: number): Promise<Omit<Transferred, "secondary">> {
  const key = { name: `key.${zone}`, algorithm, secret: Buffer.from(`the secret of ${zone}, long enough`).toString("base64") };
  const account = `/accounts/${selvedge.ready.account_id}/secondary_dns`;
  const { id: zoneId } = await succeed(call("POST", "/zones", { name: zone, account: { id: selvedge.ready.account_id } }));
  const records = `/zones/${zoneId}/dns_records`;
  const posts = Array.from({ length: 20 }, (_, i) => ({ type: "A", name: `host${i}`, content: `192.0.2.${i}`, ttl: 300 }));
  await succeed(call("POST", `${records}/batch`, { posts }));
  const tsig = await succeed(call("POST", `${account}/tsigs`, { name: `${key.name}.`, algo: `${algorithm}.`, secret: key.secret }));
  const peer = await succeed(call("POST", `${account}/peers`, { name: zone, ip: "127.0.0.1", port, tsig_id: tsig.id }));
  await succeed(call("POST", `/zones/${zoneId}/secondary_dns/outgoing`, { name: `${zone}.`, peers: [peer.id] }));
  assert.equal(await succeed(call("POST", `/zones/${zoneId}/secondary_dns/outgoing/enable`, {})), "Enabled");
  return { zoneId, zone, key, records };
}

/** A zone with its secondary, which has the zone already. */
async function withSecondary(t: TestContext, program: SecondaryProgram, algorithm: string, zone: string): Promise<Transferred> {
  const port = await freePort();
  const made = await zoneWithPeer(zone, algorithm, port);
  const secondary = await startSecondary(program, { home: join(directory, zone), port, primaryPort, zone, key: made.key });
  t.after(() => secondary.stop());
  await caughtUp(port, zone);
  return { ...made, secondary };
}

const PROGRAMS: readonly (readonly [SecondaryProgram, algorithm: string])[] = [
  [KNOT, "hmac-sha256"],
  [NSD, "hmac-sha512"],
  [BIND, "hmac-sha384"],
];

// SPEC 2.4: secondaries start a transfer when the serial increases.
for (const [program, algorithm] of PROGRAMS) {
  const options = { skip: skipWithout(program.tool, "dig") };
  test(`${program.tool} follows each change by NOTIFY and IXFR under ${algorithm}`, options, async (t) => {
    const { zone, key, secondary, records } = await withSecondary(t, program, algorithm, `${program.tool}.test`);
    const same = async (): Promise<readonly string[]> => {
      const ours = await transferred(primaryPort, zone, key);
      assert.deepEqual(await transferred(secondary.port, zone), ours);
      return ours;
    };
    const before = await transfersSent("ixfr");
    await same();

    const waits: number[] = [];
    const created = await succeed(call("POST", records, { type: "TXT", name: "new", content: '"fresh"', ttl: 120 }));
    waits.push(await caughtUp(secondary.port, zone));
    assert.ok((await same()).includes(`new.${zone}. 120 in txt "fresh"`));

    await succeed(call("PATCH", `${records}/${created.id}`, { content: '"changed"' }));
    waits.push(await caughtUp(secondary.port, zone));
    const changed = await same();
    assert.ok(changed.includes(`new.${zone}. 120 in txt "changed"`) && !changed.some((line) => line.includes("fresh")));

    await succeed(call("DELETE", `${records}/${created.id}`));
    waits.push(await caughtUp(secondary.port, zone));
    assert.ok(!(await same()).some((line) => line.startsWith("new.")));

    // A proxied name is the edge's address elsewhere too.
    await succeed(call("POST", records, { type: "A", name: "site", content: "198.51.100.7", proxied: true }));
    waits.push(await caughtUp(secondary.port, zone));
    assert.ok((await same()).includes(`site.${zone}. 300 in a 127.0.0.1`));

    const batch = { deletes: [], posts: Array.from({ length: 8 }, (_, i) => ({ type: "AAAA", name: "many", content: `2001:db8::${i}` })) };
    await succeed(call("POST", `${records}/batch`, batch));
    waits.push(await caughtUp(secondary.port, zone));
    await same();
    assert.ok((await transfersSent("ixfr")) > before, "no differences were sent");
    t.diagnostic(`milliseconds from the API's answer to the secondary's: ${waits.map((ms) => ms.toFixed(1)).join(", ")}`);
  });
}

test(
  "a signed zone validates at its secondary, before and after a change",
  { skip: skipWithout("knotd", "dig", "ldns-verify-zone") },
  async (t) => {
    const { zone, zoneId, secondary, records } = await withSecondary(t, KNOT, "hmac-sha256", "signed.test");
    const { public_key: publicKey } = await succeed(call("PATCH", `/zones/${zoneId}/dnssec`, { status: "active" }));
    const anchor = join(directory, "anchor");
    await writeFile(anchor, `${zone}. 3600 IN DNSKEY 257 3 13 ${String(publicKey)}\n`);
    const verified = async (): Promise<void> => {
      const file = join(directory, "signed.zone");
      await caughtUp(secondary.port, zone);
      await writeFile(file, await zoneText(secondary.port, zone));
      assert.match(await runClient("ldns-verify-zone", ["-k", anchor, "-V", "3", file]), /Zone is verified and complete/);
    };
    await verified();
    await succeed(call("POST", records, { type: "TXT", name: "later", content: '"signed as well"' }));
    await verified();
    const answered = await runClient("dig", ["@127.0.0.1", "-p", String(secondary.port), "+dnssec", "+short", `later.${zone}`, "TXT"]);
    assert.match(answered, /"signed as well"\nTXT 13 3 /);
  },
);

test("the clients of BIND and Knot verify TSIG signatures under every algorithm", { skip: skipWithout("dig", "kdig") }, async () => {
  for (const algorithm of TSIG_ALGORITHMS) {
    const { zone, key } = await zoneWithPeer(`${algorithm}.test`, algorithm, 9);
    const to = ["@127.0.0.1", "-p", String(primaryPort), "-y", `${algorithm}:${key.name}:${key.secret}`, zone];
    for (const [tool, type] of [
      ["dig", "AXFR"],
      ["kdig", "AXFR"],
      ["dig", "SOA"],
      ["kdig", "SOA"],
    ] as const) {
      const output = await runClient(tool, [...to, type]);
      assert.match(output, /\sSOA\s/, `${tool} ${type} ${algorithm}`);
      assert.match(output, new RegExp(`\\sTSIG\\s+${algorithm}\\. .* NOERROR`), `${tool} ${type} ${algorithm}`);
      assert.doesNotMatch(output, /WARNING.*TSIG|verify|BADSIG|BADKEY/i, `${tool} ${type} ${algorithm}`);
    }
  }
});

/** The zone as our own client of other primaries fetches it, one record a line; the apex's name servers and SOA left out. */
async function fetched(zone: string, key: SharedKey): Promise<readonly string[]> {
  const limits = { idleTimeoutMs: 10_000, totalTimeoutMs: 30_000, bytesMax: 1 << 24, recordsMax: 100_000 };
  const primary = {
    address: "127.0.0.1",
    port: primaryPort,
    key: createTsigKey(key.name, key.algorithm, Buffer.from(key.secret, "base64")),
  };
  const nowSeconds = (): number => Math.floor(systemClock.nowMs() / 1000);
  const connection = await connectPrimary(
    { limits, budget: createRecordBudget(1 << 28), accountId: "account", primaryAllowed: () => true, nowSeconds },
    primary,
    parseAbsoluteName(zone),
    AbortSignal.timeout(60_000),
  );
  const transfer = await connection.transfer(null);
  connection.close();
  assert.equal(transfer.kind, "full");
  return transfer.records
    .filter(({ name, type }) => type !== TYPE.NS || formatName(name) !== zone)
    .map(lineOf)
    .sort();
}

test("a transfer has the same content as the zone, whatever the zone contains", async () => {
  const { zone, zoneId, key, records } = await zoneWithPeer("random.test", "hmac-sha256", 9);
  const { lines } = randomZone(seededRandom(9), `sub.${zone}.`, 60, ["away.example."]);
  // One by one, since the API takes some of them for mistakes.
  for (const { name, ttl, type, content } of lines) await call("POST", records, { name: name.slice(0, -1), type, content, ttl });
  const all = await succeed(call("GET", `/zones/${zoneId}/dns_records?per_page=5000`));
  assert.ok(all.length > 60, `only ${all.length} of ${lines.length} records were taken`);
  const expected = all.map(({ name, type, ttl, content, priority }: ApiRecord) => {
    const rdata = encodeContent(type, content, { origin: ".", style: "master", ...(typeof priority === "number" ? { priority } : {}) });
    return lineOf({ name: parseAbsoluteName(name), type: typeCode(type) ?? 0, ttl: ttl === 1 ? 300 : ttl, rdata });
  });
  assert.deepEqual(await fetched(zone, key), expected.sort());
});

test("zone transfers work over TLS (RFC 9103)", { skip: skipWithout("kdig") }, async () => {
  const { zone, key } = await zoneWithPeer("tls.test", "hmac-sha512", 9);
  const port = selvedge.ready.dot.split(":")[1] ?? "";
  const signed = ["-y", `${key.algorithm}:${key.name}:${key.secret}`];
  const answer = await runClient("kdig", ["+tls", "@127.0.0.1", "-p", port, ...signed, zone, "AXFR"]);
  assert.match(answer, /host19\.tls\.test\.\s+300\s+IN\s+A\s+192\.0\.2\.19/);
  assert.match(answer, /\(1 messages, 24 records\)/);
});

test("a client without the key cannot transfer the zone", { skip: skipWithout("dig", "knotd") }, async () => {
  const key = { name: "key.knotd.test", algorithm: "hmac-sha256", secret: Buffer.alloc(20).toString("base64") };
  assert.deepEqual(await transferred(primaryPort, "knotd.test").catch(() => []), []);
  assert.deepEqual(await transferred(primaryPort, "knotd.test", key).catch(() => []), []);
});

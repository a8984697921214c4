import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { decodeMessage } from "#wire/dns/message.ts";
import { soaSerial } from "#wire/dns/serial.ts";
import { freePort } from "../bench/program.ts";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
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
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

// Other people's nameservers fetch a zone from us under a key, are told of each change, and then have the same records.

const execute = promisify(execFile);
const SOA = 6;
/** Bounds a wait that never ends; what works takes some milliseconds. */
const WAIT_MS = 20_000;

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
  const [response] = await askTcp(port, [queryFor(zone, SOA, 1)], 2_000).catch(() => []);
  const soa = response && decodeMessage(response).answers[0];
  return soa ? soaSerial(soa.rdata) : null;
}

/** Waits until the secondary is where we are; gives the milliseconds that it took. */
async function caughtUp(port: number, zone: string): Promise<number> {
  const started = performance.now();
  const serial = await serialAt(primaryPort, zone);
  assert.ok(serial);
  while ((await serialAt(port, zone)) !== serial) {
    assert.ok(performance.now() - started < WAIT_MS, `the secondary has ${await serialAt(port, zone)}, not ${serial}\n${selvedge.log()}`);
    await sleep(2);
  }
  return performance.now() - started;
}

/** Every record that a transfer gives, as dig writes it. */
async function transferred(port: number, zone: string, key?: SharedKey): Promise<readonly string[]> {
  const signed = key ? ["-y", `${key.algorithm}:${key.name}:${key.secret}`] : [];
  const shown = ["+onesoa", "+nocmd", "+nocomments", "+nostats", "+noall", "+answer"];
  const { stdout } = await execute("dig", ["@127.0.0.1", "-p", String(port), ...signed, zone, "AXFR", ...shown], { maxBuffer: 1 << 24 });
  const lines = stdout.split("\n").filter((line) => line !== "" && !line.startsWith(";") && !line.includes("\tTSIG\t"));
  return lines.map((line) => line.replace(/\s+/g, " ").toLowerCase()).sort();
}

/** How many transfers of the sort have ended well, over all threads of the nameserver. */
async function transfersSent(kind: "axfr" | "ixfr"): Promise<number> {
  const text = await (await fetch(new URL("/metrics", selvedge.ready.api))).text();
  const lines = text.split("\n").filter((line) => line.startsWith("selvedge_dns_transfers_total{") && line.includes(`kind="${kind}"`));
  return lines.filter((line) => line.includes('result="sent"')).reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
}

interface Transferred {
  readonly zoneId: string;
  readonly zone: string;
  readonly key: SharedKey;
  readonly secondary: Secondary;
  /** Path of the zone's records. */
  readonly records: string;
}

/** A zone with its secondary, which has the zone already. */
async function withSecondary(t: TestContext, program: SecondaryProgram, algorithm: string): Promise<Transferred> {
  const zone = `${program.tool}.test`;
  const key = { name: `key.${zone}`, algorithm, secret: Buffer.from(`the secret of ${zone}, long enough`).toString("base64") };
  const account = `/accounts/${selvedge.ready.account_id}/secondary_dns`;
  const { id: zoneId } = await succeed(call("POST", "/zones", { name: zone, account: { id: selvedge.ready.account_id } }));
  const records = `/zones/${zoneId}/dns_records`;
  const posts = Array.from({ length: 20 }, (_, i) => ({ type: "A", name: `host${i}`, content: `192.0.2.${i}`, ttl: 300 }));
  await succeed(call("POST", `${records}/batch`, { posts }));
  const tsig = await succeed(call("POST", `${account}/tsigs`, { name: `${key.name}.`, algo: `${algorithm}.`, secret: key.secret }));
  const port = await freePort();
  const peer = await succeed(call("POST", `${account}/peers`, { name: program.tool, ip: "127.0.0.1", port, tsig_id: tsig.id }));
  await succeed(call("POST", `/zones/${zoneId}/secondary_dns/outgoing`, { name: `${zone}.`, peers: [peer.id] }));
  assert.equal(await succeed(call("POST", `/zones/${zoneId}/secondary_dns/outgoing/enable`, {})), "Enabled");
  const secondary = await startSecondary(program, { home: join(directory, program.tool), port, primaryPort, zone, key });
  t.after(() => secondary.stop());
  await caughtUp(port, zone);
  return { zoneId, zone, key, secondary, records };
}

const PROGRAMS: readonly (readonly [SecondaryProgram, algorithm: string])[] = [
  [KNOT, "hmac-sha256"],
  [NSD, "hmac-sha512"],
  [BIND, "hmac-sha384"],
];

for (const [program, algorithm] of PROGRAMS) {
  const options = { skip: toolOrSkip(program.tool) || toolOrSkip("dig") };
  test(`${program.tool} follows each change by NOTIFY and IXFR under ${algorithm}`, options, async (t) => {
    const { zone, key, secondary, records } = await withSecondary(t, program, algorithm);
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

test("without the key nobody gets the zone", { skip: toolOrSkip("dig") }, async () => {
  const key = { name: "key.knotd.test", algorithm: "hmac-sha256", secret: Buffer.alloc(20).toString("base64") };
  assert.deepEqual(await transferred(primaryPort, "knotd.test").catch(() => []), []);
  assert.deepEqual(await transferred(primaryPort, "knotd.test", key).catch(() => []), []);
});

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { RateLimitConfig } from "#nameserver/config.ts";
import { UNIT_BYTES } from "#nameserver/limits/rate-limit.ts";
import { CLASS, TYPE } from "#wire/dns/codes.ts";
import { encodeMessage } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { type Host, layNetwork, type Program } from "../support/network-namespaces.ts";
import type { NameserverProgram } from "../support/nameserver-program.ts";
import { toolOrSkip } from "../support/tools.ts";
import type { UdpFlood } from "../support/udp-flood.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";

// Queries with a forged source address send the answers to that address. The bytes that arrive at the attacked network
// are counted on its interface, and compared with the limit.

const SERVER = "10.53.0.1";
const VICTIMS = ["203.0.113.10", "203.0.113.11", "203.0.113.12"];
const SECONDS = 3;
const FLOOD_PER_SECOND = 4_000;
const PER_SECOND = 25;
/** Bytes of Ethernet, IP and UDP before a message. */
const FRAME_HEAD_BYTES = 42;
/** Addresses are asked for by ARP, and unreachable ports are reported. */
const OTHER_BYTES = 20_000;

/** Names that exist, each with its own answer of some 1,100 bytes: asked in turn, none of them often. */
const DIFFERENT = 30;
const ALL_PER_SECOND = 100;

const OPS = [
  zoneOp("z", "example.com"),
  serialOp("z", 1),
  recordOp("z", "long.example.com", "TXT", `"${"x".repeat(250)}" `.repeat(4)),
  ...Array.from({ length: 60 }, (_, i) => recordOp("z", "many.example.com", "A", `192.0.2.${i}`)),
  recordOp("z", "www.example.com", "A", "192.0.2.1"),
  ...Array.from({ length: DIFFERENT }, (_, i) => recordOp("z", `t${i}.example.com`, "TXT", `"${"x".repeat(250)}" `.repeat(4))),
];

function question(name: string, type: number): string {
  const opt = { name: Buffer.of(0), type: TYPE.OPT, class: 4096, ttl: 0, rdata: Buffer.alloc(0) };
  const questions = [{ name: parseAbsoluteName(name), type, class: CLASS.IN }];
  return (encodeMessage({ id: 0, flags: 0, questions, answers: [], authorities: [], additionals: [opt] }) as Buffer).toString("hex");
}

/** One name and type of each sort of response; `*` stands for names without end. */
const SORTS: readonly (readonly [name: string, type: string])[] = [
  ["long.example.com", "TXT"],
  ["many.example.com", "A"],
  ["www.example.com", "ANY"],
  ["*.example.com", "A"],
  ["*.example.org", "TXT"],
];
const TYPES: Readonly<Record<string, number>> = { A: TYPE.A, TXT: 16, ANY: TYPE.ANY };
const MESSAGES = Array.from({ length: 100 }, (_, i) =>
  SORTS.map(([name, type]) => question(name.replace("*", `n${i}`), TYPES[type] as number)),
).flat();

const DIFFERENT_MESSAGES = Array.from({ length: DIFFERENT }, (_, i) => question(`t${i}.example.com`, 16));

/** The attacker has the victims' addresses as its own, which nobody but itself believes. */
async function layAttack(t: TestContext) {
  const reason = toolOrSkip("dig");
  if (reason) return { skip: reason };
  const network = await layNetwork(
    t,
    ["server", "attacker", "victim"],
    [
      [
        { host: "server", addresses: [`${SERVER}/24`] },
        { host: "attacker", addresses: ["10.53.0.2/24"] },
      ],
      [
        { host: "server", addresses: ["203.0.113.1/24"] },
        { host: "victim", addresses: VICTIMS.map((address) => `${address}/24`) },
      ],
    ],
  );
  if ("skip" in network) return network;
  const { server, attacker, victim } = network;
  for (const address of VICTIMS) await attacker.run("ip", "address", "add", `${address}/32`, "dev", "lo");
  await victim.run("ip", "route", "add", "default", "via", "203.0.113.1");
  // A router on the way would have asked where the questions come from; the server's own kernel must not.
  for (const name of ["all", "c0"]) await server.run("sh", "-c", `echo 0 > /proc/sys/net/ipv4/conf/${name}/rp_filter`);
  return { server, attacker, victim };
}

async function serve(t: TestContext, host: Host, limit: Partial<RateLimitConfig>): Promise<Program> {
  const told: NameserverProgram = {
    ops: OPS,
    config: { host: SERVER },
    rateLimit: { perSecond: PER_SECOND, allPerSecond: 0, slip: 2, exempt: [], ...limit },
  };
  return host.start(t, new URL("../support/nameserver-program.ts", import.meta.url), told);
}

const receivedBytes = async (host: Host): Promise<number> => Number(await host.run("cat", "/sys/class/net/c1/statistics/rx_bytes"));

/** How long a response is on the cable. */
async function frameBytes(host: Host, port: number, name: string, type: string): Promise<number> {
  const asked = [name.replace("*", "n0"), type, "+notcp", "+ignore", "+nocookie", "+bufsize=4096", "+tries=3", "+timeout=2"];
  const answer = await host.run("dig", `@${SERVER}`, "-p", String(port), ...asked);
  return Number(/MSG SIZE {2}rcvd: (\d+)/.exec(answer)?.[1] ?? assert.fail(answer)) + FRAME_HEAD_BYTES;
}

interface Attack {
  readonly in: number;
  readonly out: number;
  /** The amount that the limit allows in full: its rate of each kind, and one second's worth in addition. */
  readonly fullMax: number;
  readonly counted: Readonly<Record<string, number>>;
}

/** A flood and what came of it, in bytes on the cables. `meanwhile` runs in the middle of it. */
async function attack(
  t: TestContext,
  hosts: Readonly<Record<"server" | "attacker" | "victim", Host>>,
  limit: Partial<RateLimitConfig>,
  meanwhile: (port: number) => Promise<void> = async () => {},
  messages: readonly string[] = MESSAGES,
): Promise<Attack> {
  const nameserver = await serve(t, hosts.server, limit);
  const { port } = nameserver.ready as { port: number };
  const frames = await Promise.all(SORTS.map(([name, type]) => frameBytes(hosts.victim, port, name, type)));
  const before = await receivedBytes(hosts.victim);
  const began = performance.now();
  const told: UdpFlood = { sources: VICTIMS, target: SERVER, port, messages, perSecond: FLOOD_PER_SECOND, seconds: SECONDS };
  const flood = await hosts.attacker.start(t, new URL("../support/udp-flood.ts", import.meta.url), told);
  await sleep(1000);
  await meanwhile(port);
  await sleep(Math.max(0, SECONDS * 1000 + 300 - (performance.now() - began)));
  const { sent, bytes } = (await flood.finish()) as { sent: number; bytes: number };
  await sleep(200);
  const out = (await receivedBytes(hosts.victim)) - before;
  const seconds = (performance.now() - began) / 1000;
  const counted = await nameserver.finish();
  assert.ok(counted["selvedge_dns_queries_total udp"] > sent / 10, `${JSON.stringify(counted)} of ${sent}`);
  const ofSorts = PER_SECOND * (seconds + 1) * frames.reduce((sum, length) => sum + length, 0);
  const { allPerSecond = 0 } = limit;
  // Of each unit 512 bytes and no more heads than responses; the last response may overdraw.
  const ofAll = allPerSecond === 0 ? Number.POSITIVE_INFINITY : (allPerSecond * (seconds + 1) + 3) * (UNIT_BYTES + FRAME_HEAD_BYTES);
  const fullMax = Math.min(messages === MESSAGES ? ofSorts : Number.POSITIVE_INFINITY, ofAll) + OTHER_BYTES;
  const result = { in: bytes + sent * FRAME_HEAD_BYTES, out, fullMax, counted };
  t.diagnostic(
    `${JSON.stringify(limit)}: ${result.in} bytes in, ${out} out in ${seconds.toFixed(1)} s, ${fullMax.toFixed(0)} allowed in full`,
  );
  return result;
}

test("a flood of queries with forged addresses sends the attacked network no more than the limit allows", async (t) => {
  const hosts = await layAttack(t);
  if ("skip" in hosts) return t.skip(hosts.skip);

  const strict = await attack(t, hosts, { slip: 0 });
  assert.ok(strict.out <= strict.fullMax, `${strict.out} bytes, ${strict.fullMax} allowed`);
  assert.ok((strict.counted["selvedge_dns_rate_limited_total dropped"] as number) > 1000);

  // Truncated answers come on top, none of which is longer than its question; errors are not much longer.
  const slipping = await attack(t, hosts, { slip: 2 });
  assert.ok(slipping.out <= slipping.fullMax + slipping.in, `${slipping.out} bytes out, ${slipping.in} in`);
  assert.ok((slipping.counted["selvedge_dns_rate_limited_total truncated"] as number) > 1000);

  // Without a limit the same flood is what the two bounds are about.
  const unlimited = await attack(t, hosts, { perSecond: 0 });
  assert.ok(unlimited.out > 2 * unlimited.fullMax && unlimited.out > 2 * unlimited.in, `${unlimited.out} bytes`);
});

test("a flood of different queries sends the attacked network no more bytes than the limit for all responses allows", async (t) => {
  const hosts = await layAttack(t);
  if ("skip" in hosts) return t.skip(hosts.skip);
  const limit = { perSecond: 200, allPerSecond: ALL_PER_SECOND };
  const strict = await attack(t, hosts, { ...limit, slip: 0 }, undefined, DIFFERENT_MESSAGES);
  assert.ok(strict.out <= strict.fullMax, `${strict.out} bytes, ${strict.fullMax} allowed`);
  // It is a limit, not a cut: the network gets most of what it may have.
  assert.ok(strict.out > (ALL_PER_SECOND * SECONDS * UNIT_BYTES) / 2, `${strict.out} bytes`);

  const slipping = await attack(t, hosts, { ...limit, slip: 2 }, undefined, DIFFERENT_MESSAGES);
  assert.ok(slipping.out <= slipping.fullMax + slipping.in, `${slipping.out} bytes out, ${slipping.in} in`);
  assert.ok((slipping.counted["selvedge_dns_rate_limited_total truncated"] as number) > 1000);
});

test("during a flood in its name a network still gets its answers over TCP, and over UDP with a cookie", async (t) => {
  const hosts = await layAttack(t);
  if ("skip" in hosts) return t.skip(hosts.skip);
  const dig = (port: number, ...args: string[]): Promise<string> =>
    hosts.victim.run("dig", `@${SERVER}`, "-p", String(port), "-b", VICTIMS[0] as string, "+timeout=1", "www.example.com", ...args);
  const { counted } = await attack(t, hosts, { slip: 2 }, async (port) => {
    // Each try is dropped or sent to TCP by chance: that all of 20 are dropped happens once in a million.
    const turned = await dig(port, "+tries=20", "A");
    assert.match(turned, /status: NOERROR[\s\S]*192\.0\.2\.1/);
    assert.match(turned, /Truncated, retrying in TCP mode/);
    const cookie = /COOKIE: ([0-9a-f]{48}) \(good\)/.exec(turned)?.[1];
    assert.ok(cookie, turned);
    for (let i = 0; i < 3; i++) {
      const known = await dig(port, "+tries=20", "+ignore", `+cookie=${cookie}`, "A");
      assert.match(known, /status: NOERROR[\s\S]*192\.0\.2\.1/);
      assert.doesNotMatch(known, /flags:[^;]* tc/);
    }
  });
  assert.ok((counted["selvedge_dns_rate_limited_total dropped"] as number) > 1000);
});

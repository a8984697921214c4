import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import { NAMESERVER_LIMITS, type NameserverConfig } from "#nameserver/config.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import { loadSystemSockets } from "#nameserver/listen/system-sockets.ts";
import { EXTERNAL_LIMITS } from "#nameserver/config.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { freePort } from "../bench/program.ts";
import { runClient } from "../support/client.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { startKnot, startResolver } from "../support/peer-nameservers.ts";
import { anchorText } from "../support/signed-server.ts";
import { toolOrSkip } from "../support/tools.ts";
import { startValidator } from "../support/validator.ts";
import { certificateOp, recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../support/zone-keys.ts";
import { eventually } from "../support/eventually.ts";
import { removeDirectory } from "../support/temporary.ts";

// Aliases to names elsewhere: Knot DNS is their nameserver, Unbound finds it, and our names too, as resolvers on the
// internet do.

const Z = "zone1";
const FLATTEN = { settings: { flatten_cname: true } };
const OURS: readonly Op[] = [
  zoneOp(Z, "flat.example"),
  serialOp(Z, 1),
  recordOp(Z, "flat.example", "CNAME", "www.outside.example"),
  ...["hop", "none", "missing", "many", "six", "back", "late"].map((name) =>
    recordOp(Z, `${name}.flat.example`, "CNAME", `${name}.outside.example`, FLATTEN),
  ),
];

const outside = (serial: number, address: string): string =>
  [
    `outside.example. 3600 IN SOA ns. host. ${serial} 3600 600 86400 1`,
    "outside.example. 3600 IN NS ns.",
    `www.outside.example. 1 IN A ${address}`,
    "hop.outside.example. 1 IN CNAME www.outside.example.",
    'none.outside.example. 1 IN TXT "no address"',
    "six.outside.example. 1 IN AAAA 2001:db8::6",
    "back.outside.example. 1 IN CNAME back.flat.example.",
    ...Array.from({ length: 40 }, (_, i) => `many.outside.example. 1 IN A 192.0.2.${i}`),
    "",
  ].join("\n");

interface Setup {
  /** The addresses that dig prints, sorted, and the extended error of the answer. */
  ask(name: string, type?: string): Promise<{ readonly addresses: string; readonly error: string }>;
  changeAddress(address: string): Promise<void>;
  stopResolver(): Promise<void>;
}

async function setUp(t: TestContext): Promise<Setup> {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-outside-"));
  t.after(() => removeDirectory(directory));
  const knot = await startKnot(directory, { "outside.example.": outside(1, "192.0.2.10") });
  t.after(() => knot.stop());
  const resolverPort = await freePort();
  // A resolver that is not there is told of at once; one on a busy machine may take its time.
  const patient = { serverTimeoutMs: 5_000, lookupTimeoutMs: 10_000, waitMs: 5_000 };
  const limits = { ...NAMESERVER_LIMITS, outside: { ...EXTERNAL_LIMITS, ttlMin: 1, retryMinMs: 200, ...patient } };
  const config = nameserverConfig({ resolvers: [`127.0.0.1:${resolverPort}`], limits });
  const nameserver = createNameserver({
    ...NAMESERVER_PARTS,
    replica: createMemoryReplica(OURS),
    metrics: createMetrics(),
    config,
    // As datagrams travel in production.
    sockets: await loadSystemSockets(),
  });
  const { udp: port } = await nameserver.listen();
  t.after(() => nameserver.close(100));
  const resolver = await startResolver(directory, resolverPort, { "outside.example.": knot.port, "flat.example.": port });
  t.after(() => resolver.stop());
  return {
    ask: async (name, type = "A") => {
      const text = await runClient("dig", ["@127.0.0.1", "-p", String(port), "+time=30", "+tries=1", "+edns", `${name}.`, type]);
      const records = [...text.matchAll(/^[^;\s]\S*\s+\d+\s+IN\s+(?:A|AAAA|CNAME)\s+(\S+)$/gm)].map(([, address]) => address);
      return { addresses: records.sort().join(" "), error: /EDE: (\d+)/.exec(text)?.[1] ?? "" };
    },
    changeAddress: (address) => knot.replace({ "outside.example.": outside(2, address) }),
    stopResolver: resolver.stop,
  };
}

const tools = toolOrSkip("knotd") || toolOrSkip("unbound") || toolOrSkip("dig");

test("an alias to an external name is answered with the addresses that a resolver finds", { skip: tools }, async (t) => {
  const { ask, changeAddress, stopResolver } = await setUp(t);
  const good = (addresses: string) => ({ addresses, error: "" });
  // The nameserver was there before its resolver.
  // a look-up that failed is tried again
  await eventually(async () => (await ask("flat.example")).addresses === "192.0.2.10");
  assert.deepEqual(await ask("flat.example"), good("192.0.2.10"));
  assert.deepEqual(await ask("hop.flat.example"), good("192.0.2.10"));
  assert.deepEqual(await ask("six.flat.example", "AAAA"), good("2001:db8::6"));
  assert.deepEqual(await ask("six.flat.example", "A"), good(""));
  assert.deepEqual(await ask("none.flat.example"), good(""));
  assert.deepEqual(await ask("missing.flat.example"), good(""));
  // More than fits into a datagram without EDNS: the resolver is asked over TCP.
  assert.equal((await ask("many.flat.example")).addresses.split(" ").length, 40);
  // Round in a circle through the resolver, which asks us meanwhile.
  assert.equal((await ask("back.flat.example")).addresses, "");

  await changeAddress("192.0.2.11");
  // the new address is served
  await eventually(async () => (await ask("flat.example")).addresses === "192.0.2.11");

  await stopResolver();
  // the answer says that it stands in
  await eventually(async () => (await ask("flat.example")).error === "3");
  assert.equal((await ask("flat.example")).addresses, "192.0.2.11");
  assert.deepEqual(await ask("late.flat.example", "AAAA"), { addresses: "", error: "22" });
});

test("flattened aliases and records of proxied names are signed", { skip: toolOrSkip("unbound") || toolOrSkip("dig") }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-outside-"));
  t.after(() => removeDirectory(directory));
  const start = async (ops: readonly Op[], change: Partial<NameserverConfig> = {}): Promise<number> => {
    const parts = { ...NAMESERVER_PARTS, replica: createMemoryReplica(ops), metrics: createMetrics() };
    const nameserver = createNameserver({ ...parts, config: nameserverConfig(change) });
    t.after(() => nameserver.close(100));
    return (await nameserver.listen()).udp;
  };
  const elsewhere = await start([
    zoneOp("o", "outside.example"),
    recordOp("o", "www.outside.example", "A", "192.0.2.10"),
    recordOp("o", "www.outside.example", "TXT", '"elsewhere"'),
  ]);
  const key = zoneKey("only");
  const ours = [
    zoneOp(Z, "flat.example"),
    serialOp(Z, 1),
    dnssecOp(Z, [key]),
    recordOp(Z, "flat.example", "CNAME", "www.outside.example"),
    recordOp(Z, "www.flat.example", "CNAME", "www.outside.example", FLATTEN),
    recordOp(Z, "*.wild.flat.example", "CNAME", "www.outside.example", FLATTEN),
    recordOp(Z, "lost.flat.example", "CNAME", "gone.outside.example", FLATTEN),
    recordOp(Z, "near.flat.example", "CNAME", "host.flat.example"),
    recordOp(Z, "host.flat.example", "A", "192.0.2.20"),
    recordOp(Z, "shop.flat.example", "A", "192.0.2.30", { proxied: true }),
    certificateOp(Z, "flat.example", "*.flat.example"),
  ];
  const port = await start(ours, {
    resolvers: [`127.0.0.1:${elsewhere}`],
    edgeAddresses: ["203.0.113.1"],
    edgeProtocols: { alpn: ["h2", "http/1.1"], port: 443 },
  });
  const zones = { "flat.example.": [port], "outside.example.": [elsewhere] };
  const validator = await startValidator({ directory, zones, anchor: anchorText("flat.example", key) });
  t.after(() => validator.stop());
  for (const [name, type, last, authentic = true] of [
    ["flat.example", "A", "A 192.0.2.10"],
    ["flat.example", "AAAA", undefined],
    ["flat.example", "CNAME", undefined],
    ["www.flat.example", "A", "A 192.0.2.10"],
    ["www.flat.example", "AAAA", undefined],
    ["www.flat.example", "CNAME", undefined],
    // Behind the alias is a zone that is not signed.
    ["www.flat.example", "TXT", 'TXT "elsewhere"', false],
    ["x.wild.flat.example", "A", "A 192.0.2.10"],
    ["lost.flat.example", "A", undefined],
    ["near.flat.example", "A", "A 192.0.2.20"],
    ["near.flat.example", "AAAA", "CNAME host.flat.example."],
    ["near.flat.example", "CNAME", "CNAME host.flat.example."],
    ["shop.flat.example", "A", "A 203.0.113.1"],
    ["shop.flat.example", "AAAA", undefined],
    ["shop.flat.example", "HTTPS", 'HTTPS 1 . alpn="h2" ipv4hint=203.0.113.1'],
    ["host.flat.example", "HTTPS", undefined],
  ] as const) {
    const found = await validator.ask(name, type);
    const record = found.records.at(-1)?.replace(/^\S+\s+\d+\s+IN\s+(\S+)\s+/, "$1 ");
    assert.deepEqual([found.status, found.authentic, record], ["NOERROR", authentic, last], `${name} ${type}`);
  }
});

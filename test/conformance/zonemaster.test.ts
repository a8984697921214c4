import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Op } from "#snapshot/entries.ts";
import { dsRdata } from "#wire/dns/dnssec-key.ts";
import { presentationText } from "#wire/dns/record-types.ts";
import type { NameserverProgram } from "../support/nameserver-program.ts";
import { layNetwork, type Program } from "../support/network-namespaces.ts";
import { keyRdata } from "../support/signed-server.ts";
import { toolOrSkip } from "../support/tools.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../support/zone-keys.ts";

// Checks of registries before they delegate a zone. Zonemaster only uses port 53 and rejects unassigned addresses, so the
// servers run in an isolated network namespace with addresses that look real.

const skip = toolOrSkip("zonemaster-cli");
const ZONE = "selvedge.test";
const SERVERS = [
  { name: `ns1.${ZONE}`, addresses: ["20.53.0.1", "2a01:53::1"] },
  { name: `ns2.${ZONE}`, addresses: ["40.53.0.1", "2a02:53::1"] },
];

const KEY = zoneKey("z");
const UNSIGNED: readonly Op[] = [
  zoneOp("z", ZONE, { name_servers: SERVERS.map(({ name }) => name) }),
  serialOp("z", 2_026_110_101),
  ...SERVERS.flatMap(({ name, addresses: [ipv4 = "", ipv6 = ""] }) => [recordOp("z", name, "A", ipv4), recordOp("z", name, "AAAA", ipv6)]),
  recordOp("z", ZONE, "MX", `10 mail.${ZONE}.`),
  recordOp("z", ZONE, "TXT", '"v=spf1 mx -all"'),
  recordOp("z", `mail.${ZONE}`, "A", "192.0.2.25"),
  recordOp("z", `*.${ZONE}`, "A", "192.0.2.80"),
];
const SIGNED: readonly Op[] = [...UNSIGNED, dnssecOp("z", [KEY], [KEY.id])];

const dsOf = (key: typeof KEY): string => presentationText("DS", dsRdata(ZONE, keyRdata(key))).replaceAll(" ", ",");

/** Its warnings that do not concern the server. */
const ACCEPTED: Readonly<Record<string, string>> = {
  NAMESERVER_IP_WITHOUT_REVERSE: "nobody serves the addresses' reverse zones in that network",
};

interface Remark {
  readonly level: string;
  readonly tag: string;
  readonly args: unknown;
}

/** Zonemaster's remarks on the zone as it would be delegated with this DS. */
async function judge(t: TestContext, ops: readonly Op[], ds?: string): Promise<{ remarks: readonly Remark[] } | { skip: string }> {
  const network = await layNetwork(t, ["net"], []);
  if ("skip" in network) return network;
  const { net } = network;
  const directory = await mkdtemp(join(tmpdir(), "selvedge-zonemaster-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const addresses = SERVERS.flatMap((server) => server.addresses);
  for (const address of addresses) await net.run("ip", "address", "add", address, "dev", "lo");
  const start = (host: string): Promise<Program> => {
    const told: NameserverProgram = { ops, config: { host, port: 53 }, rateLimit: { perSecond: 0, allPerSecond: 0, slip: 2, exempt: [] } };
    return net.start(t, new URL("../support/nameserver-program.ts", import.meta.url), told);
  };
  await Promise.all(addresses.map(start));
  const hints = join(directory, "hints");
  // There is a root, but it refuses to say anything.
  await writeFile(hints, `. 3600 NS a.root.\na.root. 3600 A ${addresses[0]}\n`);
  const delegation = SERVERS.flatMap(({ name, addresses: own }) => own.flatMap((address) => ["--ns", `${name}/${address}`]));
  const options = ["--json", "--level", "INFO", "--hints", hints, ...delegation, ...(ds === undefined ? [] : ["--ds", ds])];
  return { remarks: JSON.parse(await net.run("zonemaster-cli", ...options, ZONE)) as Remark[] };
}

const WRONG: ReadonlySet<string> = new Set(["WARNING", "ERROR", "CRITICAL"]);

/** Each with a remark that shows how far Zonemaster came. */
for (const [kind, ops, ds, seen] of [
  ["an unsigned zone", UNSIGNED, undefined, "EDNS0_SUPPORT"],
  ["a signed zone", SIGNED, dsOf(KEY), "DS15_HAS_CDS_AND_CDNSKEY"],
] as const)
  test(`Zonemaster finds no error in ${kind}`, { skip }, async (t) => {
    const judged = await judge(t, ops, ds);
    if ("skip" in judged) return t.skip(judged.skip);
    const tags = judged.remarks.map(({ tag }) => tag);
    assert.ok(tags.includes(seen), tags.join());
    assert.deepEqual(
      judged.remarks.filter(({ level, tag }) => WRONG.has(level) && !(level === "WARNING" && tag in ACCEPTED)),
      [],
    );
  });

test("Zonemaster reports a delegation that names another key", { skip }, async (t) => {
  const judged = await judge(t, SIGNED, dsOf(zoneKey("other")));
  if ("skip" in judged) return t.skip(judged.skip);
  const errors = judged.remarks.filter(({ level }) => level === "ERROR").map(({ tag }) => tag);
  assert.ok(errors.includes("DS02_NO_VALID_DNSKEY_FOR_ANY_DS"), errors.join());
});

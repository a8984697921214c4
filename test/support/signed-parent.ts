import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findTool } from "../../tools/system-tools.ts";
import { freePort, startTool } from "../bench/program.ts";
import { runClient } from "./client.ts";

/** A zone that Knot DNS signs and serves, and whose operator changes its delegations. */
export interface SignedParent {
  readonly port: number;
  /** Its own DNSKEY records as zone file text, the trust anchor of a validator. */
  readonly anchor: string;
  /** Makes these the DS records of the name, each as `tag algorithm type digest`. */
  setDs(name: string, records: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** `zone` ends in a dot, like the children, whose servers have no addresses: clients must be told where they are. */
export async function startSignedParent(directory: string, zone: string, children: readonly string[]): Promise<SignedParent> {
  const home = join(directory, "parent");
  await mkdir(home);
  const port = await freePort();
  const delegations = children.map((child) => `${child} 60 NS ns1.${child}`);
  const apex = [`${zone} 60 SOA ns.${zone} dns.${zone} 1 3600 600 86400 60`, `${zone} 60 NS ns.${zone}`, `ns.${zone} 60 A 127.0.0.1`];
  await writeFile(join(home, "zone"), [...apex, ...delegations, ""].join("\n"));
  await writeFile(
    join(home, "knot.conf"),
    `server:\n  rundir: "${home}"\n  listen: 127.0.0.1@${port}\n  udp-workers: 1\n  tcp-workers: 1\n  background-workers: 1
database:\n  storage: "${home}"
policy:\n  - id: one\n    algorithm: ecdsap256sha256\n    single-type-signing: on\n    manual: off
zone:\n  - domain: "${zone}"\n    file: "${home}/zone"\n    zonefile-sync: -1\n    journal-content: all\n    dnssec-signing: on\n    dnssec-policy: one\n`,
  );
  const dig = (name: string, type: string): Promise<string> =>
    runClient("dig", ["@127.0.0.1", "-p", String(port), "+tcp", "+noall", "+answer", "+time=30", "+tries=1", name, type]);
  const { stop } = await startTool("knotd", ["-c", join(home, "knot.conf")], async () => {
    if (!(await dig(zone, "DNSKEY")).includes("DNSKEY")) throw new Error("the zone is not signed yet");
  });
  const control = (...args: readonly string[]): Promise<string> =>
    runClient(join(dirname(findTool("knotd") ?? ""), "knotc"), ["--blocking", "-s", join(home, "knot.sock"), ...args]);
  return {
    port,
    anchor: await dig(zone, "DNSKEY"),
    setDs: async (name, records) => {
      await control("zone-begin", zone);
      if ((await dig(name, "DS")).includes("\tDS\t")) await control("zone-unset", zone, name, "DS");
      for (const record of records) await control("zone-set", zone, name, "60", "DS", ...record.split(" "));
      await control("zone-commit", zone);
    },
    stop,
  };
}

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findTool } from "../../tools/system-tools.ts";
import { freePort, startTool } from "../bench/program.ts";
import { runClient } from "./client.ts";

/** A top-level domain on Knot DNS, which is also its resolver for its own data. */
export interface ParentZone {
  /** As `dns.scan_resolvers` has it. */
  readonly address: string;
  readonly port: number;
  /** Sets the records of the name and type; an empty list deletes them. */
  set(name: string, type: "NS" | "DS" | "TXT", values: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** `zone` without its last dot. */
export async function startParentZone(directory: string, zone: string): Promise<ParentZone> {
  const home = join(directory, `parent-${zone}`);
  await mkdir(home);
  const port = await freePort();
  const origin = `${zone}.`;
  const apex = [
    `${origin} 60 SOA ns.${origin} dns.${origin} 1 3600 600 86400 60`,
    `${origin} 60 NS ns.${origin}`,
    `ns.${origin} 60 A 127.0.0.1`,
  ];
  await writeFile(join(home, "zone"), [...apex, ""].join("\n"));
  await writeFile(
    join(home, "knot.conf"),
    `server:\n  rundir: "${home}"\n  listen: 127.0.0.1@${port}\n  udp-workers: 1\n  tcp-workers: 1\n  background-workers: 1
database:\n  storage: "${home}"
zone:\n  - domain: "${origin}"\n    file: "${home}/zone"\n    zonefile-sync: -1\n    journal-content: all\n`,
  );
  const dig = (name: string, type: string): Promise<string> =>
    runClient("dig", [
      "@127.0.0.1",
      "-p",
      String(port),
      "+tcp",
      "+norec",
      "+noall",
      "+answer",
      "+authority",
      "+time=30",
      "+tries=1",
      name,
      type,
    ]);
  const { stop } = await startTool("knotd", ["-c", join(home, "knot.conf")], async () => {
    if (!(await dig(origin, "SOA")).includes("SOA")) throw new Error("the zone is not served yet");
  });
  const control = (...args: readonly string[]): Promise<string> =>
    runClient(join(dirname(findTool("knotd") ?? ""), "knotc"), ["--blocking", "-s", join(home, "knot.sock"), ...args]);
  return {
    address: `127.0.0.1:${port}`,
    port,
    set: async (name, type, values) => {
      const owner = `${name}.`;
      await control("zone-begin", origin);
      const before = await dig(owner, type);
      if (before.split("\n").some((line) => line.startsWith(owner) && line.includes(`\t${type}\t`)))
        await control("zone-unset", origin, owner, type);
      for (const value of values)
        await control("zone-set", origin, owner, "60", type, ...(type === "TXT" ? [`"${value}"`] : value.split(" ")));
      await control("zone-commit", origin);
    },
    stop,
  };
}

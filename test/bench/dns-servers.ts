import { Resolver } from "node:dns/promises";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startPowerDns } from "./power-dns.ts";
import { freePort, type Server, startTool } from "./program.ts";

/** The zone that every server is queried for. */
export interface ServedZone {
  readonly name: string;
  /** A name in it that has an address, by which a server is known to be up. */
  readonly probe: string;
  /** Lines of the zone's master file, `$ORIGIN` included. */
  readonly lines: readonly string[];
}

export interface DnsServer extends Server {
  readonly name: string;
  readonly port: number;
}

interface Launch {
  readonly tool: string;
  /** Writes the program's files into `home`, where `zone` is the zone file, and returns its arguments. */
  prepare(home: string, zone: ServedZone, port: number): Promise<readonly string[]>;
}

const TOOL_TIMEOUT_MS = 60_000;

const write = (home: string, name: string, lines: readonly string[]): Promise<void> => writeFile(join(home, name), `${lines.join("\n")}\n`);

/** Each server has one worker and no rate limit per client. */
const LAUNCHES: Readonly<Record<string, Launch>> = {
  nsd: {
    tool: "nsd",
    prepare: async (home, { name }, port) => {
      await write(home, "nsd.conf", [
        "server:",
        ...[`ip-address: 127.0.0.1@${port}`, 'username: ""', 'chroot: ""', "server-count: 1"].map((line) => `  ${line}`),
        ...["database", "pidfile", "xfrdfile"].map((key) => `  ${key}: ""`),
        ...[`zonelistfile: "${home}/zones"`, `xfrdir: "${home}"`].map((line) => `  ${line}`),
        // No name servers in answers, like the other servers.
        ...["rrl-ratelimit: 0", "rrl-whitelist-ratelimit: 0", "minimal-responses: yes"].map((line) => `  ${line}`),
        "remote-control:",
        "  control-enable: no",
        "zone:",
        `  name: ${name}`,
        `  zonefile: "${home}/zone"`,
      ]);
      return ["-d", "-c", join(home, "nsd.conf")];
    },
  },
  knot: {
    tool: "knotd",
    prepare: async (home, { name }, port) => {
      await write(home, "knot.conf", [
        "server:",
        ...[`listen: 127.0.0.1@${port}`, `rundir: ${home}`, "udp-workers: 1", "tcp-workers: 1", "background-workers: 1"].map(
          (line) => `  ${line}`,
        ),
        "database:",
        `  storage: ${home}`,
        "zone:",
        `  - domain: ${name}`,
        `    file: ${home}/zone`,
        "    zonefile-sync: -1",
        "    journal-content: none",
      ]);
      return ["-c", join(home, "knot.conf")];
    },
  },
  bind: {
    tool: "named",
    prepare: async (home, { name }, port) => {
      await write(home, "named.conf", [
        "options {",
        `  directory "${home}"; pid-file none; session-keyfile "${home}/session.key"; lock-file none;`,
        `  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };`,
        "  recursion no; notify no; dnssec-validation no; minimal-responses yes;",
        "};",
        "controls { };",
        `zone "${name}" { type primary; file "${home}/zone"; };`,
      ]);
      return ["-g", "-n", "1", "-c", join(home, "named.conf")];
    },
  },
};

const FILE_SERVER_TOOLS: readonly string[] = Object.values(LAUNCHES).map(({ tool }) => tool);
/** The peers' programs, as tools/system-tools.ts knows them. */
export const DNS_SERVER_TOOLS: readonly string[] = [...FILE_SERVER_TOOLS, "pdns_server", "pdns-backend-sqlite3"];
export const SIGNED_SERVER_TOOLS: readonly string[] = [...FILE_SERVER_TOOLS, "ldns-keygen", "ldns-signzone"];

/** Starts all of them on the zone, each on a separate port; stops the running ones if one does not start. */
export async function startDnsServers(directory: string, zone: ServedZone): Promise<readonly DnsServer[]> {
  const servers = [...(await startFileServers(directory, zone))];
  try {
    const power = await startPowerDns(join(directory, "powerdns"));
    servers.push({ ...power, name: "powerdns" });
    await power.importZone(zone.name, zone.lines.join("\n"));
    return servers;
  } catch (error) {
    for (const server of servers) await server.stop();
    throw error;
  }
}

/** The same servers, with an unchanged zone file. */
export async function startFileServers(directory: string, zone: ServedZone): Promise<readonly DnsServer[]> {
  const servers: DnsServer[] = [];
  try {
    for (const [name, launch] of Object.entries(LAUNCHES)) servers.push(await start(directory, name, launch, zone));
    return servers;
  } catch (error) {
    for (const server of servers) await server.stop();
    throw error;
  }
}

/** The zone as ldns signs it, with an ECDSA P-256 key for all of it and NSEC records. */
export async function signedZone(directory: string, zone: ServedZone): Promise<ServedZone> {
  await write(directory, "zone", zone.lines);
  const run = promisify(execFile);
  const key = (
    await run("ldns-keygen", ["-a", "ECDSAP256SHA256", "-k", zone.name], { cwd: directory, timeout: TOOL_TIMEOUT_MS })
  ).stdout.trim();
  await run("ldns-signzone", ["-o", zone.name, "-f", "signed", "zone", key], { cwd: directory, timeout: TOOL_TIMEOUT_MS });
  return { ...zone, lines: (await readFile(join(directory, "signed"), "utf8")).trimEnd().split("\n") };
}

async function start(directory: string, name: string, launch: Launch, zone: ServedZone): Promise<DnsServer> {
  const home = join(directory, name);
  await mkdir(home);
  await write(home, "zone", zone.lines);
  const port = await freePort();
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const server = await startTool(launch.tool, await launch.prepare(home, zone, port), () => resolver.resolve4(zone.probe));
  return { ...server, name, port };
}

import { mkdir, rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, startTool } from "../bench/program.ts";
import { askTcp, queryFor } from "./dns-client.ts";

/** Another nameserver, as a separate process on the loopback address. */
export interface PeerNameserver {
  readonly port: number;
  stop(): Promise<void>;
}

/** One whose zones can change while it serves. */
export interface ChangingNameserver extends PeerNameserver {
  /** Serves other texts of the same zones, whose serials must be higher. */
  replace(zones: ZoneTexts): Promise<void>;
}

/** Master file text by the zone's name, which ends in a dot. */
export type ZoneTexts = Readonly<Record<string, string>>;

/** Knot DNS, with its files in `directory`. */
export async function startKnot(directory: string, zones: ZoneTexts): Promise<ChangingNameserver> {
  const home = await homeOf(directory, "knot");
  const files = await writeZones(home, zones);
  const port = await freePort();
  const config = [
    `server:\n  rundir: "${home}"\n  listen: 127.0.0.1@${port}\n  udp-workers: 1\n  tcp-workers: 1\n  background-workers: 1\n  tcp-io-timeout: 0\n  tcp-idle-timeout: 60`,
    `database:\n  storage: "${home}"`,
    // A change of a zone is never written back, and questions are answered from the file alone.
    `template:\n  - id: default\n    storage: "${home}"\n    zonefile-sync: -1\n    journal-content: none\n    semantic-checks: off`,
    `zone:\n${files.map(({ name, path }) => `  - domain: "${name}"\n    file: "${path}"`).join("\n")}\n`,
  ];
  await writeFile(join(home, "knot.conf"), config.join("\n"));
  const { pid, stop } = await start("knotd", ["-c", join(home, "knot.conf")], port, files);
  let replaced = 0;
  return {
    port,
    stop,
    replace: async (texts) => {
      replaced++;
      await writeZones(home, texts, new Date(Date.now() + replaced * 1000));
      process.kill(pid, "SIGHUP");
    },
  };
}

/** NSD, with its files in `directory`. */
export async function startNsd(directory: string, zones: ZoneTexts): Promise<PeerNameserver> {
  const home = await homeOf(directory, "nsd");
  const files = await writeZones(home, zones);
  const port = await freePort();
  const config = [
    `server:\n  ip-address: 127.0.0.1@${port}\n  username: ""\n  chroot: ""\n  database: ""\n  pidfile: ""\n  xfrdfile: ""`,
    `  zonelistfile: "${home}/zones"\n  xfrdir: "${home}"\n  server-count: 1\n  rrl-ratelimit: 0`,
    "remote-control:\n  control-enable: no",
    ...files.map(({ name, path }) => `zone:\n  name: "${name}"\n  zonefile: "${path}"`),
    "",
  ];
  await writeFile(join(home, "nsd.conf"), config.join("\n"));
  return start("nsd", ["-d", "-c", join(home, "nsd.conf")], port, files);
}

interface ZoneFilePath {
  readonly name: string;
  readonly path: string;
}

async function homeOf(directory: string, name: string): Promise<string> {
  const home = join(directory, name);
  await mkdir(home);
  return home;
}

/**
 * Complete files only, each with a different time: a file with the former time, as two from the same few milliseconds
 * have, is not read again.
 */
async function writeZones(home: string, zones: ZoneTexts, at = new Date()): Promise<readonly ZoneFilePath[]> {
  const files = Object.entries(zones).map(([name, text], i) => ({ name, text, path: join(home, `zone${i}`) }));
  for (const { path, text } of files) {
    await writeFile(`${path}.new`, text);
    await utimes(`${path}.new`, at, at);
    await rename(`${path}.new`, path);
  }
  return files;
}

/** Unbound, which resolves names of these zones, served on ports of the loopback address, and no others. */
export async function startResolver(directory: string, port: number, zones: Readonly<Record<string, number>>): Promise<PeerNameserver> {
  const home = await homeOf(directory, "unbound");
  const config = [
    `server:\n  interface: 127.0.0.1@${port}\n  username: ""\n  chroot: ""\n  directory: "${home}"\n  pidfile: ""\n  use-syslog: no`,
    `  do-ip6: no\n  do-not-query-localhost: no\n  do-daemonize: no\n  num-threads: 1\n  module-config: "iterator"\n  qname-minimisation: no`,
    // No other servers exist, so that none are queried.
    '  local-zone: "." static',
    ...Object.keys(zones).map((zone) => `  local-zone: "${zone}" transparent`),
    "remote-control:\n  control-enable: no",
    ...Object.entries(zones).map(([zone, at]) => `stub-zone:\n  name: "${zone}"\n  stub-addr: 127.0.0.1@${at}`),
    "",
  ];
  await writeFile(join(home, "unbound.conf"), config.join("\n"));
  const { stop } = await startTool("unbound", ["-d", "-c", join(home, "unbound.conf")], () =>
    askTcp(port, [queryFor("none.example", 1, 1)], 500),
  );
  return { port, stop };
}

/** Ready once every zone answers with its SOA. */
async function start(
  tool: string,
  args: readonly string[],
  port: number,
  files: readonly ZoneFilePath[],
): Promise<PeerNameserver & { readonly pid: number }> {
  const questions = files.map(({ name }, id) => queryFor(name, 6, id));
  const { pid, stop } = await startTool(tool, args, async () => {
    const responses = await askTcp(port, questions, 2_000);
    if (responses.some((response) => response.readUInt16BE(6) === 0)) throw new Error("a zone is not loaded");
  });
  return { port, pid, stop };
}

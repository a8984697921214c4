import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, startTool } from "../bench/program.ts";
import { askTcp, queryFor } from "./dns-client.ts";

/** Another nameserver, as a process of its own on the loopback address. */
export interface PeerNameserver {
  readonly port: number;
  stop(): Promise<void>;
}

/** Master file text by the zone's name, which ends in a dot. */
export type ZoneTexts = Readonly<Record<string, string>>;

/** Knot DNS, with its files in `directory`. */
export async function startKnot(directory: string, zones: ZoneTexts): Promise<PeerNameserver> {
  const home = await homeOf(directory, "knot");
  const files = await writeZones(home, zones);
  const port = await freePort();
  const config = [
    `server:\n  rundir: "${home}"\n  listen: 127.0.0.1@${port}\n  udp-workers: 1\n  tcp-workers: 1\n  background-workers: 1`,
    `database:\n  storage: "${home}"`,
    // A change of a zone is never written back, and questions are answered from the file alone.
    `template:\n  - id: default\n    storage: "${home}"\n    zonefile-sync: -1\n    journal-content: none\n    semantic-checks: off`,
    `zone:\n${files.map(({ name, path }) => `  - domain: "${name}"\n    file: "${path}"`).join("\n")}\n`,
  ];
  await writeFile(join(home, "knot.conf"), config.join("\n"));
  return start("knotd", ["-c", join(home, "knot.conf")], port, files);
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

async function writeZones(home: string, zones: ZoneTexts): Promise<readonly ZoneFilePath[]> {
  const files = Object.entries(zones).map(([name, text], i) => ({ name, text, path: join(home, `zone${i}`) }));
  for (const { path, text } of files) await writeFile(path, text);
  return files;
}

/** Ready once every zone answers with its SOA. */
async function start(tool: string, args: readonly string[], port: number, files: readonly ZoneFilePath[]): Promise<PeerNameserver> {
  const questions = files.map(({ name }, id) => queryFor(name, 6, id));
  const { stop } = await startTool(tool, args, async () => {
    const responses = await askTcp(port, questions, 2_000);
    if (responses.some((response) => response.readUInt16BE(6) === 0)) throw new Error("a zone is not loaded");
  });
  return { port, stop };
}

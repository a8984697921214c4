import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findTool } from "../../tools/system-tools.ts";
import { freePort, startTool } from "../bench/program.ts";
import { askTcp, queryFor } from "./dns-client.ts";

const execute = promisify(execFile);

/** An external primary of one zone, as a separate process on the loopback address. */
export interface Primary {
  readonly port: number;
  /** Adds and deletes records, as zone file lines without class; the primary raises its serial and sends a NOTIFY. */
  change(change: { readonly add?: readonly string[]; readonly remove?: readonly string[] }): Promise<void>;
  stop(): Promise<void>;
}

export interface PrimaryOptions {
  /** For its files; has to exist. */
  readonly directory: string;
  /** Absolute, without the final dot. */
  readonly zone: string;
  /** A master file. */
  readonly text: string;
  /** Port to which it sends its NOTIFY. */
  readonly notifyPort: number;
  /** The port, if it must be a known one. */
  readonly port?: number;
}

/** HMAC-SHA256. */
export interface SharedKey {
  readonly name: string;
  readonly secret: string;
}

/** BIND as the guide configures it, which hands the zone out and announces it under the key only. */
export async function startBind({ directory, zone, text, notifyPort, port: given }: PrimaryOptions, key: SharedKey): Promise<Primary> {
  const home = join(directory, "bind");
  await mkdir(home, { recursive: true });
  const port = given ?? (await freePort());
  await writeFile(join(home, "zone"), text, { flag: "wx" }).catch(() => undefined);
  const options = `
options {
  directory "${home}";
  pid-file none;
  session-keyfile none;
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
  dnssec-validation no;
  notify-delay 0;
  minimal-responses yes;
};
controls { };
`;
  const configured = (await guideBlock())
    .replace('file "example.com.zone";', `file "zone"; allow-update { key "${key.name}"; };`)
    .replaceAll("example.com", zone)
    .replaceAll("transfers.example", key.name)
    .replace(/secret ".*"/, `secret "${key.secret}"`)
    .replace("192.0.2.20 port 53", `127.0.0.1 port ${notifyPort}`);
  const config = options + configured;
  await writeFile(join(home, "named.conf"), config);
  const server = await startTool("named", ["-g", "-n", "1", "-c", join(home, "named.conf")], () => loaded(port, zone));
  return {
    port,
    stop: server.stop,
    change: async ({ add = [], remove = [] }) => {
      const lines = [...remove.map((line) => `update delete ${line}`), ...add.map((line) => `update add ${line}`)];
      const script = join(home, "update");
      await writeFile(script, [`server 127.0.0.1 ${port}`, `zone ${zone}`, ...lines, "send", ""].join("\n"));
      await execute(toolPath("nsupdate"), ["-y", `hmac-sha256:${key.name}:${key.secret}`, script], { timeout: 60_000 });
    },
  };
}

/** Knot DNS, which hands the zone out and announces it to this machine without a key. */
export async function startKnotPrimary({ directory, zone, text, notifyPort, port: given }: PrimaryOptions): Promise<Primary> {
  const home = join(directory, "knot");
  await mkdir(home, { recursive: true });
  const port = given ?? (await freePort());
  await writeFile(join(home, "zone"), text);
  const config = `
server:
  rundir: "${home}"
  listen: 127.0.0.1@${port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
control:
  listen: "${home}/knot.sock"
database:
  storage: "${home}"
remote:
  - id: selvedge
    address: 127.0.0.1@${notifyPort}
acl:
  - id: transfer
    address: 127.0.0.1
    action: transfer
zone:
  - domain: "${zone}"
    storage: "${home}"
    file: zone
    zonefile-sync: -1
    notify: selvedge
    acl: transfer
`;
  await writeFile(join(home, "knot.conf"), config);
  const server = await startTool("knotd", ["-c", join(home, "knot.conf")], () => loaded(port, zone));
  const control = (...args: readonly string[]) => execute(toolPath("knotc"), ["-s", join(home, "knot.sock"), ...args], { timeout: 60_000 });
  return {
    port,
    stop: server.stop,
    change: async ({ add = [], remove = [] }) => {
      await control("zone-begin", zone);
      for (const line of remove) await control("zone-unset", zone, ...line.split(" "));
      for (const line of add) await control("zone-set", zone, ...line.split(" "));
      await control("zone-commit", zone);
    },
  };
}

const GUIDE = new URL("../../docs/guides/secondary.md", import.meta.url);

/** The configuration block from the guide. */
async function guideBlock(): Promise<string> {
  const block = /^```named\.conf\n([^]*?)^```$/m.exec(await readFile(GUIDE, "utf8"))?.[1];
  if (block === undefined) throw new Error("the guide has no configuration of BIND");
  return block;
}

async function loaded(port: number, zone: string): Promise<void> {
  const [response] = await askTcp(port, [queryFor(zone, 6, 1)], 2_000);
  if (response?.readUInt16BE(6) !== 1) throw new Error("the zone is not loaded");
}

function toolPath(name: string): string {
  const path = findTool(name);
  if (path === undefined) throw new Error(`${name} is not installed`);
  return path;
}

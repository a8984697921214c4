import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startTool } from "../bench/program.ts";
import { askTcp, queryFor } from "./dns-client.ts";

/** A key that both servers know. */
export interface SharedKey {
  /** Without the final dot. */
  readonly name: string;
  readonly algorithm: string;
  /** Base64. */
  readonly secret: string;
}

/** Another nameserver that transfers the zone from us, as a separate process on the loopback address. */
export interface Secondary {
  readonly port: number;
  stop(): Promise<void>;
}

export interface SecondarySpec {
  /** An empty folder for it. */
  readonly home: string;
  /** Its port. */
  readonly port: number;
  /** Our port. */
  readonly primaryPort: number;
  readonly zone: string;
  readonly key: SharedKey;
}

/** The configuration of one program, as an operator would write it, and how it is started. */
export interface SecondaryProgram {
  readonly tool: string;
  readonly file: string;
  config(spec: SecondarySpec): string;
  args(configPath: string): readonly string[];
}

// The text of the guide docs/guides/secondaries.md is between the lines "zone" and the end of these texts.

export const KNOT: SecondaryProgram = {
  tool: "knotd",
  file: "knot.conf",
  config: ({ home, port, primaryPort, zone, key }) => `server:
  rundir: "${home}"
  listen: 127.0.0.1@${port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: "${home}"
key:
  - id: ${key.name}
    algorithm: ${key.algorithm}
    secret: ${key.secret}
remote:
  - id: selvedge
    address: 127.0.0.1@${primaryPort}
    key: ${key.name}
acl:
  - id: from-selvedge
    address: 127.0.0.1
    key: ${key.name}
    action: notify
  - id: compare
    address: 127.0.0.1
    action: transfer
zone:
  - domain: ${zone}
    storage: "${home}"
    master: selvedge
    acl: [from-selvedge, compare]
    zonefile-sync: -1
    zonefile-load: none
    journal-content: all
`,
  args: (path) => ["-c", path],
};

export const NSD: SecondaryProgram = {
  tool: "nsd",
  file: "nsd.conf",
  config: ({ home, port, primaryPort, zone, key }) => `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  chroot: ""
  database: ""
  pidfile: ""
  xfrdfile: ""
  zonelistfile: "${home}/zones"
  xfrdir: "${home}"
  server-count: 1
  rrl-ratelimit: 0
  xfrd-reload-timeout: 0
remote-control:
  control-enable: no
key:
  name: ${key.name}
  algorithm: ${key.algorithm}
  secret: "${key.secret}"
zone:
  name: ${zone}
  zonefile: "${home}/zone"
  request-xfr: 127.0.0.1@${primaryPort} ${key.name}
  allow-notify: 127.0.0.1 ${key.name}
  provide-xfr: 127.0.0.1 NOKEY
`,
  args: (path) => ["-d", "-c", path],
};

export const BIND: SecondaryProgram = {
  tool: "named",
  file: "named.conf",
  config: ({ home, port, primaryPort, zone, key }) => `options {
  directory "${home}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none;
  session-keyfile none;
  recursion no;
  dnssec-validation no;
  notify no;
  allow-transfer { 127.0.0.1; };
};
controls { };
key "${key.name}" {
  algorithm ${key.algorithm};
  secret "${key.secret}";
};
zone "${zone}" {
  type secondary;
  file "zone";
  primaries { 127.0.0.1 port ${primaryPort} key "${key.name}"; };
  allow-notify { key "${key.name}"; };
};
`,
  args: (path) => ["-g", "-n", "1", "-c", path],
};

/** Starts the program and waits until it answers any query. */
export async function startSecondary(program: SecondaryProgram, spec: SecondarySpec): Promise<Secondary> {
  await mkdir(spec.home, { recursive: true });
  const path = join(spec.home, program.file);
  await writeFile(path, program.config(spec));
  const question = queryFor(spec.zone, 6, 1);
  const { stop } = await startTool(program.tool, program.args(path), () => askTcp(spec.port, [question], 1_000));
  return { port: spec.port, stop };
}

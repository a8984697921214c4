import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, startTool } from "../bench/program.ts";
import { runClient } from "./client.ts";

/** Answer of a validating resolver with an empty cache for a name. */
export interface Validated {
  /** `NOERROR`, or `SERVFAIL` if it does not validate. */
  readonly status: string;
  /** Whether every signature on the path was checked: the AD flag. */
  readonly authentic: boolean;
  /** Of the answer, as dig prints it. */
  readonly records: readonly string[];
}

export interface ValidatorOptions {
  /** For its files. */
  readonly directory: string;
  /** Loopback ports where each zone is served; names end in dots. */
  readonly zones: Readonly<Record<string, readonly number[]>>;
  /** DNSKEY records that are trusted, in master file text. */
  readonly anchor: string;
}

/** A running Unbound. */
export interface Validator {
  readonly port: number;
  ask(name: string, type: string): Promise<Validated>;
  stop(): Promise<void>;
}

/** Queries Unbound, which is started for this with an empty cache. */
export async function validate(options: ValidatorOptions, name: string, type: string): Promise<Validated> {
  const validator = await startValidator(options);
  try {
    return await validator.ask(name, type);
  } finally {
    await validator.stop();
  }
}

export async function startValidator({ directory, zones, anchor }: ValidatorOptions): Promise<Validator> {
  const home = await mkdtemp(join(directory, "unbound-"));
  const port = await freePort();
  await writeFile(join(home, "anchor"), anchor);
  const names = Object.keys(zones);
  const config = [
    `server:\n  interface: 127.0.0.1@${port}\n  username: ""\n  chroot: ""\n  directory: "${home}"\n  pidfile: ""\n  use-syslog: no`,
    // Example addresses are unassigned: waiting for them is useless.
    `  do-ip6: no\n  do-not-query-address: 192.0.2.0/24\n  do-not-query-localhost: no\n  do-daemonize: no\n  num-threads: 1\n  module-config: "validator iterator"`,
    `  trust-anchor-file: "${home}/anchor"\n  qname-minimisation: no`,
    // Unbound treats names under `test` as non-existent by default.
    ...new Set(["test.", ...names]).values().map((zone) => `  local-zone: "${zone}" nodefault`),
    "remote-control:\n  control-enable: no",
    ...Object.entries(zones).map(([zone, ports]) =>
      [`stub-zone:\n  name: "${zone}"`, ...ports.map((served) => `  stub-addr: 127.0.0.1@${served}`)].join("\n"),
    ),
    "",
  ];
  await writeFile(join(home, "unbound.conf"), config.join("\n"));
  const dig = (...args: readonly string[]): Promise<string> =>
    runClient("dig", ["@127.0.0.1", "-p", String(port), "+time=30", "+tries=1", "+dnssec", ...args]);
  const { stop } = await startTool("unbound", ["-d", "-c", join(home, "unbound.conf")], () => dig("CH", "TXT", "version.bind"));
  const ask = async (name: string, type: string): Promise<Validated> => {
    const answer = await dig(name, type);
    const section = /;; ANSWER SECTION:\n((?:[^;\n].*\n)*)/.exec(answer)?.[1] ?? "";
    return {
      status: /status: (\w+)/.exec(answer)?.[1] ?? "",
      authentic: /;; flags:[^;]* ad[ ;]/.test(answer),
      records: section.split("\n").filter((line) => line !== "" && !line.includes("RRSIG")),
    };
  };
  return { port, ask, stop };
}

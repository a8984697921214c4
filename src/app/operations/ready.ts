/**
 * The line that scripts wait for (DESIGN.md §4); `token` is only present at the first start. Addresses of roles that the process does not
 * have are empty.
 */
export interface ReadyLine {
  readonly event: "ready";
  /** With the version segment: `http://127.0.0.1:N/client/v4`. */
  readonly api: string;
  /** Metrics and health. */
  readonly ops: string;
  readonly gateway: string;
  /** Address and port, UDP and TCP. */
  readonly dns: string;
  /** Address and port of DNS over TLS. */
  readonly dot: string;
  readonly http: string;
  readonly https: string;
  /** Empty if the database could not be read, or in a process without the role `control`: the planes serve the last good copy. */
  readonly account_id: string;
  readonly token?: string;
  readonly pid: number;
  readonly took_ms: number;
}

/** The same for people. */
export function readyText(ready: ReadyLine, dataDir: string): string {
  const isControl = ready.api !== "";
  const all: readonly (readonly [string, string])[] = [
    ["Dashboard", isControl ? new URL("/", ready.api).href : ""],
    ["Management API", ready.api],
    ["Operations", ready.ops],
    ["AI gateway", ready.gateway],
    ["Nameserver", ready.dns && `${ready.dns} (UDP and TCP), ${ready.dot} (TLS)`],
    ["Edge", ready.http && `${ready.http}, ${ready.https}`],
    ["Account", ready.account_id || (isControl ? "unknown: the database cannot be used; see the log" : "")],
    ["State", dataDir],
    ...(ready.token === undefined
      ? []
      : [["API token", `${ready.token}   shown only once; selvedge token reset creates a new one`] as const]),
  ];
  const rows = all.filter(([, value]) => value !== "");
  const lines = rows.map(([label, value]) => `  ${label.padEnd(15)} ${value}`);
  return `\nSelvedge is ready (${ready.took_ms} ms)\n\n${lines.join("\n")}\n\n  Stop it with Ctrl-C.\n\n`;
}

/** Where each listener accepts clients; empty for roles that the process does not have. */
export interface ListenerAddresses {
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
  /** The other addresses of listeners that have several, in the same form; absent if none has. */
  readonly further?: Readonly<Record<string, readonly string[]>>;
}

/** The line that scripts wait for (DESIGN.md §4); `token` is only present at the first start. */
export interface ReadyLine extends ListenerAddresses {
  readonly event: "ready";
  /** Empty if the database could not be read, or in a process without the role `control`: the planes serve the last good copy. */
  readonly account_id: string;
  readonly token?: string;
  readonly pid: number;
  readonly took_ms: number;
}

/** All addresses of a listener, as text. */
export const listed = (addresses: ListenerAddresses, listener: Exclude<keyof ListenerAddresses, "further">): string =>
  [addresses[listener], ...(addresses.further?.[listener] ?? [])].join(", ");

/** The same for people. */
export function readyText(ready: ReadyLine, dataDir: string): string {
  const isControl = ready.api !== "";
  const all: readonly (readonly [string, string])[] = [
    ["Dashboard", isControl ? new URL("/", ready.api).href : ""],
    ["Management API", listed(ready, "api")],
    ["Operations", listed(ready, "ops")],
    ["AI gateway", listed(ready, "gateway")],
    ["Nameserver", ready.dns && `${listed(ready, "dns")} (UDP and TCP), ${listed(ready, "dot")} (TLS)`],
    ["Edge", ready.http && `${listed(ready, "http")}, ${listed(ready, "https")}`],
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

import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { type NativePart, type OnMissing, TURNED_OFF } from "#kernel/process/native-transport.ts";
import type { Log } from "#app/log/log.ts";

/** Records which parts of the program use native system calls, and why the others do not. */
export interface TransportNotices {
  /** Each part counts once, however many threads report it. */
  readonly add: OnMissing;
  /** After the start: logs one line about all parts. A part that is added later has a separate line. */
  report(): void;
  /** A sentence for each part without native calls, for `selvedge status`. */
  list(): readonly string[];
}

const PARTS: Readonly<Record<NativePart, string>> = {
  datagrams: "DNS over UDP uses Node.js, one datagram per call, which is slower",
  connections: "edge and gateway connections use Node.js, which is slower",
  tls: "edge TLS uses Node.js, which is slower",
  time_slices: "threads run with the system's time slices, so responses wait longer on a busy CPU",
  memory: "the process gives freed memory back late",
};
const NAMES = Object.keys(PARTS) as readonly NativePart[];
/** Memory is first trimmed after the start. */
const AT_START = NAMES.filter((part) => part !== "memory");

export function createTransportNotices(log: Log, metrics: MetricRegistry): TransportNotices {
  const reasons = new Map<NativePart, string>();
  let isReported = false;
  const gaugeOf = (part: NativePart, reason: string) =>
    metrics.gauge("selvedge_transport_fallback", "1 if this part does not use native system calls, with the reason", { part, reason });
  const sentence = (part: NativePart): string => `${PARTS[part]}: ${reasons.get(part)}`;
  // A part that the operator turned off is not a fault.
  const levelOf = (parts: readonly NativePart[]): "info" | "warn" =>
    parts.every((part) => reasons.get(part) === TURNED_OFF) ? "info" : "warn";
  return {
    add: (part, reason) => {
      if (reasons.has(part)) return;
      reasons.set(part, reason);
      gaugeOf(part, reason).value = 1;
      if (isReported) log[levelOf([part])]({ part, reason }, sentence(part));
    },
    report: () => {
      isReported = true;
      const missing = NAMES.filter((part) => reasons.has(part));
      const native = AT_START.filter((part) => !reasons.has(part));
      for (const part of native) gaugeOf(part, "").value = 0;
      const fields = { native, fallback: Object.fromEntries(reasons) };
      log[levelOf(missing)](fields, missing.length === 0 ? "native system calls are in use" : missing.map(sentence).join("; "));
    },
    list: () => NAMES.filter((part) => reasons.has(part)).map(sentence),
  };
}

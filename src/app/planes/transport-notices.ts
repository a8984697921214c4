import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { NativePart, OnMissing } from "#kernel/process/native-transport.ts";
import type { Log } from "#app/log/log.ts";

/** Remembers which parts of the transport Node.js carries, and why. */
export interface TransportNotices {
  /** Each part is logged once, however many threads have it. */
  readonly add: OnMissing;
  /** A sentence for each, for `selvedge status`. */
  list(): readonly string[];
}

const PARTS: Readonly<Record<NativePart, string>> = {
  datagrams: "DNS over UDP uses Node.js, one datagram per call",
  connections: "edge and gateway connections use Node.js",
  tls: "edge TLS uses Node.js",
};

export function createTransportNotices(log: Log, metrics: MetricRegistry): TransportNotices {
  const gauge = (part: NativePart) =>
    metrics.gauge("selvedge_transport_fallback", "1 if this part of the transport uses Node.js instead of native system calls", { part });
  const gauges = { datagrams: gauge("datagrams"), connections: gauge("connections"), tls: gauge("tls") };
  const notices = new Map<NativePart, string>();
  return {
    add: (part, reason) => {
      if (notices.has(part)) return;
      gauges[part].value = 1;
      const notice = `${PARTS[part]}, which is slower: ${reason}`;
      notices.set(part, notice);
      log.warn({ part, reason }, notice);
    },
    list: () => [...notices.values()],
  };
}

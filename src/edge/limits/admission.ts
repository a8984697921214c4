import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { networkOf } from "#kernel/net/network-of.ts";

/** Limits the open connections, in all and per address. */
export interface Admission {
  /** Takes one of all places. Returns false if none is free. Give it back with `leave`. */
  enter(): boolean;
  leave(): void;
  /** Takes one of the address's places; null if none is free. Call the result when the connection closes. */
  hold(address: string): (() => void) | null;
}

interface AdmissionDeps {
  readonly metrics: MetricRegistry;
  /** Per thread; 0 means no limit. */
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  /** True if many visitors share the address, as behind a trusted proxy: then only the limit of all connections applies. */
  isShared(address: string): boolean;
}

export function createAdmission({ metrics, connectionsMax, connectionsPerAddressMax, isShared }: AdmissionDeps): Admission {
  const refused = (limit: string) =>
    metrics.counter("selvedge_edge_connections_refused_total", "Connections refused because of a limit", { limit });
  const [refusedByAll, refusedByAddress] = [refused("all"), refused("address")];
  const held = new Map<string, number>();
  let total = 0;

  const release = (key: string): void => {
    const left = (held.get(key) ?? 0) - 1;
    if (left > 0) held.set(key, left);
    else held.delete(key);
  };
  return {
    enter: () => {
      if (connectionsMax > 0 && total >= connectionsMax) {
        refusedByAll.value++;
        return false;
      }
      total++;
      return true;
    },
    leave: () => void total--,
    hold: (address) => {
      if (connectionsPerAddressMax === 0 || isShared(address)) return noRelease;
      const key = networkOf(address);
      const count = held.get(key) ?? 0;
      if (count >= connectionsPerAddressMax) {
        refusedByAddress.value++;
        return null;
      }
      held.set(key, count + 1);
      return () => release(key);
    },
  };
}

const noRelease = (): void => undefined;

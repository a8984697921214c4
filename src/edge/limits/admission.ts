import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { networkOf } from "#kernel/net/network-of.ts";

/** How many connections there may be, and of whom. */
export interface Admission {
  /** Takes one of all places, or says that there is none. Give it back with `leave`. */
  enter(): boolean;
  leave(): void;
  /** Takes one of the address's own places; null where it has none left. Call what it returns when the connection closes. */
  hold(address: string): (() => void) | null;
}

interface AdmissionDeps {
  readonly metrics: MetricRegistry;
  /** Of this thread; 0 is no limit. */
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  /** Whether many visitors share the address, as behind a trusted proxy: only the limit of all connections applies to it. */
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

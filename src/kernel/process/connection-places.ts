import type { MetricRegistry } from "./metrics.ts";
import { networkOf } from "#kernel/net/network-of.ts";

/** Limits the open connections of a listener, in all and per address: each takes one of the process's file descriptors. */
export interface ConnectionPlaces {
  /** Takes one of all places. Returns false if none is free. Give it back with `leave`. */
  enter(): boolean;
  leave(): void;
  /** Takes one of the address's places; null if none is free. Call the result when the connection closes. */
  hold(address: string): (() => void) | null;
}

/** Per thread; 0 means no limit. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
}

interface ConnectionPlacesDeps extends ConnectionLimits {
  readonly metrics: MetricRegistry;
  readonly listener: "edge" | "gateway" | "api";
  /** True if many visitors share the address, as behind a trusted proxy: then only the limit of all connections applies. */
  isShared(address: string): boolean;
}

export function createConnectionPlaces(deps: ConnectionPlacesDeps): ConnectionPlaces {
  const { metrics, listener, connectionsMax, connectionsPerAddressMax, isShared } = deps;
  const refused = (limit: string) =>
    metrics.counter(`selvedge_${listener}_connections_refused_total`, "Connections refused because of a limit", { limit });
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

/** Takes a place of both kinds until the connection has closed. Returns false if there is none: then it must be closed. */
export function admitConnection(places: ConnectionPlaces, address: string, whenClosed: (closed: () => void) => void): boolean {
  if (!places.enter()) return false;
  whenClosed(places.leave);
  // Sockets of both families report IPv4 addresses so.
  const release = places.hold(address.startsWith("::ffff:") ? address.slice(7) : address);
  if (release === null) return false;
  whenClosed(release);
  return true;
}

const noRelease = (): void => undefined;

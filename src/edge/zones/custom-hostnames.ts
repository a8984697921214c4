import { LargeMap } from "#kernel/large-map.ts";
import type { CustomHostnameEntry, FallbackOriginEntry } from "#snapshot/entries.ts";
import type { AppliedOp, Replica } from "#snapshot/feed.ts";

/** Customers' hostnames that zones here serve, by name (custom-hostnames.md §1, "priority"). */
export interface CustomHostnames {
  /** The active hostname of exactly this name, in a zone that is served. */
  exact(host: string): CustomHostnameEntry | undefined;
  /** The active wildcard hostname closest above this name. */
  wildcard(host: string): CustomHostnameEntry | undefined;
  /** True if a hostname of exactly this name waits for validation, in any zone. */
  isPending(host: string): boolean;
  /** The zone's name that leads to the origin; undefined if none is set. */
  originOf(entry: CustomHostnameEntry): string | undefined;
  /** A hostname that is active or waits for validation. */
  byId(id: string): CustomHostnameEntry | undefined;
  apply(op: AppliedOp): void;
  rebuild(snapshot: Replica["snapshot"]): void;
}

export function createCustomHostnames(isZoneServed: (zoneId: string) => boolean): CustomHostnames {
  const ids = new LargeMap<CustomHostnameEntry>();
  const active = new LargeMap<CustomHostnameEntry>();
  /** Number of zones in which a name waits. */
  const pending = new LargeMap<number>();
  const fallbacks = new LargeMap<FallbackOriginEntry>();
  /** The names above a host are searched only if there are wildcards. */
  let wildcards = 0;

  const addPending = (hostname: string, change: 1 | -1): void => {
    const count = (pending.get(hostname) ?? 0) + change;
    if (count === 0) pending.delete(hostname);
    else pending.set(hostname, count);
  };
  const remove = (id: string): void => {
    const entry = ids.get(id);
    if (entry === undefined) return;
    ids.delete(id);
    // Another hostname may have the name by now: operations of a delta have no order.
    if (active.get(entry.hostname) === entry) active.delete(entry.hostname);
    if (entry.active && entry.wildcard) wildcards--;
    if (!entry.active) addPending(entry.hostname, -1);
  };
  const put = (id: string, entry: CustomHostnameEntry): void => {
    remove(id);
    ids.set(id, entry);
    if (!entry.active) return addPending(entry.hostname, 1);
    active.set(entry.hostname, entry);
    if (entry.wildcard) wildcards++;
  };
  const putFallback = (zoneId: string, entry: FallbackOriginEntry | null): void => {
    if (entry === null) fallbacks.delete(zoneId);
    else fallbacks.set(zoneId, entry);
  };

  return {
    exact: (host) => {
      const entry = active.get(host);
      return entry !== undefined && isZoneServed(entry.zone_id) ? entry : undefined;
    },
    wildcard: (host) => {
      if (wildcards === 0) return undefined;
      for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1)) {
        const entry = active.get(host.slice(dot + 1));
        if (entry?.wildcard === true && isZoneServed(entry.zone_id)) return entry;
      }
      return undefined;
    },
    isPending: (host) => pending.has(host),
    originOf: (entry) => entry.origin ?? fallbacks.get(entry.zone_id)?.origin,
    byId: (id) => ids.get(id),
    apply: (op) => {
      if (op.kind === "fallback_origin") putFallback(op.id, op.value);
      if (op.kind !== "custom_hostname") return;
      if (op.value === null) remove(op.id);
      else put(op.id, op.value);
    },
    rebuild: (snapshot) => {
      for (const index of [ids, active, pending, fallbacks]) index.clear();
      wildcards = 0;
      for (const [zoneId, entry] of snapshot.entries("fallback_origin")) putFallback(zoneId, entry);
      for (const [id, entry] of snapshot.entries("custom_hostname")) put(id, entry);
    },
  };
}

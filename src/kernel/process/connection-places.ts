import type { MetricRegistry } from "./metrics.ts";
import type { Clock } from "#kernel/clock.ts";
import { networkOf } from "#kernel/net/network-of.ts";

/**
 * Limits the open connections of a listener, in all and per address: each takes one of the process's file descriptors. At a
 * limit, the connection that has been idle longest is closed for the new one, so that idle connections keep nobody out; a new
 * one is refused only if none is idle.
 */
export interface ConnectionPlaces {
  /** Takes one of all places. Returns false if none is free. Give it back with `leave`. */
  enter(): boolean;
  leave(): void;
  /** Takes one of the address's places; null if none is free. Call the result when the connection closes. */
  hold(client: PlaceClient, occupant: Occupant): (() => void) | null;
  /** The client's connection is this from now on, for instance since its TLS handshake. */
  serves(client: PlaceClient, occupant: Occupant): void;
}

interface PlaceClient {
  readonly address: string;
}

/** A connection with a place. */
export interface Occupant {
  /** Since when the client could ask for something and did not; null if it waits for us; undefined if that is not known. */
  readonly idleSinceMs?: number | null | undefined;
  destroy(): unknown;
}

/** Per thread; 0 means no limit. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
}

interface ConnectionPlacesDeps extends ConnectionLimits {
  readonly metrics: MetricRegistry;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly listener: "edge" | "gateway" | "api";
  /** True if many visitors share the address, as behind a trusted proxy: then only the limit of all connections applies. */
  isShared(address: string): boolean;
}

interface Place {
  occupant: Occupant;
  readonly sinceMs: number;
  readonly network: string | null;
  /** Whether it is more than a connection that waits for its client, as during a handshake. */
  isServed: boolean;
}

/** Places that are looked at for one new connection. */
const LOOKED_MAX = 1_000;

export function createConnectionPlaces(deps: ConnectionPlacesDeps): ConnectionPlaces {
  const { metrics, clock, listener, connectionsMax, connectionsPerAddressMax, isShared } = deps;
  const refused = (limit: string) =>
    metrics.counter(`selvedge_${listener}_connections_refused_total`, "Connections refused because of a limit", { limit });
  const [refusedByAll, refusedByAddress] = [refused("all"), refused("address")];
  const all = new Set<Place>();
  const byNetwork = new Map<string, Set<Place>>();
  const byClient = new WeakMap<PlaceClient, Place>();
  let total = 0;

  const release = (place: Place): void => {
    all.delete(place);
    const own = place.network === null ? undefined : byNetwork.get(place.network);
    if (own?.delete(place) === true && own.size === 0) byNetwork.delete(place.network as string);
  };
  /** Closes the one that has been idle longest; returns false if none is idle. */
  const makeRoom = (places: Set<Place>): boolean => {
    const place = idlest(places);
    if (place === undefined) return false;
    release(place);
    place.occupant.destroy();
    return true;
  };
  return {
    enter: () => {
      // A connection that is closed for this one gives its place back when it has closed.
      if (connectionsMax > 0 && total >= connectionsMax && !makeRoom(all)) {
        refusedByAll.value++;
        return false;
      }
      total++;
      return true;
    },
    leave: () => void total--,
    hold: (client, occupant) => {
      const isLimited = connectionsPerAddressMax > 0 && !isShared(client.address);
      const network = isLimited ? networkOf(client.address) : null;
      const own = network === null ? undefined : byNetwork.get(network);
      if (own !== undefined && own.size >= connectionsPerAddressMax && !makeRoom(own)) {
        refusedByAddress.value++;
        return null;
      }
      const place: Place = { occupant, sinceMs: clock.monotonicMs(), network, isServed: false };
      all.add(place);
      byClient.set(client, place);
      if (network !== null) {
        const places = byNetwork.get(network);
        if (places === undefined) byNetwork.set(network, new Set([place]));
        else places.add(place);
      }
      return () => release(place);
    },
    serves: (client, occupant) => {
      const place = byClient.get(client);
      if (place === undefined) return;
      place.occupant = occupant;
      place.isServed = true;
    },
  };
}

/** Among the first ones. Those that are busy go to the end, so that the next look finds others. */
function idlest(places: Set<Place>): Place | undefined {
  let [found, foundMs, looked]: [Place | undefined, number, number] = [undefined, Infinity, 0];
  const busy: Place[] = [];
  for (const place of places) {
    if (++looked > LOOKED_MAX) break;
    const { idleSinceMs = place.isServed ? null : place.sinceMs } = place.occupant;
    if (idleSinceMs === null) busy.push(place);
    else if (idleSinceMs < foundMs) [found, foundMs] = [place, idleSinceMs];
  }
  if (found === undefined && looked > LOOKED_MAX)
    for (const place of busy) {
      places.delete(place);
      places.add(place);
    }
  return found;
}

/** Takes a place of both kinds until the connection has closed. Returns false if there is none: then it must be closed. */
export function admitConnection(
  places: ConnectionPlaces,
  address: string,
  occupant: Occupant,
  whenClosed: (closed: () => void) => void,
): boolean {
  if (!places.enter()) return false;
  whenClosed(places.leave);
  // Sockets of both families report IPv4 addresses so.
  const client = { address: address.startsWith("::ffff:") ? address.slice(7) : address };
  const release = places.hold(client, occupant);
  if (release === null) return false;
  places.serves(client, occupant);
  whenClosed(release);
  return true;
}

/** A socket whose state is not known. */
export const alwaysBusy = (socket: Pick<Occupant, "destroy">): Occupant => ({ idleSinceMs: null, destroy: () => socket.destroy() });

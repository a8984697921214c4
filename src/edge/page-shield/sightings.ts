import type { Clock } from "#kernel/clock.ts";
import type { PageSighting } from "#kernel/process/page-sighting.ts";

/** Sightings of a thread on their way to control. */
export interface Sightings {
  add(sighting: PageSighting): void;
  /** Whether the zone may do this once more within the current second. */
  may(zoneId: string, what: Paced): boolean;
  close(): void;
}

/** `page`: one more page asks its browser for reports. `report`: one more body of reports is read. */
export type Paced = "page" | "report";

/** Each page may cause hundreds of reports, and a sample of the pages finds the same scripts. */
const PER_SECOND: Readonly<Record<Paced, number>> = { page: 10, report: 100 };
/** Control needs to know within this time that something is still there. */
const AGAIN_MS = 600_000;
const KNOWN_MAX = 20_000;
/** New ones of a zone that are reported within `SEND_MS`, so that made-up reports cost the database little. */
const NEW_PER_ZONE = 20;
const SEND_MS = 1_000;

export function createSightings(clock: Clock, send: (sightings: readonly PageSighting[]) => void): Sightings {
  /** When each was last reported, the longest ago first. */
  const known = new Map<string, number>();
  const paces = new Map<string, number>();
  let second = 0;
  let waiting: PageSighting[] = [];
  let waitingOf = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    timer = null;
    const sent = waiting;
    waiting = [];
    waitingOf = new Map();
    send(sent);
  };
  return {
    add: (sighting) => {
      const { zone_id: zoneId, kind, host } = sighting;
      const key = JSON.stringify([zoneId, kind, host, kind === "cookie" ? sighting.name : sighting.url]);
      const now = clock.monotonicMs();
      if (now - (known.get(key) ?? -AGAIN_MS) < AGAIN_MS) return;
      const count = waitingOf.get(zoneId) ?? 0;
      if (count >= NEW_PER_ZONE) return;
      waitingOf.set(zoneId, count + 1);
      known.delete(key);
      known.set(key, now);
      if (known.size > KNOWN_MAX) known.delete(known.keys().next().value!);
      waiting.push(sighting);
      timer ??= setTimeout(flush, SEND_MS).unref();
    },
    may: (zoneId, what) => {
      const now = Math.floor(clock.monotonicMs() / 1000);
      if (now !== second) paces.clear();
      second = now;
      const key = `${what} ${zoneId}`;
      const count = (paces.get(key) ?? 0) + 1;
      paces.set(key, count);
      return count <= PER_SECOND[what];
    },
    close: () => {
      if (timer === null) return;
      clearTimeout(timer);
      flush();
    },
  };
}

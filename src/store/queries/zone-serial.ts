import type { Clock } from "#kernel/clock.ts";

export const nowSeconds = (clock: Clock): number => Math.floor(clock.nowMs() / 1000);

/** The largest step after which a serial is a later one (RFC 1982 §3.2). */
export const STEP_MAX = 0x7fff_ffff;

export const SERIAL_MAX = 0xffff_ffff;

/**
 * The serial of a zone in a restored database, as SQL: LOST_CHANGES above the clock, above `served` (the highest serial that this
 * process knows to be published) and above its own value. A serial that is close to the maximum stays, since versions are
 * identified by it.
 */
export function raisedSerial(clock: Clock, served: number): string {
  const now = Math.max(nowSeconds(clock), served);
  return `CASE WHEN ${now} - serial BETWEEN 1 AND ${STEP_MAX - LOST_CHANGES} THEN ${now + LOST_CHANGES} WHEN serial < ${SERIAL_MAX - LOST_CHANGES} THEN serial + ${LOST_CHANGES} ELSE serial END`;
}

/** More than the number of changes since a backup by which a zone's serial can be ahead of the clock. */
const LOST_CHANGES = 100_000;

import { randomBytes } from "node:crypto";
import type { TicketKeys } from "#kernel/process/worker-protocol.ts";

/**
 * The keys that the edge's threads use to seal TLS sessions, so that a visitor can resume a session on any of them (RFC
 * 5077 §4). They are in memory only: an attacker who takes the disk, or the memory a day later, cannot read earlier
 * recordings.
 */
export interface TicketKeyRing {
  keys(): TicketKeys;
  stop(): void;
}

/** Name, key of the seal's checksum, key of the seal. */
const KEY_BYTES = 48;
/**
 * A key seals for this time, and opens for the same time again: longer than a session may be resumed. A visitor who
 * resumes a session of the older key keeps it, and makes one full handshake when it ends.
 */
const KEY_LIFE_MS = 6 * 3_600_000;

export function createTicketKeyRing(onRotated: (keys: TicketKeys) => void, lifeMs = KEY_LIFE_MS): TicketKeyRing {
  let keys: TicketKeys = [randomBytes(KEY_BYTES)];
  const rotation = setInterval(() => {
    keys = [randomBytes(KEY_BYTES), ...keys.slice(0, 1)];
    onRotated(keys);
  }, lifeMs);
  rotation.unref();
  return { keys: () => keys, stop: () => clearInterval(rotation) };
}

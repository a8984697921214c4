import { randomBytes } from "node:crypto";
import type { TicketKeys } from "#kernel/process/worker-protocol.ts";

/**
 * The keys that the edge's threads seal TLS sessions with, so that a visitor can go on with a session at any of them
 * (RFC 5077 §4). They are in memory only: who takes the disk, or the memory a day later, cannot read what was
 * recorded before.
 */
export interface TicketKeyRing {
  keys(): TicketKeys;
  stop(): void;
}

/** Name, secret of the seal's check, secret of the seal. */
const KEY_BYTES = 48;
/**
 * A key seals for so long, and opens for as long again: longer than a session may be resumed. Who goes on with a session
 * of the older one stays with it, and begins anew once when it ends.
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

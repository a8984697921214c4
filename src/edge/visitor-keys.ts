import { deriveKey } from "#kernel/crypto/seal.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { TicketKeys } from "#kernel/process/worker-protocol.ts";
import { VISITOR_KEYS_CONTEXT } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";

/**
 * The keys by which an edge knows visitors again: of TLS sessions and of clearances. Edges of several machines share them, so that a visitor
 * who goes to another one neither makes a full handshake nor solves a challenge again; a process alone has keys that only it knows.
 */
export interface VisitorKeys {
  /** The first one signs, all verify. */
  clearance(): readonly Uint8Array[];
  /** The first one seals, all open (48 bytes each); `own` if edges share none. */
  tickets(own: TicketKeys): TicketKeys;
  onChanged(listener: () => void): void;
}

interface VisitorKeysDeps {
  readonly replica: Replica;
  readonly sealer: Sealer;
  /** For clearances while edges share no keys. */
  readonly clearanceKey: Uint8Array;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

const CLEARANCE_BYTES = 32;
/** Name, key of the seal's checksum, key of the seal. */
const TICKET_BYTES = 48;

export function createVisitorKeys({ replica, sealer, clearanceKey, warn }: VisitorKeysDeps): VisitorKeys {
  const own = [clearanceKey];
  let clearance: readonly Uint8Array[] = own;
  let tickets: TicketKeys | null = null;
  const listeners: (() => void)[] = [];
  const forget = (): void => {
    clearance = own;
    tickets = null;
  };
  followKind(replica, "visitor_keys", {
    clear: forget,
    put: (_id, { keys }) => {
      try {
        const opened = keys.map((key) => sealer.open(key, VISITOR_KEYS_CONTEXT));
        clearance = opened.map((key) => deriveKey(key, "clearance", CLEARANCE_BYTES));
        tickets = opened.map((key) => deriveKey(key, "tickets", TICKET_BYTES));
      } catch (error) {
        warn("the keys that edges share for visitors do not open here; this edge uses its own", { reason: String(error) });
        forget();
      }
    },
    remove: forget,
    changed: () => listeners.forEach((listener) => listener()),
  });
  return {
    clearance: () => clearance,
    tickets: (ownTickets) => tickets ?? ownTickets,
    onChanged: (listener) => void listeners.push(listener),
  };
}

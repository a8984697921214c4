import type { Socket } from "node:net";
import { type Client, subscriberOf } from "#nameserver/message/client.ts";
import { createSlots } from "#nameserver/limits/concurrency-limiter.ts";

/** The connections of a listener, from the first packet on: one that never shakes hands with TLS is in it as any other. */
export interface ConnectionTable {
  /** False where there is no room for the client, who has too many or is one of too many that are all at work. */
  admit(socket: Socket, client: Client): boolean;
  /** The client's connection has asked or taken something just now. */
  touch(client: Client): void;
  destroyAll(): void;
}

interface Entry {
  readonly socket: Socket;
  /** Gives the place free; once. */
  leave(): void;
}

/**
 * At most so many in all and for one subscriber. Where all places are taken, the connection goes that has been idle
 * longest (RFC 7766 §6.2.3): connections that are kept for later must not keep those out who are sent to TCP.
 */
export function createConnectionTable(max: number, perSubscriberMax: number): ConnectionTable {
  const slots = createSlots(max, perSubscriberMax);
  /** By the client's address and port, the one that has been idle longest first. */
  const entries = new Map<string, Entry>();

  const closeIdlest = (): void => {
    const [entry] = entries.values();
    entry?.leave();
    entry?.socket.destroy();
  };
  return {
    admit: (socket, client) => {
      const subscriber = subscriberOf(client);
      if (slots.taken >= max && slots.heldBy(subscriber) < perSubscriberMax) closeIdlest();
      const release = slots.take(subscriber);
      if (!release) return false;
      const key = keyOf(client);
      // Its port is in use again, so that it is gone.
      entries.get(key)?.leave();
      const entry: Entry = {
        socket,
        leave: () => {
          if (entries.get(key) !== entry) return;
          entries.delete(key);
          release();
        },
      };
      entries.set(key, entry);
      socket.once("close", entry.leave);
      return true;
    },
    touch: (client) => {
      const key = keyOf(client);
      const entry = entries.get(key);
      if (!entry) return;
      entries.delete(key);
      entries.set(key, entry);
    },
    destroyAll: () => {
      for (const { socket } of entries.values()) socket.destroy();
    },
  };
}

const keyOf = ({ address, port }: Client): string => `${Buffer.from(address).toString("hex")} ${port}`;

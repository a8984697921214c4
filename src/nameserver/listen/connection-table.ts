import type { Socket } from "node:net";
import { type Client, subscriberOf } from "#nameserver/message/client.ts";
import { createConcurrencyLimiter } from "#nameserver/limits/concurrency-limiter.ts";

/** The connections of a listener from their first packet on, so that connections without a complete TLS handshake count too. */
export interface ConnectionTable {
  /** Returns false if the client has too many connections, or all connections are busy. */
  admit(socket: Socket, client: Client): boolean;
  /** The client's connection was just active. */
  touch(client: Client): void;
  destroyAll(): void;
}

interface Entry {
  readonly socket: Socket;
  /** Frees the slot; only the first call has an effect. */
  leave(): void;
}

/**
 * Limits connections in total and per subscriber. At the limit, closes the connection that has been idle longest (RFC
 * 7766 §6.2.3), so that idle connections do not keep out clients whose UDP answer was truncated.
 */
export function createConnectionTable(max: number, perSubscriberMax: number): ConnectionTable {
  const slots = createConcurrencyLimiter(max, perSubscriberMax);
  /** Keyed by the client's address and port, the longest idle first. */
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
      // The same port is used again, so the older connection is gone.
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

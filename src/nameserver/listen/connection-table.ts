import type { Socket } from "node:net";
import { type Client, subscriberOf } from "#nameserver/message/client.ts";
import { createConcurrencyLimiter } from "#nameserver/limits/concurrency-limiter.ts";

/** The connections of a listener from their first packet on, so that connections without a complete TLS handshake count too. */
export interface ConnectionTable {
  /** Returns false if every connection that could be closed for this one is busy. */
  admit(socket: Socket, client: Client): boolean;
  /** From now on, `isBusy` says whether the client waits for an answer that is being made. */
  serve(client: Client, isBusy: () => boolean): void;
  /** The client's connection was just active. */
  touch(client: Client): void;
  destroyAll(): void;
}

interface Entry {
  readonly socket: Socket;
  /** Frees the slot; only the first call has an effect. */
  leave(): void;
  isBusy(): boolean;
}

/** Keyed by the client's address and port, the longest idle first. */
type Entries = Map<string, Entry>;

/**
 * Limits connections in total and per subscriber. At a limit, closes the connection that has been idle longest (RFC 7766
 * §6.2.3), of that subscriber or of all, so that idle connections do not keep out clients whose UDP answer was truncated.
 */
export function createConnectionTable(max: number, perSubscriberMax: number): ConnectionTable {
  const slots = createConcurrencyLimiter(max, perSubscriberMax);
  const entries: Entries = new Map();
  const bySubscriber = new Map<string, Entries>();

  return {
    admit: (socket, client) => {
      const subscriber = subscriberOf(client);
      const own = bySubscriber.get(subscriber) ?? new Map<string, Entry>();
      if (slots.heldBy(subscriber) >= perSubscriberMax) close(idlest(own));
      // If all are busy, the one without a message for longest is closed, since the next client may be another one.
      else if (slots.taken >= max) close(idlest(entries) ?? first(entries));
      const release = slots.take(subscriber);
      if (!release) return false;
      const key = keyOf(client);
      // The same port is used again, so the older connection is gone.
      entries.get(key)?.leave();
      const entry: Entry = {
        socket,
        isBusy: () => false,
        leave: () => {
          if (entries.get(key) !== entry) return;
          entries.delete(key);
          own.delete(key);
          if (own.size === 0 && bySubscriber.get(subscriber) === own) bySubscriber.delete(subscriber);
          release();
        },
      };
      entries.set(key, entry);
      own.set(key, entry);
      bySubscriber.set(subscriber, own);
      socket.once("close", entry.leave);
      return true;
    },
    serve: (client, isBusy) => {
      const entry = entries.get(keyOf(client));
      if (entry) entry.isBusy = isBusy;
    },
    touch: (client) => {
      const key = keyOf(client);
      const entry = entries.get(key);
      if (!entry) return;
      for (const ordered of [entries, bySubscriber.get(subscriberOf(client)) as Entries]) {
        ordered.delete(key);
        ordered.set(key, entry);
      }
    },
    destroyAll: () => {
      for (const { socket } of entries.values()) socket.destroy();
    },
  };
}

const first = (entries: Entries): Entry | undefined => entries.values().next().value;

function idlest(entries: Entries): Entry | undefined {
  for (const entry of entries.values()) if (!entry.isBusy()) return entry;
  return undefined;
}

function close(entry: Entry | undefined): void {
  entry?.leave();
  entry?.socket.destroy();
}

const keyOf = ({ address, port }: Client): string => `${Buffer.from(address).toString("hex")} ${port}`;

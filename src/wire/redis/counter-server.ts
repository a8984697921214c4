import { setTimeout as delay } from "node:timers/promises";
import { readRegularFile } from "#kernel/process/regular-file.ts";
import { slotOf } from "./cluster-slot.ts";
import { LEASE_SCRIPT, LEASE_SCRIPT_SHA } from "./lease-script.ts";
import { openRedis, type RedisConnection } from "./redis-connection.ts";
import { RedisError, type RedisReply } from "./resp.ts";

/** A connection to the server that counts for all machines, or to its cluster; made again for as long as it is not closed. */
export interface CounterServer {
  /** Whether the machines can count together now. */
  isUp(): boolean;
  /** Runs the script for one key; null without an answer. */
  lease(key: string, ...args: readonly (string | number)[]): Promise<readonly number[] | null>;
  close(): void;
}

/** Where the server is; plain data, which can be sent to a thread. */
export interface CounterPlace {
  /** `redis://…` or `rediss://…`, with the password. */
  readonly url: string;
  /** PEM file of the authority of the server's certificate; empty: the system's authorities. */
  readonly ca: string;
}

/** Connects once and returns the name and version of the server; rejects with the reason if it cannot be used. */
export async function counterServerVersion({ url, ca }: CounterPlace): Promise<string> {
  const connection = await openRedis({ url, ca: ca === "" ? "" : readRegularFile(ca).toString(), timeoutMs: VERSION_TIMEOUT_MS });
  try {
    const info = String(await connection.call("INFO", "server"));
    const version = (name: string): string | undefined =>
      info
        .split("\r\n")
        .find((line) => line.startsWith(`${name}_version:`))
        ?.split(":")[1];
    const valkey = version("valkey");
    return valkey === undefined ? `Redis ${version("redis") ?? "of unknown version"}` : `Valkey ${valkey}`;
  } finally {
    connection.close();
  }
}

const VERSION_TIMEOUT_MS = 5_000;

export interface CounterServerDeps extends CounterPlace {
  /** A key on which the script is tried before others rely on it. */
  readonly probeKey: string;
  /** Called when the machines begin to count together. */
  onUp?(): void;
  /** Called when they cannot, with the reason; once until they can again or the reason is another. */
  onDown?(reason: string): void;
}

const TIMEOUT_MS = 500;
const RETRY_MS = 1_000;
const JITTER_MS = 500;
const MEMBERS_MAX = 64;
/** Redirections for one call, while a cluster moves its slots. */
const MOVES_MAX = 3;
const PROBE = [1, 60_000, "0", -1, 0, 0, 0, 0, 0, 0] as const;
/** Errors of a member of a cluster that pass by themselves. */
const PASSING = /^(?:ASK|TRYAGAIN|CLUSTERDOWN) /;
const MOVED = /^MOVED (\d{1,5}) (\S{1,255})$/;

export function createCounterServer(deps: CounterServerDeps): CounterServer {
  const { onUp = () => undefined, onDown = () => undefined } = deps;
  const stopping = new AbortController();
  let current: RedisConnection | null = null;
  let isUp = false;
  /** The last reason that was reported. */
  let said = "";
  /** Members of the cluster, by address; null while one cannot be reached. */
  const members = new Map<string, RedisConnection | null | Promise<RedisConnection | null>>();
  const slots = new Map<number, string>();

  const open = (address?: string): Promise<RedisConnection> =>
    openRedis({
      ...{ url: deps.url, ca: deps.ca === "" ? "" : readRegularFile(deps.ca).toString(), timeoutMs: TIMEOUT_MS },
      ...(address === undefined ? {} : { address }),
    });
  const memberAt = (address: string): Promise<RedisConnection | null> => {
    const known = members.get(address);
    if (known !== undefined) return Promise.resolve(known);
    if (members.size >= MEMBERS_MAX) return Promise.resolve(null);
    const opening = open(address).then(
      (connection) => {
        if (stopping.signal.aborted) connection.close();
        members.set(address, connection);
        void connection.closed.then(() => members.delete(address));
        return connection;
      },
      () => {
        members.set(address, null);
        setTimeout(() => members.delete(address), RETRY_MS).unref();
        return null;
      },
    );
    members.set(address, opening);
    return opening;
  };
  const connectionFor = (slot: number): RedisConnection | null | Promise<RedisConnection | null> => {
    const address = slots.get(slot);
    return address === undefined ? current : memberAt(address);
  };
  const evaluate = async (connection: RedisConnection, key: string, args: readonly (string | number)[]): Promise<RedisReply> => {
    try {
      return await connection.call("EVALSHA", LEASE_SCRIPT_SHA, 1, key, ...args);
    } catch (error) {
      if (!(error instanceof RedisError) || !error.message.startsWith("NOSCRIPT")) throw error;
      return connection.call("EVAL", LEASE_SCRIPT, 1, key, ...args);
    }
  };
  const ask = async (key: string, args: readonly (string | number)[]): Promise<readonly number[] | null> => {
    const slot = slotOf(key);
    for (let moves = 0; moves <= MOVES_MAX; moves++) {
      const connection = await connectionFor(slot);
      if (connection === null) return null;
      try {
        return numbers(await evaluate(connection, key, args));
      } catch (error) {
        const address = error instanceof RedisError ? MOVED.exec(error.message)?.[2] : undefined;
        if (address === undefined) throw error;
        slots.set(slot, address);
      }
    }
    return null;
  };

  const follow = async (): Promise<string> => {
    const connection = await open();
    if (stopping.signal.aborted) connection.close();
    current = connection;
    try {
      if ((await ask(deps.probeKey, PROBE)) === null) return "a member of the cluster cannot be reached";
      isUp = true;
      said = "";
      onUp();
      return await connection.closed;
    } finally {
      isUp = false;
      current = null;
      connection.close();
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const reason = await follow().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      if (stopping.signal.aborted) return;
      if (reason !== said) onDown(reason);
      said = reason;
      await delay(RETRY_MS + Math.random() * JITTER_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  };
  void run();
  return {
    isUp: () => isUp,
    lease: async (key, ...args) => {
      if (!isUp) return null;
      try {
        return await ask(key, args);
      } catch (error) {
        // A server that answers with an error, as one that is full or read-only, cannot count.
        if (error instanceof RedisError && !PASSING.test(error.message)) current?.close(error.message);
        return null;
      }
    },
    close: () => {
      stopping.abort();
      current?.close();
      for (const member of members.values()) void Promise.resolve(member).then((connection) => connection?.close());
    },
  };
}

function numbers(reply: RedisReply): readonly number[] {
  if (!Array.isArray(reply) || !reply.every((item) => typeof item === "number")) throw new RedisError("the script gave another answer");
  return reply;
}

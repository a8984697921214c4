import type { MessagePort } from "node:worker_threads";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Group, GroupQuery } from "#events/sql/group-query.ts";
import type { RowsSinceQuery, RowsSince } from "./rows-since.ts";
import { createFairQueue } from "./fair-queue.ts";
import type { EventQueries, PageQuery, RowPage } from "./queries.ts";
import type { CountedValues, ValueQuery } from "./value-counts.ts";
import type { EventTable } from "#events/rows/rows.ts";
import type { LogScope } from "./log-pieces.ts";
import type { GatewayLogReads } from "./log-reads.ts";
import { type CutResult, joinResult } from "./reply-pieces.ts";
import { type Condition, isCondition, type Where } from "#events/sql/where-sql.ts";

/** Possibly slow queries of EventQueries, run in a separate thread so that other work does not wait for them. */
export interface EventReads {
  page<T extends EventTable>(table: T, query: PageQuery<T>): Promise<RowPage<T>>;
  arrivals<T extends EventTable>(table: T, query: RowsSinceQuery<T>): Promise<RowsSince<T>>;
  lastRow(table: EventTable): Promise<number>;
  groups<T extends EventTable>(table: T, query: GroupQuery<T>): Promise<readonly Group[]>;
  values(table: "security_events", query: ValueQuery): Promise<CountedValues>;
}

export interface ReadMessage {
  readonly request: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

export type ReadReply = { readonly request: number } & (
  | { readonly result: unknown }
  | { readonly cut: CutResult }
  | { readonly error: { readonly name: ErrorName; readonly message: string } }
);

/** Runs in the caller's thread. */
export const localReads = (queries: EventQueries): EventReads => ({
  page: async (table, query) => queries.page(table, query),
  arrivals: async (table, query) => queries.arrivals(table, query),
  lastRow: async (table) => queries.lastRow(table),
  groups: async (table, query) => queries.groups(table, query),
  values: async (table, query) => queries.values(table, query),
});

/** Questions to a reading thread. */
export interface ThreadPort {
  /** The port of the thread, at first or after a restart. */
  connect(port: MessagePort): void;
  close(): void;
}
export type ThreadReads = EventReads & ThreadPort;
export type ThreadLogReads = GatewayLogReads & ThreadPort;

/**
 * Limits of waiting queries of one zone or account, and of all: more are refused, because each may take the thread half a
 * second.
 */
const WAITING_MAX = { ofOne: 64, ofAll: 1024 } as const;
/** One that the thread works on, and one so that it need not wait for the next. */
const POSTED_MAX = 2;
const ANSWER_TIMEOUT_MS = 30_000;

/** Logs of gateways are read in pieces, so several reads go on at the same time. */
export const LOG_READS_MAX = 8;

export function createThreadReads(postedMax = POSTED_MAX): ThreadReads {
  const { ask, ...port } = createThreadAsker<keyof EventReads>(postedMax, scopeOf);
  return {
    ...port,
    page: ask.bind(null, "page") as EventReads["page"],
    arrivals: ask.bind(null, "arrivals") as EventReads["arrivals"],
    lastRow: ask.bind(null, "lastRow") as EventReads["lastRow"],
    groups: ask.bind(null, "groups") as EventReads["groups"],
    values: ask.bind(null, "values") as EventReads["values"],
  };
}

export function createThreadLogReads(): ThreadLogReads {
  const { ask, ...port } = createThreadAsker<keyof GatewayLogReads>(LOG_READS_MAX, ([scope]) => (scope as LogScope).account_id);
  return {
    ...port,
    list: ask.bind(null, "list") as GatewayLogReads["list"],
    count: ask.bind(null, "count") as GatewayLogReads["count"],
    bounds: ask.bind(null, "bounds") as GatewayLogReads["bounds"],
    averages: ask.bind(null, "averages") as GatewayLogReads["averages"],
    places: ask.bind(null, "places") as GatewayLogReads["places"],
  };
}

/** Throws `database_unavailable` if the thread is gone, behind or too slow. */
function createThreadAsker<Name extends string>(
  postedMax: number,
  ownerOf: (args: readonly unknown[]) => string,
): ThreadPort & { ask(name: Name, ...args: readonly unknown[]): Promise<unknown> } {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const queue = createFairQueue<ReadMessage>(WAITING_MAX);
  const posted = new Set<number>();
  let port: MessagePort | null = null;
  let last = 0;

  const end = (request: number, settle: (waiter: PromiseWithResolvers<unknown>) => void): void => {
    const waiter = waiting.get(request);
    waiting.delete(request);
    if (waiter !== undefined) settle(waiter);
  };
  const refuse = (request: number): void => end(request, ({ reject }) => reject(new PlatformError("database_unavailable")));

  const post = (): void => {
    while (posted.size < postedMax) {
      const message = queue.next();
      if (message === undefined) return;
      // Queries that took too long have no waiting caller.
      if (!waiting.has(message.request)) continue;
      posted.add(message.request);
      port?.postMessage(message);
    }
  };

  const ask = async (name: Name, ...args: readonly unknown[]): Promise<unknown> => {
    const request = last + 1;
    if (port === null || !queue.add(ownerOf(args), { request, name, args })) throw new PlatformError("database_unavailable");
    last = request;
    const waiter = Promise.withResolvers<unknown>();
    waiting.set(request, waiter);
    const limit = setTimeout(() => refuse(request), ANSWER_TIMEOUT_MS);
    post();
    return waiter.promise.finally(() => clearTimeout(limit));
  };

  const onReply = (reply: ReadReply): void => {
    posted.delete(reply.request);
    post();
    end(reply.request, ({ resolve, reject }) => {
      if ("cut" in reply) joinResult(reply.cut).then(resolve, reject);
      else if ("error" in reply) reject(new PlatformError(reply.error.name, { message: reply.error.message }));
      else resolve(reply.result);
    });
  };

  const leave = (): void => {
    port = null;
    queue.clear();
    posted.clear();
    for (const request of [...waiting.keys()]) refuse(request);
  };

  return {
    ask,
    connect: (next) => {
      leave();
      port = next;
      next.on("message", onReply);
      next.on("close", () => port === next && leave());
      next.unref();
    },
    close: () => {
      port?.close();
      leave();
    },
  };
}

/** The zone or account of the query; one shared name for all other queries. */
function scopeOf([, question]: readonly unknown[]): string {
  const { where = [] } = (question ?? {}) as { readonly where?: Where };
  const site = where.find(
    (part) => isCondition(part) && (part.column === "zone_id" || part.column === "account_id") && part.operator === "eq",
  );
  return site === undefined ? "" : String((site as Condition).value);
}

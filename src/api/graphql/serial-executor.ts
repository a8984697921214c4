import type { GraphQLResolveInfo } from "graphql";
import type { Place } from "#control/long-reads.ts";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { AnalyticsScope } from "#model/events/analytics.ts";
import { inSlices } from "./slices.ts";
import { valuesInRow } from "./selected-fields.ts";

/** Limit of data nodes in one request: an exporter requests five or six for each of ten zones. */
const NODES_MAX = 100;
/** Limit of values in each row or group, including aliases. */
export const VALUES_IN_ROW_MAX = 200;
/** Limit of values in one answer. GraphQL creates and checks them one by one on the thread that answers all requests. */
const VALUES_MAX = 500_000;
/** Values that GraphQL creates and checks in one tick. */
const VALUES_AT_ONCE = 1_000;
/** Later nodes are refused. */
const BEGINNING_MAX_MS = 20_000;

/** The rows of a node, of which GraphQL creates a slice in each tick. */
export type Sliced<T> = readonly T[] | AsyncIterable<T>;

/** Work of a node: its rows, and how each of them is shown. */
export interface NodeWork<T, R> {
  /** Null if nothing is read. */
  readonly scope: AnalyticsScope | null;
  find(): Promise<readonly T[]>;
  show(row: T): R;
}

export interface SerialExecutor {
  /** Does the work of a node after the nodes before it. */
  run<T, R>(info: GraphQLResolveInfo, work: NodeWork<T, R>): Promise<Sliced<R>>;
  /** The request's place, if a node has begun. */
  place(): Place | undefined;
}

/**
 * Runs the nodes of one request one after the other, in one place of the account of the first: between them, the thread
 * that reads events serves other queries, and reads stop once the request has used up its limits, has failed because of
 * a node, or its client has left. Throws `invalid_input` for too many nodes, values in a row, or values in all, and if it
 * takes too long.
 */
export function createSerialExecutor(begin: (scope: AnalyticsScope) => Promise<Place>): SerialExecutor {
  let startMs: number | undefined;
  let place: Place | undefined;
  let nodes = 0;
  let values = 0;
  let last: Promise<unknown> = Promise.resolve();
  const take = async <T, R>(info: GraphQLResolveInfo, { scope, find, show }: NodeWork<T, R>): Promise<Sliced<R>> => {
    if (scope !== null) place ??= await begin(scope);
    place?.check();
    startMs ??= systemClock.monotonicMs();
    if (systemClock.monotonicMs() - startMs > BEGINNING_MAX_MS)
      throw refusal("this request takes too long: query fewer nodes or a shorter time range");
    const inRow = valuesInRow(info, VALUES_IN_ROW_MAX + 1);
    if (inRow > VALUES_IN_ROW_MAX) throw refusal(`a node can return at most ${VALUES_IN_ROW_MAX} values of each row or group`);
    const found = await find();
    values += found.length * inRow;
    if (values > VALUES_MAX) throw refusal(`one response can contain at most ${VALUES_MAX} values: query fewer fields, rows or zones`);
    return inSlices(found, Math.ceil(VALUES_AT_ONCE / inRow), show);
  };
  return {
    place: () => place,
    run: (info, work) => {
      nodes += 1;
      if (nodes > NODES_MAX) throw refusal(`one request can contain at most ${NODES_MAX} data nodes`);
      // A failed node makes the whole answer null, so the nodes after it fail in the same way.
      const turn = last.then(async () => take(info, work));
      last = turn;
      return turn;
    },
  };
}

const refusal = (message: string): PlatformError => new PlatformError("invalid_input", { message });

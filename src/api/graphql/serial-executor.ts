import type { GraphQLResolveInfo } from "graphql";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { valuesInRow } from "./selected-fields.ts";

/** Limit of data nodes in one request: an exporter requests five or six for each of ten zones. */
const NODES_MAX = 100;
/** Limit of values in each row or group, including aliases. */
export const VALUES_IN_ROW_MAX = 200;
/** Limit of values in one answer. GraphQL creates and checks them one by one on the thread that answers all requests. */
const VALUES_MAX = 500_000;
/** Later nodes are refused. */
const BEGINNING_MAX_MS = 20_000;

/** Does the work of a node after the nodes before it; see createSerialExecutor. */
export type RunSerially = <T>(info: GraphQLResolveInfo, work: () => Promise<readonly T[]>) => Promise<readonly T[]>;

/**
 * Runs the nodes of one request one after the other: between them, the thread that reads events serves other queries, and
 * reads stop once the request has used up its limits, or has failed because of a node. Throws `invalid_input` for too
 * many nodes, values in a row, or values in all, and if it takes too long.
 */
export function createSerialExecutor(): RunSerially {
  const startMs = systemClock.monotonicMs();
  let nodes = 0;
  let values = 0;
  let last: Promise<unknown> = Promise.resolve();
  const take = async <T>(info: GraphQLResolveInfo, work: () => Promise<readonly T[]>): Promise<readonly T[]> => {
    if (systemClock.monotonicMs() - startMs > BEGINNING_MAX_MS)
      throw refusal("this request takes too long: query fewer nodes or a shorter time range");
    const inRow = valuesInRow(info, VALUES_IN_ROW_MAX + 1);
    if (inRow > VALUES_IN_ROW_MAX) throw refusal(`a node can return at most ${VALUES_IN_ROW_MAX} values of each row or group`);
    const found = await work();
    values += found.length * inRow;
    if (values > VALUES_MAX) throw refusal(`one response can contain at most ${VALUES_MAX} values: query fewer fields, rows or zones`);
    return found;
  };
  return (info, work) => {
    nodes += 1;
    if (nodes > NODES_MAX) throw refusal(`one request can contain at most ${NODES_MAX} data nodes`);
    // A failed node makes the whole answer null, so the nodes after it fail in the same way.
    const turn = last.then(async () => take(info, work));
    last = turn;
    return turn;
  };
}

const refusal = (message: string): PlatformError => new PlatformError("invalid_input", { message });

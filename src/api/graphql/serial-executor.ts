import type { GraphQLResolveInfo } from "graphql";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { valuesInRow } from "./selected-fields.ts";

/** Nodes of data that one request may ask for: an exporter asks for five or six of each of ten zones. */
const NODES_MAX = 100;
/** Values that each row or group may show, aliases counted. */
export const VALUES_IN_ROW_MAX = 200;
/** Values in one answer. GraphQL makes and checks them one by one on the thread that everything else is answered on. */
const VALUES_MAX = 500_000;
/** No node is begun later than this. */
const BEGINNING_MAX_MS = 20_000;

/** Does the work of a node after that of the nodes before it; see createSerialExecutor. */
export type InTurn = <T>(info: GraphQLResolveInfo, work: () => Promise<readonly T[]>) => Promise<readonly T[]>;

/**
 * The nodes of one request, one after the other: the thread that reads events goes on to the questions of others between them,
 * and nothing more is read once the request has used up what it may, or cannot be answered any more because a node failed.
 * Throws `invalid_input` for too many nodes, values in a row, or values in all, and for what takes too long.
 */
export function createSerialExecutor(): InTurn {
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
    // A node that failed makes the whole answer null, so that those behind it share its failure.
    const turn = last.then(async () => take(info, work));
    last = turn;
    return turn;
  };
}

const refusal = (message: string): PlatformError => new PlatformError("invalid_input", { message });

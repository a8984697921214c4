import { deserialize, serialize } from "node:v8";
import { backgroundTurn } from "#kernel/background-turn.ts";

/** A piece of so many rows takes the receiving thread about 2 ms. */
const ROWS_AT_ONCE = 200;

/** A result of which the longest list crosses in pieces, because a thread reads a whole message at once. */
export interface CutResult {
  /** The result, with an empty list. */
  readonly rest: unknown;
  /** The member that is the list; null if the result itself is. */
  readonly member: string | null;
  readonly pieces: readonly Uint8Array[];
}

const LISTS = ["rows", "values"] as const;

/** Undefined if the result is short enough for one message. */
export function cutResult(result: unknown): CutResult | undefined {
  if (Array.isArray(result)) return result.length > ROWS_AT_ONCE ? { rest: [], member: null, pieces: piecesOf(result) } : undefined;
  if (typeof result !== "object" || result === null) return undefined;
  for (const member of LISTS) {
    const list: unknown = (result as Readonly<Record<string, unknown>>)[member];
    if (Array.isArray(list) && list.length > ROWS_AT_ONCE) return { rest: { ...result, [member]: [] }, member, pieces: piecesOf(list) };
  }
  return undefined;
}

/** Reads a piece in each turn. */
export async function joinResult({ rest, member, pieces }: CutResult): Promise<unknown> {
  const list: unknown[] = [];
  for (const piece of pieces) {
    await backgroundTurn();
    for (const item of deserialize(piece) as unknown[]) list.push(item);
  }
  return member === null ? list : { ...(rest as object), [member]: list };
}

function piecesOf(list: readonly unknown[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < list.length; at += ROWS_AT_ONCE) pieces.push(serialize(list.slice(at, at + ROWS_AT_ONCE)));
  return pieces;
}

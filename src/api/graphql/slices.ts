import { backgroundTurn } from "#kernel/background-turn.ts";

/** Characters of an answer that are made in one tick. */
const TEXT_AT_ONCE = 65_536;
/** Members of objects and lists down to the rows of `data.viewer.zones[0].node` are written one by one. */
const DEPTH_MAX = 6;

/** The items, shown; of many, so many in each tick. */
export const inSlices = <T, R>(items: readonly T[], atOnce: number, show: (item: T) => R): readonly R[] | AsyncIterable<R> =>
  items.length <= atOnce ? items.map(show) : slices(items, atOnce, show);

async function* slices<T, R>(items: readonly T[], atOnce: number, show: (item: T) => R): AsyncGenerator<R> {
  for (const [at, item] of items.entries()) {
    if (at % atOnce === 0) await backgroundTurn();
    yield show(item);
  }
}

/** The value as JSON, of which a part is made in each tick. */
export async function* jsonParts(value: object): AsyncGenerator<string, undefined> {
  let part = "";
  for (const token of tokens(value, 0)) {
    part += token;
    if (part.length < TEXT_AT_ONCE) continue;
    yield part;
    part = "";
    await backgroundTurn();
  }
  if (part !== "") yield part;
  return undefined;
}

/** Like JSON.stringify, for values that contain no undefined members. */
function* tokens(value: unknown, depth: number): Generator<string> {
  if (depth >= DEPTH_MAX || typeof value !== "object" || value === null) yield JSON.stringify(value ?? null);
  else if (Array.isArray(value)) {
    let before = "[";
    for (const item of value) {
      yield before;
      yield* tokens(item, depth + 1);
      before = ",";
    }
    yield value.length === 0 ? "[]" : "]";
  } else {
    let before = "{";
    for (const [name, member] of Object.entries(value)) {
      yield `${before}${JSON.stringify(name)}:`;
      yield* tokens(member, depth + 1);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  }
}

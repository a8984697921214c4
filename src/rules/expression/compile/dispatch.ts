import type { Work } from "#kernel/process/slices.ts";
import { LargeMap } from "#kernel/large-map.ts";
import type { Predicate, RequestView, ResponseView } from "#rules/views.ts";
import { compileValue } from "./compile.ts";
import { guardCost, type Guard, guardsOf, nameOf } from "./index-guards.ts";
import { type Lookup, type LookupBuilder, LOOKUPS } from "./dispatch-index.ts";
import type { TypedNode } from "#rules/expression/check/typed-ast.ts";

/** Many filters, of which a request evaluates only possible matches, in order. */
export interface Dispatch {
  /** Starts a scan at the first filter. A scan is for one request and one phase, within which fields do not change. */
  scan(request: RequestView, response: ResponseView | null, asking?: Asking): DispatchScan;
}

export interface DispatchScan {
  /** Returns the number of the filter under evaluation, for errors; of several that are searched at once, the first. */
  next(): number;
}

/** Tells which filter is under evaluation, for errors; of several that are searched at once, the first. */
export interface Asking {
  asked: number;
}

const TREES = new WeakMap<Predicate, TypedNode>();

/** Remembers the tree of a predicate, for creatingDispatch. */
export function rememberTree(predicate: Predicate, tree: TypedNode): Predicate {
  TREES.set(predicate, tree);
  return predicate;
}

/**
 * Looks a value up once for all filters that test it, to find the filters that can match: `http.host eq "a"` and
 * `http.request.uri.path contains "/b"` of a thousand rules are two look-ups. Only those are evaluated, and filters
 * without a guard. In steps, because a thousand filters can have a hundred thousand guards.
 */
export function* creatingDispatch(filters: readonly Predicate[]): Work<Dispatch> {
  const builders = new Map<string, SharedBuilder>();
  const always = new Uint32Array(Math.ceil(filters.length / 32));
  for (const [number, guards] of (yield* choosingGuards(filters)).entries()) {
    if (guards === undefined) addBit(always, number);
    else for (const guard of guards) builderFor(builders, guard, number).add(guard, number);
    yield unitsOfAll(guards ?? []);
  }
  const lookups: (Lookup & Pick<SharedBuilder, "first">)[] = [];
  for (const { first, builder } of builders.values()) lookups.push({ first, ...(yield* builder.finishing()) });
  return { scan: (request, response, asking = { asked: 0 }) => new BitScan(filters, always, lookups, request, response, asking) };
}

/** For each filter the guards that it shares with the fewest others; undefined if it has none. */
function* choosingGuards(filters: readonly Predicate[]): Work<readonly (readonly Guard[] | undefined)[]> {
  const rows: (readonly (readonly Guard[])[])[] = [];
  for (const filter of filters) {
    const tree = TREES.get(filter);
    const row = tree === undefined ? [] : guardsOf(tree);
    rows.push(row);
    yield unitsOfRow(row);
  }
  // Most filters leave no choice, and a hundred thousand names are much to collect again.
  if (rows.every((row) => row.length < 2)) return rows.map((row) => row[0]);
  const sharedBy = new LargeMap<number>();
  for (const row of rows) {
    for (const name of row.flat().map(nameOf)) sharedBy.set(name, (sharedBy.get(name) ?? 0) + 1);
    yield unitsOfRow(row);
  }
  const shared = (guards: readonly Guard[]): number => guards.reduce((sum, guard) => sum + (sharedBy.get(nameOf(guard)) ?? 0), 0);
  const chosen: (readonly Guard[] | undefined)[] = [];
  for (const row of rows) {
    const costs = row.map((guards) => ({ guards, shared: row.length < 2 ? 0 : shared(guards), cost: guardCost(guards) }));
    chosen.push(costs.toSorted((a, b) => a.shared - b.shared || a.cost - b.cost)[0]?.guards);
    yield unitsOfRow(row);
  }
  return chosen;
}

/** Measured: a guard takes about as long in each step. */
const GUARD_UNITS = 1;
const TEXT_UNITS = 0.2;

const unitsOf = (guard: Guard): number => GUARD_UNITS + (guard.kind === "part" ? guard.texts.join("").length * TEXT_UNITS : 0);

const unitsOfAll = (guards: readonly Guard[]): number => guards.reduce((sum, guard) => sum + unitsOf(guard), GUARD_UNITS);

const unitsOfRow = (row: readonly (readonly Guard[])[]): number => row.reduce((sum, guards) => sum + unitsOfAll(guards), GUARD_UNITS);

interface SharedBuilder {
  /** The first filter that shares it. */
  readonly first: number;
  readonly builder: LookupBuilder;
}

function builderFor(builders: Map<string, SharedBuilder>, guard: Guard, number: number): LookupBuilder {
  const name = `${guard.kind} ${guard.value.text}`;
  const known = builders.get(name) ?? { first: number, builder: LOOKUPS[guard.kind](compileValue(guard.value)) };
  builders.set(name, known);
  return known.builder;
}

function addBit(words: Uint32Array, number: number): void {
  words[number >> 5] = (words[number >> 5] ?? 0) | (1 << (number & 31));
}

/** One bit for each filter that may match, taken from the lowest on. */
class BitScan implements DispatchScan {
  readonly #filters: readonly Predicate[];
  readonly #request: RequestView;
  readonly #response: ResponseView | null;
  readonly #words: Uint32Array;
  readonly #asking: Asking;
  #at = 0;

  constructor(
    filters: readonly Predicate[],
    always: Uint32Array,
    lookups: readonly (Lookup & Pick<SharedBuilder, "first">)[],
    request: RequestView,
    response: ResponseView | null,
    asking: Asking,
  ) {
    this.#filters = filters;
    this.#request = request;
    this.#response = response;
    this.#asking = asking;
    const words = always.slice();
    this.#words = words;
    const found = (numbers: readonly number[]): void => {
      for (const number of numbers) addBit(words, number);
    };
    for (const lookup of lookups) {
      asking.asked = lookup.first;
      const value = lookup.read(request, response);
      if (value !== undefined) lookup.find(value, found);
    }
  }

  next(): number {
    const words = this.#words;
    while (this.#at < words.length) {
      const word = words[this.#at] ?? 0;
      if (word === 0) {
        this.#at++;
        continue;
      }
      const lowest = word & -word;
      words[this.#at] = word ^ lowest;
      const number = this.#at * 32 + 31 - Math.clz32(lowest);
      this.#asking.asked = number;
      if (this.#filters[number]?.(this.#request, this.#response) === true) return number;
    }
    return -1;
  }
}

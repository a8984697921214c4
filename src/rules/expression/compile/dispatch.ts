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

/** Remembers the tree of a predicate, for createDispatch. */
export function rememberTree(predicate: Predicate, tree: TypedNode): Predicate {
  TREES.set(predicate, tree);
  return predicate;
}

/**
 * Looks a value up once for all filters that test it, to find the filters that can match: `http.host eq "a"` and
 * `http.request.uri.path contains "/b"` of a thousand rules are two look-ups. Only those are evaluated, and filters
 * without a guard.
 */
export function createDispatch(filters: readonly Predicate[]): Dispatch {
  const builders = new Map<string, SharedBuilder>();
  const always = new Uint32Array(Math.ceil(filters.length / 32));
  for (const [number, guards] of chooseGuards(filters).entries()) {
    if (guards === undefined) addBit(always, number);
    else for (const guard of guards) builderFor(builders, guard, number).add(guard, number);
  }
  const lookups = Array.from(builders.values(), ({ first, builder }) => ({ first, ...builder.finish() }));
  return { scan: (request, response, asking = { asked: 0 }) => new BitScan(filters, always, lookups, request, response, asking) };
}

/** For each filter the guards that it shares with the fewest others; undefined if it has none. */
function chooseGuards(filters: readonly Predicate[]): readonly (readonly Guard[] | undefined)[] {
  const rows = filters.map((filter) => {
    const tree = TREES.get(filter);
    return tree === undefined ? [] : guardsOf(tree).map((guards) => ({ guards, names: guards.map(nameOf) }));
  });
  const sharedBy = new Map<string, number>();
  for (const { names } of rows.flat()) for (const name of names) sharedBy.set(name, (sharedBy.get(name) ?? 0) + 1);
  const shared = (names: readonly string[]): number => names.reduce((sum, name) => sum + (sharedBy.get(name) ?? 0), 0);
  const ordered = rows.map((row) => row.toSorted((a, b) => shared(a.names) - shared(b.names) || guardCost(a.guards) - guardCost(b.guards)));
  return ordered.map((row) => row[0]?.guards);
}

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

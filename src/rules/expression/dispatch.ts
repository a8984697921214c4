import type { Predicate } from "../types.ts";
import type { RequestView, ResponseView } from "../views.ts";
import { readAddress } from "./address-set.ts";
import { compileValue, type Reader } from "./compile.ts";
import type { TypedNode, TypedValue } from "./typed.ts";

/** Many filters, asked of one request after the other without asking each. */
export interface Dispatch {
  /** Begins with the first filter. A scan is for one request and one phase, within which fields do not change. */
  scan(request: RequestView, response: ResponseView | null): Scan;
}

export interface Scan {
  /** The number of the next filter that applies, in their order; -1 when there is none any more. */
  next(): number;
}

const TREES = new WeakMap<Predicate, TypedNode>();

/** Remembers what a predicate was compiled from, for createDispatch. */
export function rememberTree(predicate: Predicate, tree: TypedNode): Predicate {
  TREES.set(predicate, tree);
  return predicate;
}

/**
 * Finds which filters can apply at all by looking a field's value up once for all filters that compare it with literals:
 * `http.host eq "a"` of a thousand rules is one look-up. What cannot be found that way is asked one by one.
 */
export function createDispatch(filters: readonly Predicate[]): Dispatch {
  const tables = new Map<string, Table>();
  const always = new Uint32Array(Math.ceil(filters.length / 32));
  for (const [number, filter] of filters.entries()) {
    const guard = guardOf(TREES.get(filter), KEYS_MAX);
    if (guard === null) addBit(always, number);
    else tableFor(tables, guard).add(guard.keys, number);
  }
  const lookups = [...tables.values()].map((table) => table.finish());
  return { scan: (request, response) => new BitScan(filters, always, lookups, request, response) };
}

/** A filter applies only if the value is one of the keys. */
interface Guard {
  readonly value: TypedValue;
  readonly kind: "exact" | "address";
  readonly keys: readonly Key[];
}

/** Addresses are their number, which is that of IPv4; everything else stands for itself. */
type Key = string | number;

// A filter in more tables' rows than this is asked always.
const KEYS_MAX = 1000;

/** The narrowest guard that a filter implies, or null. */
function guardOf(node: TypedNode | undefined, keysMax: number): Guard | null {
  if (node === undefined || node.many) return null;
  if (node.kind === "test") return guardOfTest(node, keysMax);
  if (node.kind === "and") {
    const guards = node.operands.map((operand) => guardOf(operand, keysMax)).filter((guard) => guard !== null);
    return guards.reduce<Guard | null>((best, guard) => (best === null || guard.keys.length < best.keys.length ? guard : best), null);
  }
  return node.kind === "or" ? guardOfAll(node.operands, keysMax) : null;
}

/** Alternatives are guarded where each is, by the same value. */
function guardOfAll(operands: readonly TypedNode[], keysMax: number): Guard | null {
  const keys: Key[] = [];
  let first: Guard | null = null;
  for (const operand of operands) {
    const guard = guardOf(operand, keysMax);
    if (guard === null || (first !== null && (guard.value.text !== first.value.text || guard.kind !== first.kind))) return null;
    first ??= guard;
    keys.push(...guard.keys);
    if (keys.length > keysMax) return null;
  }
  return first === null ? null : { ...first, keys };
}

function guardOfTest({ value, test }: TypedNode & { readonly kind: "test" }, keysMax: number): Guard | null {
  if (test.kind === "string" && test.relation === "eq") return { value, kind: "exact", keys: [test.bound] };
  if (test.kind === "strings" && test.items.length <= keysMax) return { value, kind: "exact", keys: test.items };
  if (test.kind === "integer" && test.relation === "eq" && isSmall(test.bound)) return { value, kind: "exact", keys: [Number(test.bound)] };
  if (test.kind === "integers" && test.items.length <= keysMax && test.items.every(({ first, last }) => first === last && isSmall(first)))
    return { value, kind: "exact", keys: test.items.map(({ first }) => Number(first)) };
  if (test.kind !== "addresses" || test.negated || test.items.length > keysMax) return null;
  const keys = test.items.map(({ low, high }) => (low.every((byte, i) => byte === high[i]) ? ipv4Number(low) : null));
  return keys.includes(null) ? null : { value, kind: "address", keys: keys.filter((key) => key !== null) };
}

const isSmall = (value: bigint): boolean => Number.isSafeInteger(Number(value));

/** Of `::ffff:0:0/96`; null for other addresses. */
function ipv4Number(bytes: Uint8Array): number | null {
  for (let i = 0; i < 12; i++) if (bytes[i] !== (i < 10 ? 0 : 0xff)) return null;
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(12);
}

interface Lookup {
  readonly read: Reader;
  readonly kind: Guard["kind"];
  readonly rows: ReadonlyMap<Key, Uint32Array>;
}

/** Which filters each key may let through. */
class Table {
  readonly #read: Reader;
  readonly #kind: Guard["kind"];
  readonly #rows = new Map<Key, number[]>();

  constructor(guard: Guard) {
    this.#read = compileValue(guard.value);
    this.#kind = guard.kind;
  }

  add(keys: readonly Key[], number: number): void {
    for (const key of keys) {
      const row = this.#rows.get(key);
      if (row === undefined) this.#rows.set(key, [number]);
      else row.push(number);
    }
  }

  finish(): Lookup {
    const rows = new Map(Array.from(this.#rows, ([key, numbers]) => [key, Uint32Array.from(numbers)] as const));
    return { read: this.#read, kind: this.#kind, rows };
  }
}

function tableFor(tables: Map<string, Table>, guard: Guard): Table {
  const name = `${guard.kind} ${guard.value.text}`;
  const known = tables.get(name) ?? new Table(guard);
  tables.set(name, known);
  return known;
}

function addBit(words: Uint32Array, number: number): void {
  words[number >> 5] = (words[number >> 5] ?? 0) | (1 << (number & 31));
}

/** One bit for each filter that may apply, taken from the lowest on. */
class BitScan implements Scan {
  readonly #filters: readonly Predicate[];
  readonly #request: RequestView;
  readonly #response: ResponseView | null;
  readonly #words: Uint32Array;
  #at = 0;

  constructor(
    filters: readonly Predicate[],
    always: Uint32Array,
    lookups: readonly Lookup[],
    request: RequestView,
    response: ResponseView | null,
  ) {
    this.#filters = filters;
    this.#request = request;
    this.#response = response;
    this.#words = always.slice();
    for (const lookup of lookups) this.#look(lookup);
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
      if (this.#filters[number]?.(this.#request, this.#response) === true) return number;
    }
    return -1;
  }

  #look({ read, kind, rows }: Lookup): void {
    const value = read(this.#request, this.#response);
    if (value === undefined) return;
    const key = kind === "exact" ? value : addressKey(value as string);
    const numbers = rows.get(key as Key);
    if (numbers === undefined) return;
    for (const number of numbers) addBit(this.#words, number);
  }
}

const addressKey = (text: string): Key => {
  const address = readAddress(text);
  return address.family === 4 ? address.number : -1;
};

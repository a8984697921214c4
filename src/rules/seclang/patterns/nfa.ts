import { type ByteSet, CLASSES, NEWLINE } from "#rules/regex/byte-set.ts";
import type { PcreAssertion, PcreNode } from "./pcre-node.ts";
import { PatternError } from "./pcre-node.ts";

/** The positions of a pattern, and the transitions between them by a byte (Thompson, 1968). */
export interface Nfa {
  /** The class of each byte: bytes of a class are alike to the pattern. */
  readonly classes: Uint8Array;
  readonly columns: number;
  readonly start: Int32Array;
  /** Positions after a byte of the class, including new matches that begin after it; null if a match ended before it. */
  step(places: Int32Array, before: number, column: number): Int32Array | null;
  /** The kind of a byte for assertions; the end of the text if the column is after the last. */
  kindOf(column: number): number;
}

type Place =
  | { readonly kind: "byte"; readonly columns: Uint8Array; readonly next: number }
  | { readonly kind: "fork"; readonly next: number[] }
  | { readonly kind: "assert"; readonly what: PcreAssertion; readonly next: number }
  /** The next byte is none of these: what ends a possessive repetition of a set. */
  | { readonly kind: "unless"; readonly columns: Uint8Array; readonly next: number }
  | { readonly kind: "match" };

const PLACES_MAX = 200_000;

// Kinds of bytes around an assertion.
const EDGE = 0;
const LINE = 1;
const WORD = 2;
const OTHER = 3;

export function createNfa(pattern: PcreNode): Nfa {
  const { classes, columns, samples } = classesOf(pattern);
  const builder = new Builder(samples);
  const first = builder.build(pattern, builder.add({ kind: "match" }));
  const { places } = builder;
  const hasAsserts = places.some(({ kind }) => kind === "assert");
  const kinds = samples.map((byte) => (byte === 0x0a ? LINE : (CLASSES["w"]! >> BigInt(byte)) & 1n ? WORD : OTHER));
  const marks = new Uint32Array(places.length);
  let mark = 0;
  /**
   * Adds the positions that are reached without a byte. Assertions are evaluated only with `around`, when the next byte
   * is known.
   */
  const reach = (
    from: readonly number[],
    into: number[],
    around: readonly [before: number, after: number, column: number] | null,
  ): boolean => {
    const stack = [...from];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (marks[at] === mark) continue;
      marks[at] = mark;
      const place = places[at]!;
      if (place.kind === "fork") stack.push(...place.next);
      else if (place.kind === "assert" && around !== null) {
        if (holds(place.what, around[0], around[1])) stack.push(place.next);
      } else if (place.kind === "unless" && around !== null) {
        if (place.columns[around[2]] !== 1) stack.push(place.next);
      } else if (place.kind === "match" && around !== null) return true;
      else into.push(at);
    }
    return false;
  };
  const closed = (from: readonly number[]): Int32Array => {
    const found: number[] = [];
    mark++;
    reach(from, found, null);
    return Int32Array.from(found).sort();
  };
  const start = closed([first]);
  const kindOf = (column: number): number => (hasAsserts && column < columns ? kinds[column]! : EDGE);
  return {
    classes,
    columns,
    start,
    kindOf,
    step: (from, before, column) => {
      const here: number[] = [];
      mark++;
      const isEnd = column === columns;
      if (reach([...from], here, [before, isEnd ? EDGE : kinds[column]!, column])) return null;
      if (isEnd) return new Int32Array(0);
      const next: number[] = [first];
      for (const at of here) {
        const place = places[at]!;
        if (place.kind === "byte" && place.columns[column] === 1) next.push(place.next);
      }
      return closed(next);
    },
  };
}

function holds(what: PcreAssertion, before: number, after: number): boolean {
  if (what === "start") return before === EDGE;
  if (what === "end") return after === EDGE;
  if (what === "line-start") return before === EDGE || before === LINE;
  if (what === "line-end") return after === EDGE || after === LINE;
  return ((before === WORD) !== (after === WORD)) === (what === "word");
}

class Builder {
  readonly places: Place[] = [];
  readonly #samples: readonly number[];
  readonly #sets = new Map<ByteSet, Uint8Array>();

  constructor(samples: readonly number[]) {
    this.#samples = samples;
  }

  add(place: Place): number {
    if (this.places.length >= PLACES_MAX) throw new PatternError("the pattern is too large after expanding its repetitions", 0);
    return this.places.push(place) - 1;
  }

  /** The first position of a node whose successor starts at `next`. */
  build(node: PcreNode, next: number): number {
    switch (node.kind) {
      case "set":
        return this.add({ kind: "byte", columns: this.#columnsOf(node.bytes), next });
      case "assert":
        return this.add({ kind: "assert", what: node.what, next });
      case "sequence":
        return node.items.reduceRight((after, item) => this.build(item, after), next);
      case "choice":
        return this.add({ kind: "fork", next: node.items.map((item) => this.build(item, next)) });
      case "atomic": {
        const { item } = node;
        // Other atomic groups match as plain ones.
        if (item.kind !== "repeat" || item.max !== null || item.item.kind !== "set") return this.build(item, next);
        return this.build(item, this.add({ kind: "unless", columns: this.#columnsOf(item.item.bytes), next }));
      }
      case "capture":
        return this.build(node.item, next);
      case "repeat":
        return this.#repeat(node.item, node.min, node.max, next);
      case "look":
      case "reference":
        throw new PatternError("look-around and references have no automaton", 0);
    }
  }

  #repeat(item: PcreNode, min: number, max: number | null, next: number): number {
    let at = next;
    if (max === null) {
      const fork: number[] = [next];
      at = this.add({ kind: "fork", next: fork });
      fork.push(this.build(item, at));
    } else for (let i = min; i < max; i++) at = this.add({ kind: "fork", next: [next, this.build(item, at)] });
    for (let i = 0; i < min; i++) at = this.build(item, at);
    return at;
  }

  #columnsOf(bytes: ByteSet): Uint8Array {
    let columns = this.#sets.get(bytes);
    if (columns === undefined) {
      columns = Uint8Array.from(this.#samples, (byte) => Number((bytes >> BigInt(byte)) & 1n));
      this.#sets.set(bytes, columns);
    }
    return columns;
  }
}

/** Bytes that are in the same sets of the pattern, and of the same kind to assertions, share a column. */
function classesOf(pattern: PcreNode): { readonly classes: Uint8Array; readonly columns: number; readonly samples: readonly number[] } {
  const sets = new Set<ByteSet>([NEWLINE, CLASSES["w"]!]);
  const collect = (node: PcreNode): void => {
    if (node.kind === "set") sets.add(node.bytes);
    else if (node.kind === "sequence" || node.kind === "choice") node.items.forEach(collect);
    else if (node.kind !== "assert" && node.kind !== "reference") collect(node.item);
  };
  collect(pattern);
  const known = new Map<string, number>();
  const classes = new Uint8Array(256);
  const samples: number[] = [];
  const members = [...sets].map((bytes) => bytes.toString(2).padStart(256, "0"));
  for (let byte = 0; byte < 256; byte++) {
    const key = members.map((bits) => bits[255 - byte]).join("");
    let column = known.get(key);
    if (column === undefined) {
      known.set(key, (column = samples.length));
      samples.push(byte);
    }
    classes[byte] = column;
  }
  return { classes, columns: samples.length, samples };
}

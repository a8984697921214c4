import { type ByteSet, without } from "#rules/regex/byte-set.ts";
import { contains, type PcreAssertion, type PcreNode } from "./pcre-node.ts";

export interface NativeForm {
  readonly captures: boolean;
  /** For texts without a line break, where the start of a line is the start of the text. */
  readonly isOneLine: boolean;
}

/** The pattern for the runtime's engine. It needs no flags: cases and line breaks are in the sets. */
export function nativeSource(node: PcreNode, form: NativeForm): string {
  return new Writer(node, form).write(node);
}

class Writer {
  readonly #form: NativeForm;
  /** Groups get new numbers, because atomic groups are written with an additional one. */
  readonly #numbers = new Map<number, number>();
  readonly #referred = new Set<number>();
  #groups = 0;

  constructor(root: PcreNode, form: NativeForm) {
    this.#form = form;
    contains(root, (node) => {
      if (node.kind === "reference") this.#referred.add(node.number);
      return false;
    });
  }

  write(node: PcreNode): string {
    switch (node.kind) {
      case "set":
        return writeSet(node.bytes);
      case "assert":
        return (this.#form.isOneLine ? ONE_LINE : LINES)[node.what];
      case "sequence":
        return node.items.map((item) => (item.kind === "choice" ? `(?:${this.write(item)})` : this.write(item))).join("");
      case "choice":
        return node.items.map((item) => this.write(item)).join("|");
      case "repeat":
        return `${this.#grouped(node.item)}${quantifier(node.min, node.max)}${node.lazy ? "?" : ""}`;
      case "capture":
        return this.#capture(node.item, node.number);
      case "atomic": {
        // `(?=(…))\1`: the match of a look-ahead is never tried again.
        const number = ++this.#groups;
        return `(?=(${this.write(node.item)}))\\${number}(?:)`;
      }
      case "look":
        return `(?${node.isBehind ? "<" : ""}${node.isNegative ? "!" : "="}${this.write(node.item)})`;
      case "reference":
        return `\\${this.#numbers.get(node.number) ?? 0}(?:)`;
    }
  }

  #grouped(item: PcreNode): string {
    const written = this.write(item);
    return item.kind === "set" || (item.kind === "capture" && written.startsWith("(")) ? written : `(?:${written})`;
  }

  #capture(item: PcreNode, number: number): string {
    if (!this.#form.captures && !this.#referred.has(number)) return `(?:${this.write(item)})`;
    this.#numbers.set(number, ++this.#groups);
    return `(${this.write(item)})`;
  }

  /** The group of the original pattern for each group of the written one. */
  numbers(): ReadonlyMap<number, number> {
    return this.#numbers;
  }
}

/** The pattern with captures, and the index of each group in a match. */
export function capturingSource(node: PcreNode): { readonly source: string; readonly groups: ReadonlyMap<number, number> } {
  const writer = new Writer(node, { captures: true, isOneLine: false });
  const source = writer.write(node);
  return { source, groups: writer.numbers() };
}

const LINES: Readonly<Record<PcreAssertion, string>> = {
  start: "^",
  end: "$",
  "line-start": "(?<![^\\n])",
  "line-end": "(?![^\\n])",
  word: "\\b",
  "not-word": "\\B",
};

const ONE_LINE: Readonly<Record<PcreAssertion, string>> = { ...LINES, "line-start": "^", "line-end": "$" };

function quantifier(min: number, max: number | null): string {
  if (max === null) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
  if (min === max) return `{${min}}`;
  return min === 0 && max === 1 ? "?" : `{${min},${max}}`;
}

const written = new Map<ByteSet, string>();

function writeSet(bytes: ByteSet): string {
  let known = written.get(bytes);
  if (known === undefined) written.set(bytes, (known = writeRanges(bytes)));
  return known;
}

function writeRanges(bytes: ByteSet): string {
  const ranges = rangesOf(bytes);
  const [only] = ranges;
  if (only === undefined) return "[]";
  if (ranges.length === 1 && only[0] === 0 && only[1] === 0xff) return "[^]";
  if (ranges.length === 1 && only[0] === only[1]) return writeByte(only[0]);
  const inverse = rangesOf(without(bytes));
  const isNegated = inverse.length < ranges.length;
  const items = (isNegated ? inverse : ranges).map(([first, last]) => (first === last ? hex(first) : `${hex(first)}-${hex(last)}`));
  return `[${isNegated ? "^" : ""}${items.join("")}]`;
}

function rangesOf(bytes: ByteSet): readonly (readonly [first: number, last: number])[] {
  const bits = bytes.toString(2).padStart(256, "0");
  const ranges: [number, number][] = [];
  for (let byte = 0; byte < 256; byte++) {
    if (bits[255 - byte] === "0") continue;
    const last = ranges.at(-1);
    if (last?.[1] === byte - 1) last[1] = byte;
    else ranges.push([byte, byte]);
  }
  return ranges;
}

const hex = (byte: number): string => `\\x${byte.toString(16).padStart(2, "0")}`;

function writeByte(byte: number): string {
  const char = String.fromCharCode(byte);
  return /[A-Za-z0-9_]/.test(char) ? char : hex(byte);
}

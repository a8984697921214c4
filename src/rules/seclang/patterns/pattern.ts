import { charge } from "#rules/budget.ts";
import { LazyAutomaton } from "./automaton.ts";
import { createGroupMachine } from "./group-machine.ts";
import { nativeBytesMax } from "./native-bound.ts";
import { capturingSource, nativeSource } from "./native-source.ts";
import { parsePcre } from "./pcre-parse.ts";
import { contains, type PcreNode } from "./pcre-node.ts";

/** A pattern of a rule. For any pattern and text, its time is linear in the text (ADR 0080). */
export interface SecPattern {
  readonly node: PcreNode;
  test(text: string): boolean;
  /** The match and its groups, in order, or null. A group that had no part in it is undefined. */
  exec(text: string): Groups | null;
}

export type Groups = readonly (string | undefined)[];

const NATIVE_STEPS = 4;

/** Reads and compiles a pattern in PCRE's syntax, one char a byte. Throws PatternError. */
export function createPattern(source: string): SecPattern {
  const node = parsePcre(source);
  // Most patterns are never tested: their engines are built at first use.
  let made: Search | undefined;
  let groups: ((text: string, end: number) => Groups) | undefined;
  const end = (text: string): number => (made ??= createSearch(node))(text);
  return {
    node,
    test: (text) => end(text) !== -1,
    exec: (text) => {
      const found = end(text);
      return found === -1 ? null : (groups ??= createGroups(node))(text, found);
    },
  };
}

/** End of a match in a text of any length, or a later position; -1 without a match. */
type Search = (text: string) => number;

const isLineAssertion = (node: PcreNode): boolean => node.kind === "assert" && (node.what === "line-start" || node.what === "line-end");

function createSearch(node: PcreNode): Search {
  const hasLines = contains(node, isLineAssertion);
  const lines = createNative(node, false);
  const oneLine = hasLines ? createNative(node, true) : lines;
  const long = createLongSearch(node, lines);
  return (text) => {
    const native = hasLines && !text.includes("\n") ? oneLine : lines;
    if (text.length > native.bytesMax) return long(text);
    charge(text.length * NATIVE_STEPS);
    return native.test(text) ? text.length : -1;
  };
}

interface Native {
  /** Longer texts are not for the runtime's engine. */
  readonly bytesMax: number;
  test(text: string): boolean;
}

function createNative(node: PcreNode, isOneLine: boolean): Native {
  const bytesMax = nativeBytesMax(node, isOneLine);
  let compiled: RegExp | undefined;
  return { bytesMax, test: (text) => (compiled ??= new RegExp(nativeSource(node, { captures: false, isOneLine }))).test(text) };
}

const hasNoAutomaton = ({ kind }: PcreNode): boolean => kind === "look" || kind === "reference";

function createLongSearch(node: PcreNode, native: Native): Search {
  if (contains(node, hasNoAutomaton)) return searchWindows(native);
  let automaton: LazyAutomaton | undefined;
  return (text) => (automaton ??= new LazyAutomaton(node)).end(text);
}

// The worst possible pattern takes a few milliseconds for 64 bytes; further steps are counted.
const WINDOW_BYTES_MIN = 64;

/** Searches a pattern without an automaton in windows that overlap by half: in long texts, longer matches are not found. */
function searchWindows({ bytesMax, test }: Native): Search {
  const window = Math.max(WINDOW_BYTES_MIN, bytesMax);
  return (text) => {
    for (let at = 0; at < text.length; at += window >> 1) {
      charge(window * NATIVE_STEPS);
      if (test(text.slice(at, at + window))) return Math.min(text.length, at + window);
    }
    return -1;
  };
}

/** Groups are read with the runtime's engine if that is bounded, otherwise with a linear machine. */
function createGroups(node: PcreNode): (text: string, end: number) => Groups {
  const { source, groups } = capturingSource(node);
  const compiled = new RegExp(source);
  const last = Math.max(0, ...groups.keys());
  const places = Array.from({ length: last + 1 }, (_, number) => (number === 0 ? 0 : (groups.get(number) ?? -1)));
  const bytesMax = nativeBytesMax(node, false);
  const native = (text: string): Groups | null => {
    charge(text.length * NATIVE_STEPS);
    const found = compiled.exec(text);
    return found === null ? null : places.map((place) => found[place]);
  };
  if (contains(node, hasNoAutomaton)) {
    const window = Math.max(WINDOW_BYTES_MIN, bytesMax);
    return (text, end) => native(text.slice(Math.max(0, end - window), end)) ?? [];
  }
  let machine: ReturnType<typeof createGroupMachine> | undefined;
  return (text, end) => {
    if (text.length <= bytesMax) return native(text) ?? [];
    // In a long text, bytes far before the end of the match do not belong to it.
    const from = Math.max(0, end - GROUP_BYTES_MAX);
    return (machine ??= createGroupMachine(node))(from === 0 ? text : text.slice(from)) ?? [];
  };
}

// The longest text whose groups are searched from its start.
const GROUP_BYTES_MAX = 16_384;

import { charge } from "#rules/budget.ts";
import { ALL_BYTES, type ByteSet, CLASSES } from "#rules/regex/byte-set.ts";
import { firstOf } from "./first-bytes.ts";
import { type PcreAssertion, type PcreNode, PatternError } from "./pcre-node.ts";

/**
 * Finds the contents of a pattern's groups in time linear in the text (Pike's machine: all paths are followed at once,
 * the preferred one first). Atomic groups match like plain ones.
 */
export function createGroupMachine(pattern: PcreNode): (text: string) => readonly (string | undefined)[] | null {
  const compiler = new Compiler();
  compiler.compile({ kind: "capture", item: pattern, number: 0 });
  compiler.code.push({ kind: "match" });
  const { code, groups } = compiler;
  const { bytes, isNullable } = firstOf(pattern);
  const begins = compiler.membersOf(isNullable ? ALL_BYTES : bytes);
  return (text) => run({ code, slotCount: (groups + 1) * 2, begins, isNullable }, text);
}

type Instruction =
  | { readonly kind: "byte"; readonly members: Uint8Array }
  | { readonly kind: "save"; readonly slot: number }
  | { readonly kind: "assert"; readonly what: PcreAssertion }
  /** Tries one position after the other. */
  | { readonly kind: "split"; targets: readonly number[] }
  | { readonly kind: "match" };

const CODE_MAX = 200_000;

class Compiler {
  readonly code: Instruction[] = [];
  groups = 0;
  readonly #sets = new Map<ByteSet, Uint8Array>();

  compile(node: PcreNode): void {
    if (this.code.length > CODE_MAX) throw new PatternError("the pattern is too large after expanding its repetitions", 0);
    switch (node.kind) {
      case "set":
        this.code.push({ kind: "byte", members: this.membersOf(node.bytes) });
        return;
      case "assert":
        this.code.push({ kind: "assert", what: node.what });
        return;
      case "sequence":
        for (const item of node.items) this.compile(item);
        return;
      case "capture":
        this.groups = Math.max(this.groups, node.number);
        this.code.push({ kind: "save", slot: node.number * 2 });
        this.compile(node.item);
        this.code.push({ kind: "save", slot: node.number * 2 + 1 });
        return;
      case "atomic":
        return this.compile(node.item);
      case "choice":
        return this.#choice(node.items);
      case "repeat":
        return this.#repeat(node);
      case "look":
      case "reference":
        throw new PatternError("look-around and references have no machine", 0);
    }
  }

  #choice(items: readonly PcreNode[]): void {
    const split = this.#split();
    const starts: number[] = [];
    const ends: { targets: readonly number[] }[] = [];
    for (const item of items) {
      starts.push(this.code.length);
      this.compile(item);
      ends.push(this.#split());
    }
    split.targets = starts;
    for (const end of ends) end.targets = [this.code.length];
  }

  #repeat({ item, min, max, lazy }: Extract<PcreNode, { kind: "repeat" }>): void {
    for (let i = 0; i < min; i++) this.compile(item);
    if (max === null) {
      const start = this.code.length;
      const split = this.#split();
      this.compile(item);
      this.#split().targets = [start];
      split.targets = ordered(start + 1, this.code.length, lazy);
      return;
    }
    const splits: { targets: readonly number[]; readonly at: number }[] = [];
    for (let i = min; i < max; i++) {
      splits.push(Object.assign(this.#split(), { at: this.code.length }));
      this.compile(item);
    }
    for (const split of splits) split.targets = ordered(split.at, this.code.length, lazy);
  }

  #split(): { kind: "split"; targets: readonly number[] } {
    const split = { kind: "split" as const, targets: [] as readonly number[] };
    this.code.push(split);
    return split;
  }

  membersOf(bytes: ByteSet): Uint8Array {
    let members = this.#sets.get(bytes);
    if (members === undefined) {
      const bits = bytes.toString(2).padStart(256, "0");
      this.#sets.set(bytes, (members = Uint8Array.from({ length: 256 }, (_, byte) => Number(bits[255 - byte]))));
    }
    return members;
  }
}

const ordered = (again: number, on: number, isLazy: boolean): readonly number[] => (isLazy ? [on, again] : [again, on]);

/** Steps of a thread per byte. */
const THREAD_STEPS = 20;

/** A position in the pattern with the current contents of its groups. */
interface Thread {
  readonly at: number;
  readonly slots: Int32Array;
}

interface Machine {
  readonly code: readonly Instruction[];
  readonly slotCount: number;
  /** Possible first bytes of a match, unless it may be empty. */
  readonly begins: Uint8Array;
  readonly isNullable: boolean;
}

function run({ code, slotCount, begins, isNullable }: Machine, text: string): readonly (string | undefined)[] | null {
  const seen = new Int32Array(code.length).fill(-1);
  let threads: Thread[] = [];
  let found: Int32Array | null = null;
  const none = new Int32Array(slotCount).fill(-1);
  for (let position = 0; position <= text.length; position++) {
    const here: Thread[] = [];
    for (const { at, slots } of threads) follow(code, at, slots, text, position, seen, here);
    // A match that starts earlier is preferred, so no new one starts once a match exists.
    const mayBegin = position < text.length ? begins[text.charCodeAt(position) & 0xff] === 1 : isNullable;
    if (found === null && mayBegin) follow(code, 0, none, text, position, seen, here);
    charge(here.length * THREAD_STEPS);
    threads = [];
    for (const { at, slots } of here) {
      const instruction = code[at]!;
      if (instruction.kind === "match") {
        found = slots;
        break;
      }
      if (position < text.length && instruction.kind === "byte" && instruction.members[text.charCodeAt(position) & 0xff] === 1)
        threads.push({ at: at + 1, slots });
    }
    if (threads.length === 0 && found !== null) break;
  }
  if (found === null) return null;
  const slots = found;
  return Array.from({ length: slotCount / 2 }, (_, group) => {
    const start = slots[group * 2]!;
    const end = slots[group * 2 + 1]!;
    return start === -1 || end === -1 ? undefined : text.slice(start, end);
  });
}

/** Adds the positions that are reached from a position without a byte, the preferred ones first. */
function follow(
  code: readonly Instruction[],
  from: number,
  given: Int32Array,
  text: string,
  position: number,
  seen: Int32Array,
  into: Thread[],
): void {
  const stack: Thread[] = [{ at: from, slots: given }];
  for (let thread = stack.pop(); thread !== undefined; thread = stack.pop()) {
    const { at, slots } = thread;
    if (seen[at] === position) continue;
    seen[at] = position;
    const instruction = code[at]!;
    if (instruction.kind === "save") {
      const saved = slots.slice();
      saved[instruction.slot] = position;
      stack.push({ at: at + 1, slots: saved });
    } else if (instruction.kind === "split") {
      for (let i = instruction.targets.length - 1; i >= 0; i--) stack.push({ at: instruction.targets[i]!, slots });
    } else if (instruction.kind === "assert") {
      if (holds(instruction.what, text, position)) stack.push({ at: at + 1, slots });
    } else into.push(thread);
  }
}

const isWord = (text: string, at: number): boolean =>
  at >= 0 && at < text.length && ((CLASSES["w"]! >> BigInt(text.charCodeAt(at) & 0xff)) & 1n) === 1n;

function holds(what: PcreAssertion, text: string, at: number): boolean {
  if (what === "start") return at === 0;
  if (what === "end") return at === text.length;
  if (what === "line-start") return at === 0 || text[at - 1] === "\n";
  if (what === "line-end") return at === text.length || text[at] === "\n";
  return (isWord(text, at - 1) !== isWord(text, at)) === (what === "word");
}

import { charge } from "#rules/budget.ts";
import { createNfa, type Nfa } from "./nfa.ts";
import type { PcreNode } from "./pcre-node.ts";

// Steps per byte between known states, of a new state, and of each pattern position in it.
const BYTE_STEPS = 2;
const STATE_STEPS = 500;
const PLACE_STEPS = 20;

/** Cells of each pattern's table. When they are used up, the learned states are forgotten. */
const CELLS_MAX = 1 << 17;

/** Limit of all patterns of a thread, because visitors choose the texts, and so the learned states. */
const LEARNED_BYTES_MAX = 32 << 20;
const STATE_BYTES = 200;

const learned = { bytes: 0, automata: [] as WeakRef<LazyAutomaton>[] };

/** Approximate bytes that the automata of this thread have learned. */
export const learnedBytes = (): number => learned.bytes;

function learn(bytes: number): void {
  if (learned.bytes + bytes > LEARNED_BYTES_MAX) {
    learned.automata = learned.automata.filter((automaton) => automaton.deref() !== undefined);
    for (const automaton of learned.automata) automaton.deref()?.forget();
    learned.bytes = 0;
  }
  learned.bytes += bytes;
}

const UNKNOWN = 0;
const MATCH = 1;
const START = 2;

/**
 * A deterministic automaton whose states are made as texts reach them. Its time is linear in the text, for any pattern.
 * It has no groups and no look-around; of atomic groups only repetitions of a set without an end keep what they have taken.
 */
export class LazyAutomaton {
  readonly #nfa: Nfa;
  readonly #columns: number;
  #table = new Int32Array(0);
  /** For each state the positions of the pattern, and the kind of the previous byte; numbers begin at START. */
  #states: { readonly places: Int32Array; readonly before: number }[] = [];
  #numbers = new Map<string, number>();

  constructor(pattern: PcreNode) {
    this.#nfa = createNfa(pattern);
    this.#columns = this.#nfa.columns + 1;
    this.forget();
    learned.automata.push(new WeakRef(this));
  }

  /** End of the shortest match, or -1. */
  end(text: string): number {
    charge(text.length * BYTE_STEPS);
    const { classes } = this.#nfa;
    const columns = this.#columns;
    let state = START;
    for (let at = 0; at < text.length; at++) {
      const column = classes[text.charCodeAt(at) & 0xff]!;
      let next = this.#table[state * columns + column]!;
      if (next === UNKNOWN) next = this.#learn(state, column);
      if (next === MATCH) return at;
      state = next;
    }
    const last = this.#nfa.columns;
    const next = this.#table[state * columns + last]! || this.#learn(state, last);
    return next === MATCH ? text.length : -1;
  }

  /** `column`: the class of the next byte, or one more where the text ends. */
  #learn(state: number, column: number): number {
    const from = this.#states[state - START]!;
    charge(STATE_STEPS + from.places.length * PLACE_STEPS);
    const places = this.#nfa.step(from.places, from.before, column);
    if (places === null) {
      this.#table[state * this.#columns + column] = MATCH;
      return MATCH;
    }
    const before = this.#nfa.kindOf(column);
    const key = `${before}:${places.join()}`;
    const known = this.#numbers.get(key);
    const next = known ?? this.#add(key, places, before);
    // Adding may have forgotten the state that led here.
    if (this.#states[state - START] === from) this.#table[state * this.#columns + column] = next;
    return next;
  }

  #add(key: string, places: Int32Array, before: number): number {
    if ((this.#states.length + 1 + START) * this.#columns > CELLS_MAX) this.forget();
    learn((this.#columns + places.length) * 4 + key.length + STATE_BYTES);
    const number = this.#states.length + START;
    this.#states.push({ places, before });
    this.#numbers.set(key, number);
    const cells = (number + 1) * this.#columns;
    if (cells > this.#table.length) {
      const larger = new Int32Array(Math.max(cells, this.#table.length * 2));
      larger.set(this.#table);
      this.#table = larger;
    }
    return number;
  }

  /** As if it had seen no text. */
  forget(): void {
    this.#table = new Int32Array((START + 1) * this.#columns);
    this.#states = [{ places: this.#nfa.start, before: this.#nfa.kindOf(this.#nfa.columns) }];
    this.#numbers = new Map();
  }
}

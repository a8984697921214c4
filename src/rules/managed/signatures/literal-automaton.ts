/**
 * Finds all of many literals in one pass over a text (Aho and Corasick, 1975). Time is linear in the text, for any number
 * of literals.
 */
export interface LiteralAutomaton {
  /** Calls `found` with the number and the end of each occurrence of a literal. Texts have one char per byte. */
  scan(text: string, found: (literal: number, end: number) => void): void;
}

export function createLiteralAutomaton(literals: readonly string[]): LiteralAutomaton {
  const { classes, count } = classesOf(literals);
  const states: Int32Array[] = [new Int32Array(count)];
  const ends: number[][] = [[]];
  for (const [number, literal] of literals.entries()) {
    if (literal === "") throw new Error("an empty literal is in every text");
    let state = 0;
    for (let i = 0; i < literal.length; i++) {
      const column = classes[literal.charCodeAt(i)]!;
      const next = states[state]![column]!;
      if (next === 0) {
        states[state]![column] = states.length;
        state = states.length;
        states.push(new Int32Array(count));
        ends.push([]);
      } else state = next;
    }
    ends[state]!.push(number);
  }
  completeStates(states, ends, count);
  const next = new Uint16Array(states.length * count);
  for (const [state, row] of states.entries()) next.set(row, state * count);
  const isEnd = Uint8Array.from(ends, (numbers) => (numbers.length > 0 ? 1 : 0));
  return {
    scan: (text, found) => {
      for (let i = 0, state = 0; i < text.length; i++) {
        state = next[state * count + classes[text.charCodeAt(i) & 0xff]!]!;
        if (isEnd[state] === 1) for (const literal of ends[state]!) found(literal, i + 1);
      }
    },
  };
}

/** Bytes that no literal has share a column, so that the table stays small. */
function classesOf(literals: readonly string[]): { readonly classes: Uint8Array; readonly count: number } {
  const classes = new Uint8Array(256);
  let count = 1;
  for (const literal of literals) {
    for (let i = 0; i < literal.length; i++) {
      const byte = literal.charCodeAt(i);
      if (classes[byte] === 0) classes[byte] = count++;
    }
  }
  return { classes, count };
}

/** If a literal does not continue, the state falls back to its longest suffix that begins a literal; breadth first. */
function completeStates(states: readonly Int32Array[], ends: readonly number[][], columns: number): void {
  const fallbacks = new Int32Array(states.length);
  const queue = [...states[0]!].filter((state) => state !== 0);
  for (let at = 0; at < queue.length; at++) {
    const state = queue[at]!;
    const row = states[state]!;
    const fallback = states[fallbacks[state]!]!;
    ends[state]!.push(...ends[fallbacks[state]!]!);
    for (let column = 0; column < columns; column++) {
      const child = row[column]!;
      if (child === 0) row[column] = fallback[column]!;
      else {
        fallbacks[child] = fallback[column]!;
        queue.push(child);
      }
    }
  }
}

import type { ByteSet } from "#rules/regex/byte-set.ts";
import type { Regex } from "#rules/regex/regex-syntax.ts";

const POSITIONS_MAX = 4000;

/** The bytes that a text can start and end with, by the positions of sets in the expression. */
interface Ends {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly empty: boolean;
}

const NONE: Ends = { first: [], last: [], empty: true };

/** The expression can be read in two ways, or is too large to tell. */
class AmbiguousError extends Error {}

/**
 * Whether at every position of a text at most one path continues, so that backtracking fails at once (one-unambiguous
 * expressions, Brüggemann-Klein 1993; loops within loops and empty alternatives count as separate paths). Then each
 * start costs the text that it reads. It reads no other start, or the pattern has only one: `isAnchored`.
 */
export function isUnambiguous(
  regex: Regex,
  { isAnchored, notBehind }: { readonly isAnchored: boolean; readonly notBehind: ByteSet },
): boolean {
  const walk = new Walk();
  try {
    const { first } = walk.ends(regex);
    walk.check(first);
    if (isAnchored) return true;
    const starts = walk.bytesOf(first);
    return [...walk.looped].every((position) => {
      const bytes = walk.bytes[position] ?? 0n;
      return (bytes & starts) === 0n || (bytes & ~notBehind) === 0n;
    });
  } catch (error) {
    if (error instanceof AmbiguousError) return false;
    throw error;
  }
}

class Walk {
  readonly bytes: ByteSet[] = [];
  /** Positions that are repeated without an end. */
  readonly looped = new Set<number>();
  private readonly behind: Set<number>[] = [];

  bytesOf(positions: readonly number[]): ByteSet {
    return positions.reduce((sum, position) => sum | (this.bytes[position] ?? 0n), 0n);
  }

  /** No two of the positions can match the same byte. */
  check(first: readonly number[]): void {
    for (const positions of [first, ...this.behind]) {
      let taken = 0n;
      for (const position of positions) {
        const bytes = this.bytes[position] ?? 0n;
        if ((taken & bytes) !== 0n) throw new AmbiguousError();
        taken |= bytes;
      }
    }
  }

  ends(regex: Regex): Ends {
    if (regex.kind === "assert") return NONE;
    if (regex.kind === "capture") return this.ends(regex.item);
    if (regex.kind === "set") return this.position(regex.bytes);
    if (regex.kind === "sequence")
      return regex.items.map((item) => () => this.ends(item)).reduce((before, item) => this.joined(before, item()), NONE);
    if (regex.kind === "choice") {
      const all = regex.items.map((item) => this.ends(item));
      if (all.filter(({ empty }) => empty).length > 1) throw new AmbiguousError();
      return { first: all.flatMap(({ first }) => first), last: all.flatMap(({ last }) => last), empty: all.some(({ empty }) => empty) };
    }
    return this.repeated(regex);
  }

  private position(bytes: ByteSet): Ends {
    const position = this.bytes.push(bytes) - 1;
    if (position >= POSITIONS_MAX) throw new AmbiguousError();
    this.behind[position] = new Set();
    return { first: [position], last: [position], empty: false };
  }

  private repeated({ item, min, max }: Extract<Regex, { readonly kind: "repeat" }>): Ends {
    let before = NONE;
    for (let times = 0; times < min; times++) before = this.joined(before, this.item(item, max === 1));
    if (max === null) {
      const from = this.bytes.length;
      const loop = this.item(item, false);
      this.lead(loop.last, loop.first);
      for (let position = from; position < this.bytes.length; position++) this.looped.add(position);
      return this.joined(before, { ...loop, empty: true });
    }
    // From the last on: each one exists only after the one before it.
    let optional = NONE;
    for (let times = min; times < max; times++) {
      const one = this.item(item, max === 1);
      optional = { ...this.joined(one, optional), empty: true };
    }
    return this.joined(before, optional);
  }

  /** The repeated part must not be empty: it could match nothing in as many ways as there are repetitions. */
  private item(item: Regex, isOnce: boolean): Ends {
    const ends = this.ends(item);
    if (ends.empty && !isOnce) throw new AmbiguousError();
    return ends;
  }

  private joined(before: Ends, after: Ends): Ends {
    this.lead(before.last, after.first);
    return {
      first: before.empty ? [...before.first, ...after.first] : before.first,
      last: after.empty ? [...before.last, ...after.last] : after.last,
      empty: before.empty && after.empty,
    };
  }

  private lead(from: readonly number[], to: readonly number[]): void {
    for (const position of from)
      for (const next of to) {
        // Two loops that lead to the same position are two paths.
        if (this.behind[position]?.has(next) === true) throw new AmbiguousError();
        this.behind[position]?.add(next);
      }
  }
}

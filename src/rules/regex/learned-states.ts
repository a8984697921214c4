/** Bytes that the automata of one ruleset may learn together. */
export const GROUP_BYTES_MAX = 16 * 2 ** 20;
/** Bytes of all customers' automata of a thread. */
export const THREAD_BYTES_MAX = 64 * 2 ** 20;

/** An automaton that learns states as texts lead to them. */
export interface Learner {
  /** Bytes of its learned states. */
  readonly bytes: number;
  /** Drops its states, so that its next texts pay for learning them again. */
  forget(): void;
}

/** The automata of one ruleset, which forget their states when these are too large together. */
export interface LearnedStates {
  /** Call after each use of a learner that has learned states. */
  learned(learner: Learner): void;
  /** How much is known. */
  readonly bytes: number;
  forget(): void;
}

/** States that the automata of customers' patterns have learned in a thread. */
export interface StatePool {
  readonly bytes: number;
  createGroup(): LearnedStates;
}

/** If all groups together exceed `bytesMax`, the largest one forgets its states. */
export function createStatePool(bytesMax = THREAD_BYTES_MAX, groupBytesMax = GROUP_BYTES_MAX): StatePool {
  /** Groups go with their rulesets, whenever memory is collected. */
  const groups = new Map<Tally, WeakRef<LearnedStates>>();
  const gone = new FinalizationRegistry<Tally>((tally) => {
    bytes -= tally.bytes;
    groups.delete(tally);
  });
  let bytes = 0;

  const forgetMost = (): void => {
    let most: Tally | undefined;
    for (const tally of groups.keys()) if (tally.bytes > (most?.bytes ?? 0)) most = tally;
    if (most === undefined) return;
    const group = groups.get(most)!.deref();
    group?.forget();
    if (group !== undefined) return;
    bytes -= most.bytes;
    most.bytes = 0;
  };

  return {
    get bytes() {
      return bytes;
    },
    createGroup: (): LearnedStates => {
      const tally: Tally = { bytes: 0 };
      /** Automata with learned states. */
      const learners = new Map<Learner, number>();
      const group: LearnedStates = {
        get bytes() {
          return tally.bytes;
        },
        learned: (learner) => {
          const added = learner.bytes - (learners.get(learner) ?? 0);
          learners.set(learner, learner.bytes);
          tally.bytes += added;
          bytes += added;
          if (tally.bytes > groupBytesMax) group.forget();
          while (bytes > bytesMax) forgetMost();
        },
        forget: () => {
          for (const learner of learners.keys()) learner.forget();
          learners.clear();
          bytes -= tally.bytes;
          tally.bytes = 0;
        },
      };
      groups.set(tally, new WeakRef(group));
      gone.register(group, tally);
      return group;
    },
  };
}

interface Tally {
  bytes: number;
}

/** The pool of the customers' patterns in this thread. */
export const statePool = createStatePool();

import { PlatformError } from "#kernel/errors/errors.ts";
import { createShares } from "#kernel/shares.ts";

/**
 * Places for reads whose results can be as large as a zone, because each one takes memory and a connection to the database until its reader
 * has all of it. An account has at most half of what is free, and others wait in turns of their accounts.
 */
export interface LongReads {
  /** Resolves with what gives the place back. */
  begin(account: string): Promise<() => void>;
  /** The same parts; their place is free after the last one, when the reader leaves, or when the reader is too slow. */
  parts<T>(release: () => void, parts: AsyncGenerator<T, undefined>): AsyncIterableIterator<T>;
}

interface LongReadLimits {
  readonly placesMax: number;
  readonly waitingMax: number;
  /** A slower reader gets an error instead of the rest. */
  readonly heldMs: number;
}

const LIMITS: LongReadLimits = { placesMax: 8, waitingMax: 100, heldMs: 600_000 };
const ACCOUNT_SHARE = 1 / 2;

export function createLongReads({ placesMax, waitingMax, heldMs }: LongReadLimits = LIMITS): LongReads {
  const shares = createShares({ total: placesMax, share: ACCOUNT_SHARE });
  /** In the order of turns; none is empty. */
  const waiting = new Map<string, ((release: () => void) => void)[]>();

  const place = (account: string): (() => void) => {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      shares.release(account, 1);
      next();
    };
  };
  function next(): void {
    for (const [account, readers] of [...waiting]) {
      if (!shares.take(account, 1)) continue;
      const begin = readers.shift();
      waiting.delete(account);
      if (readers.length > 0) waiting.set(account, readers);
      begin?.(place(account));
    }
  }

  return {
    begin: async (account) => {
      const before = waiting.get(account);
      if (before === undefined && shares.take(account, 1)) return place(account);
      if (before !== undefined && before.length >= waitingMax) throw new PlatformError("long_reads_busy");
      return new Promise((resolve) => {
        if (before === undefined) waiting.set(account, [resolve]);
        else before.push(resolve);
      });
    },
    parts: <T>(release: () => void, parts: AsyncGenerator<T, undefined>) => {
      let isLate = false;
      const end = async (): Promise<void> => {
        clearTimeout(timer);
        release();
        await parts.return(undefined);
      };
      const timer = setTimeout(() => {
        isLate = true;
        void end();
      }, heldMs).unref();
      const iterator: AsyncIterableIterator<T> = {
        [Symbol.asyncIterator]: () => iterator,
        next: async () => {
          if (isLate) throw new PlatformError("long_reads_busy");
          const part = await parts.next().catch(async (error: unknown) => {
            await end();
            throw error;
          });
          if (part.done === true) await end();
          return part;
        },
        return: async () => {
          await end();
          return { done: true, value: undefined };
        },
      };
      return iterator;
    },
  };
}

/** Handles the error of a read that has not begun to send. */
export const releasing =
  (release: () => void) =>
  (error: unknown): never => {
    release();
    throw error;
  };

import type { Reader } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createShares } from "#kernel/shares.ts";

/** Permission for one long read to run. */
export interface Place {
  /** Throws `long_reads_busy` once the client has left, so that nothing goes on for it. */
  check(): void;
  release(): void;
}

/**
 * Places for reads whose results can be as large as a zone, because each one takes memory and a connection to the database until its reader
 * has all of it. An account has at most its share of what is free, and others wait in turns of their accounts.
 */
export interface LongReads {
  /** Rejects with `long_reads_busy` if too many of the account wait, or the client leaves before its turn. */
  begin(account: string, reader?: Reader): Promise<Place>;
  /** Passes the parts on, and frees the place after the last one, when the reader leaves, or when it takes too long. */
  parts<T>(place: Place, parts: AsyncGenerator<T, undefined>): AsyncIterableIterator<T>;
}

interface LongReadLimits {
  readonly placesMax: number;
  /** Part of what an account holds and what is free that it can hold. */
  readonly share: number;
  readonly waitingMax: number;
  /** A slower reader gets an error instead of the rest. */
  readonly heldMs: number;
}

const LIMITS: LongReadLimits = { placesMax: 8, share: 1 / 2, waitingMax: 100, heldMs: 600_000 };
/** One thread reads all events, so more places of one account would only hold memory. */
export const READS_OF_EVENTS: LongReadLimits = { placesMax: 8, share: 1 / 4, waitingMax: 100, heldMs: 60_000 };

export function createLongReads({ placesMax, share, waitingMax, heldMs }: LongReadLimits = LIMITS): LongReads {
  const shares = createShares({ total: placesMax, share });
  /** In the order of turns; none is empty. */
  const waiting = new Map<string, (() => void)[]>();

  const place = (account: string, hasLeft: () => boolean): Place => {
    let isHeld = true;
    return {
      check: () => {
        if (hasLeft()) throw new PlatformError("long_reads_busy");
      },
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        shares.release(account, 1);
        next();
      },
    };
  };
  function next(): void {
    for (const [account, readers] of [...waiting]) {
      if (!shares.take(account, 1)) continue;
      const begin = readers.shift();
      waiting.delete(account);
      if (readers.length > 0) waiting.set(account, readers);
      begin?.();
    }
  }

  return {
    begin: async (account, reader = {}) => {
      let hasLeft = false;
      let leave = (): void => undefined;
      reader.onLeft?.(() => {
        hasLeft = true;
        leave();
      });
      const mine = place(account, () => hasLeft);
      const before = waiting.get(account) ?? [];
      if (before.length === 0 && shares.take(account, 1)) return mine;
      if (before.length >= waitingMax) throw new PlatformError("long_reads_busy");
      await new Promise<void>((resolve, reject) => {
        before.push(resolve);
        waiting.set(account, before);
        leave = () => {
          const at = before.indexOf(resolve);
          if (at < 0) return;
          before.splice(at, 1);
          if (before.length === 0) waiting.delete(account);
          reject(new PlatformError("long_reads_busy"));
        };
      });
      return mine;
    },
    parts: <T>(place: Place, parts: AsyncGenerator<T, undefined>) => {
      let isLate = false;
      const end = async (): Promise<void> => {
        clearTimeout(timer);
        place.release();
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
  (place: Place) =>
  (error: unknown): never => {
    place.release();
    throw error;
  };

/** Passes the pages on, and throws `long_reads_busy` once the client has left. */
export async function* whileWaited<T>(place: Place, pages: AsyncIterable<T>): AsyncGenerator<T, undefined> {
  for await (const page of pages) {
    place.check();
    yield page;
  }
  return undefined;
}

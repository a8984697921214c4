import { AsyncLocalStorage } from "node:async_hooks";
import type { Unit } from "./store.ts";

/** A condition of each unit of work that some work begins. */
export interface Fence {
  /** Throws if the work must not go on. */
  check(db: Unit["db"]): Promise<void>;
}

/** Another process has the duty meanwhile: this one must not go on with it. */
export class LeaseLostError extends Error {
  constructor(duty: string) {
    super(`another process has the duty ${duty} now`);
  }
}

const current = new AsyncLocalStorage<Fence>();

/** Runs the work; each unit that it or what it calls begins, now or later, checks the fence first, in its own transaction. */
export const behindFence = <T>(fence: Fence, work: () => Promise<T>): Promise<T> => current.run(fence, work);

/** The same work with the check of the fence that it is called behind. */
export function fenced<T>(work: (unit: Unit) => Promise<T>): (unit: Unit) => Promise<T> {
  const fence = current.getStore();
  if (fence === undefined) return work;
  return async (unit) => {
    await fence.check(unit.db);
    return work(unit);
  };
}

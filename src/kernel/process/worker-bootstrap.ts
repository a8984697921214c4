import { once } from "node:events";
import { type MessagePort, workerData } from "node:worker_threads";

/** `workerData` of a thread that loads its program before it gets work. */
export interface PrestartedThreadData {
  /** URL of the program's module. */
  readonly script: string;
  /** One Int32: the number of threads that have finished loading. */
  readonly loaded: SharedArrayBuffer;
  /** The thread loads when that many others have finished. */
  readonly turn: number;
  /** Port through which the thread gets its work. */
  readonly work: MessagePort;
}

/** The work of this thread: from its start, or later if it was prestarted. */
export async function workOfThread<Work>(): Promise<Work> {
  const data = workerData as Work | PrestartedThreadData;
  if (!isPrestarted(data)) return data;
  throughWithLoading(data);
  const [work] = (await once(data.work, "message")) as [Work];
  data.work.close();
  return work;
}

const isPrestarted = (data: unknown): data is PrestartedThreadData =>
  typeof data === "object" && data !== null && "work" in data && "turn" in data;

/** Lets the next thread load. */
export function throughWithLoading({ loaded }: PrestartedThreadData): void {
  const count = new Int32Array(loaded);
  Atomics.add(count, 0, 1);
  Atomics.notify(count, 0);
}

/** Waits until it is the thread's turn to load, or for at most `timeoutMs`. Blocks the thread. */
export function waitToLoad({ loaded, turn }: PrestartedThreadData, timeoutMs: number): void {
  const count = new Int32Array(loaded);
  for (let have = Atomics.load(count, 0); have < turn; have = Atomics.load(count, 0)) {
    if (Atomics.wait(count, 0, have, timeoutMs) === "timed-out") return;
  }
}

import { once } from "node:events";
import { type MessagePort, workerData } from "node:worker_threads";

/** `workerData` of a thread that loads its program before there is work for it. */
export interface EarlyThreadData {
  /** The address of the program's module. */
  readonly script: string;
  /** One Int32: how many threads are through with loading. */
  readonly loaded: SharedArrayBuffer;
  /** The thread loads once that many are. */
  readonly turn: number;
  /** Its work comes through here. */
  readonly work: MessagePort;
}

/** What the main thread gives this thread to do: at its start, or later to one that was started early. */
export async function givenWork<Work>(): Promise<Work> {
  const data = workerData as Work | EarlyThreadData;
  if (!isEarly(data)) return data;
  throughWithLoading(data);
  const [work] = (await once(data.work, "message")) as [Work];
  data.work.close();
  return work;
}

const isEarly = (data: unknown): data is EarlyThreadData => typeof data === "object" && data !== null && "work" in data && "turn" in data;

/** Lets the next thread load. */
export function throughWithLoading({ loaded }: EarlyThreadData): void {
  const count = new Int32Array(loaded);
  Atomics.add(count, 0, 1);
  Atomics.notify(count, 0);
}

/** Waits for the thread's turn to load, or no longer for it after the time. Takes the thread's own turn of the loop. */
export function awaitTurn({ loaded, turn }: EarlyThreadData, timeoutMs: number): void {
  const count = new Int32Array(loaded);
  for (let have = Atomics.load(count, 0); have < turn; have = Atomics.load(count, 0)) {
    if (Atomics.wait(count, 0, have, timeoutMs) === "timed-out") return;
  }
}

import type { Log } from "#app/log/log.ts";
import type { Successor } from "./successor.ts";

export interface HandOverDeps {
  readonly log: Log;
  /** Starts the next process. Throws if this one cannot pass its sockets on. */
  start(): Successor;
  /** Closes everything but the planes, for the next process to open. */
  release(): Promise<void>;
  /** A restart has failed, and this process continues. */
  onFailed(problem: string): void;
}

/** This process's side of a restart without loss (docs/adr/0238). */
export interface HandOver {
  /** Starts another process that takes over; ignored while one is starting. After a late failure it is repeated until one serves. */
  begin(): void;
  /** Resolves with the next process once it serves. */
  readonly served: Promise<Successor>;
  /** Ends a process that does not serve yet. */
  cancel(): void;
}

/** Waiting times before further attempts; the last one repeats. */
const AGAIN_MS = [2_000, 5_000, 15_000, 60_000];

/**
 * The next process loads the program, reads the configuration and tries the state while this one serves. What fails
 * until then changes nothing. Then this process closes its API and the database; the planes go on from memory, and a
 * process is started again until one serves.
 */
export function createHandOver({ log, start, release, onFailed }: HandOverDeps): HandOver {
  const { promise: served, resolve } = Promise.withResolvers<Successor>();
  let current: Successor | null = null;
  let isCancelled = false;
  let released: Promise<void> | null = null;
  let lateFailures = 0;
  let again: NodeJS.Timeout | undefined;
  const attempt = async (): Promise<void> => {
    const successor = start();
    current = successor;
    log.info({ successor: successor.pid }, "starting a process that takes over");
    await successor.loaded;
    released ??= release();
    await released;
    successor.tell({ type: "released" });
    await successor.serving;
    resolve(successor);
  };
  const begin = (): void => {
    if (current !== null || isCancelled) return;
    clearTimeout(again);
    attempt().catch((error: unknown) => {
      current?.kill();
      current = null;
      if (isCancelled) return;
      const problem = `${(error as Error).message}. ${goesOn()}`;
      log.error({ err: error }, `the restart has failed: ${problem}`);
      onFailed(problem);
    });
  };
  const goesOn = (): string => {
    if (released === null) return "The running process goes on";
    const waitMs = AGAIN_MS[lateFailures++] ?? AGAIN_MS.at(-1)!;
    again = setTimeout(begin, waitMs).unref();
    return `The planes of the running process go on without its API, and it tries again in ${waitMs / 1000} seconds: put the cause right`;
  };
  return {
    begin,
    served,
    cancel: () => {
      isCancelled = true;
      clearTimeout(again);
      current?.kill();
    },
  };
}

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
  /** Starts another process that takes over; ignored while one is starting. */
  begin(): void;
  /** Resolves with the next process once it serves. */
  readonly served: Promise<Successor>;
  /** Ends a process that does not serve yet. */
  cancel(): void;
}

/**
 * The next process loads the program and reads the configuration while this one serves. What fails until then changes
 * nothing. Then this process closes its API and the database; the planes go on from memory, and wait for a next attempt
 * if the new process does not come to serve.
 */
export function createHandOver({ log, start, release, onFailed }: HandOverDeps): HandOver {
  const { promise: served, resolve } = Promise.withResolvers<Successor>();
  let current: Successor | null = null;
  let isCancelled = false;
  let released: Promise<void> | null = null;
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
  return {
    begin: () => {
      if (current !== null || isCancelled) return;
      attempt().catch((error: unknown) => {
        current?.kill();
        current = null;
        if (isCancelled) return;
        const goesOn =
          released === null
            ? "The running process goes on"
            : "The planes of the running process go on without its API: put the cause right and run selvedge restart again, or stop it and start it";
        const problem = `${(error as Error).message}. ${goesOn}`;
        log.error({ err: error }, `the restart has failed: ${problem}`);
        onFailed(problem);
      });
    },
    served,
    cancel: () => {
      isCancelled = true;
      current?.kill();
    },
  };
}

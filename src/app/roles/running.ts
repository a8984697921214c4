import type { OnMissing } from "#kernel/process/native-transport.ts";
import type { Leaving } from "./leaving.ts";
import type { ReadyLine } from "#app/operations/ready.ts";

/** A server that serves on the planes of its roles. */
export interface Running {
  readonly ready: ReadyLine;
  /** Must be called once `ready` was printed: the first token is not shown again. */
  shown(): Promise<void>;
  /** Reads configuration and certificates again; unusable values change nothing and are logged. */
  reload(): void;
  /** For parts of the program that try native system calls later. */
  readonly onNotNative: OnMissing;
  readonly leaving: Leaving;
  /** Answers a request of `selvedge log level`, if there is one. */
  changeLevels(): void;
  /** Drains the planes and the API within the time, then closes the databases. */
  close(drainMs: number): Promise<void>;
}

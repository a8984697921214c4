import type { Serve } from "#app/planes/planes-deps.ts";
import type { OpenSocket } from "#app/planes/socket-set.ts";
import type { PlaneWorker } from "#app/threads/plane-worker.ts";

/** A plane whose threads may start after the server: with the first thing to serve, or the first visitor. */
export interface LatePlane<Ports> {
  /** The planes that start together. */
  readonly names: readonly string[];
  /** Resolves with its ports, by transport, when it serves, or when visitors can wait for it. */
  start(): Promise<Ports>;
  /** Whether nothing has woken it yet. */
  isIdle(): boolean;
  /** Whether threads are being started because of a change or a visitor, and do not serve yet. */
  isWaking(): boolean;
  /** Resolves when they serve, or after the time; true if they serve, or nothing has woken them. */
  awake(withinMs: number): Promise<boolean>;
  /** Sockets without a thread yet. */
  waitingSockets(): readonly OpenSocket[];
  /** Its threads, which the caller stops. */
  readonly threads: readonly PlaneWorker[];
  /** Must be called before its threads are stopped. */
  stop(): void;
  /** Must be called after its threads were stopped. */
  close(): void;
}

export interface LatePlaneParts {
  readonly serve: Serve;
  /** A started thread does not serve after all. */
  forget(worker: PlaneWorker): void;
}

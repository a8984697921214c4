import type { Clock } from "#kernel/clock.ts";
import type { Closing } from "#app/operations/disposables.ts";
import type { RunFileKeeper } from "#app/operations/run-file.ts";
import type { Planes, PlaneSockets } from "#app/planes/planes-deps.ts";
import type { OpenSocket } from "#app/planes/socket-set.ts";

/** The parts of a restart without loss (docs/adr/0238). */
export interface Leaving {
  /** Those that are open: of the planes only, once `isReleased`. */
  sockets(): PlaneSockets;
  isReleased(): boolean;
  /** Closes everything but the planes. `idleMs`: see DrainTimes. */
  release(drainMs: number, idleMs: number): Promise<void>;
  stopPlanes: Planes["stop"];
  restartFailed(problem: string): void;
}

export interface LeavingDeps {
  readonly closing: Closing;
  readonly planes: Planes;
  readonly runFile: RunFileKeeper;
  readonly clock: Clock;
  /** Listening sockets beside those of the planes. */
  sockets(): readonly OpenSocket[];
}

/** Also adds the end of the run file to `closing`. */
export function createLeaving({ closing, planes, runFile, clock, sockets }: LeavingDeps): Leaving {
  let isHandedOver = false;
  closing.add(() => (isHandedOver ? runFile.leave() : runFile.remove()));
  return {
    sockets: () => {
      const ofPlanes = planes.sockets();
      // Other files may have the descriptors of closed sockets.
      if (isHandedOver) return ofPlanes;
      return { ...ofPlanes, sockets: [...ofPlanes.sockets, ...sockets()] };
    },
    isReleased: () => isHandedOver,
    release: async (drainMs, idleMs) => {
      isHandedOver = true;
      planes.handOver();
      await closing.release(drainMs, idleMs);
    },
    stopPlanes: planes.stop,
    restartFailed: (problem) => runFile.restartFailed(problem, clock.nowMs()),
  };
}

import { createLazyPlanes, type LazyPlanes, mayContain } from "#app/planes/lazy-planes.ts";
import type { PlanesDeps, Serve } from "#app/planes/planes-deps.ts";
import type { OpenSocket } from "#app/planes/socket-set.ts";
import type { PlaneWorker } from "#app/threads/plane-worker.ts";
import type { Op } from "#snapshot/entries.ts";
import type { LatePlane, LatePlaneParts } from "./late-plane.ts";

/** Sockets in which visitors wait for the threads. */
interface WaitingSockets<Ports> {
  readonly ports: Ports;
  open(): readonly OpenSocket[];
  /** Calls back once, when the first visitor waits. */
  onVisitor(listener: () => void): void;
  /** The threads have taken them over. */
  handedOver(): void;
  close(): void;
}

interface LateThreadsParts<Ports, Sockets> extends LatePlaneParts {
  readonly deps: Pick<PlanesDeps, "log" | "publisher">;
  /** For the log. */
  readonly name: string;
  /** A change that adds something of this kind starts the threads. */
  readonly startedBy: Op["kind"];
  /** Whether something to serve exists at the start. */
  readonly isNeeded: boolean;
  /** Null: the threads start at once and open their sockets themselves. */
  openSockets(): Promise<Sockets | null>;
  /** Resolves when all of them serve. */
  startThreads(sockets: Sockets | null): Promise<Ports>;
}

/** The parts of a late plane that do not depend on its threads. */
export interface LateThreads<Ports> extends Omit<LatePlane<Ports>, "names"> {
  /** Starts a thread of this plane; throws once the plane is being stopped. */
  readonly serve: Serve;
}

export function createLateThreads<Ports, Sockets extends WaitingSockets<Ports>>({
  deps: { log, publisher },
  name,
  startedBy,
  isNeeded,
  openSockets,
  startThreads,
  serve,
  forget,
}: LateThreadsParts<Ports, Sockets>): LateThreads<Ports> {
  const threads: PlaneWorker[] = [];
  let sockets: Sockets | null = null;
  let planes: LazyPlanes | null = null;
  let isStopped = false;
  const startAll = async (): Promise<Ports> => {
    const ports = await startThreads(sockets);
    sockets?.handedOver();
    return ports;
  };
  const undo = async (): Promise<void> => {
    const failed = threads.splice(0);
    await Promise.all(failed.map((worker) => worker.stop(0)));
    failed.forEach(forget);
    sockets?.close();
  };
  return {
    threads,
    serve: (spec) => {
      if (isStopped) throw new Error("the planes are being stopped");
      const worker = serve(spec);
      threads.push(worker);
      return worker;
    },
    start: async () => {
      sockets = await openSockets();
      if (sockets === null || isNeeded) return startAll();
      const started = createLazyPlanes({ name, log, undo, start: async () => void (await startAll()) });
      planes = started;
      publisher.onPublished((delta) => void (mayContain(startedBy, delta) && started.wake()));
      sockets.onVisitor(started.wake);
      return sockets.ports;
    },
    waitingSockets: () => sockets?.open() ?? [],
    isIdle: () => planes?.isIdle() ?? false,
    isWaking: () => planes?.isWaking() ?? false,
    awake: async (withinMs) => planes?.awake(withinMs) ?? true,
    stop: () => {
      isStopped = true;
      planes?.stop();
    },
    close: () => sockets?.close(),
  };
}

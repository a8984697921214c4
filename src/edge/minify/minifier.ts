import { Worker } from "node:worker_threads";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { MinifyTask } from "./minify-body.ts";
import type { MinifyAnswer, MinifyRequest } from "./minify-thread.ts";

/** Smaller forms of bodies in the cache of one edge thread. */
export interface Minifier {
  /**
   * The minified body. Null as long as there is none: the first call begins the work in a thread, and visitors until then
   * get the body as it is. It stays null for a body that cannot be minified. Bodies are known by their buffer, which never changes.
   */
  of(body: Buffer, task: MinifyTask): Buffer | null;
  close(): void;
}

/** A body without its smaller form: it is awaited, or cannot be made. */
const AWAITED = "awaited";
const NONE = "none";
/** The number of tries that took too long. */
type Outcome = Buffer | typeof AWAITED | typeof NONE | number;

interface Asked {
  readonly body: Buffer;
  readonly name: string;
  /** Tries before this one. */
  readonly tries: number;
}

/** Kept results of one thread with their bodies, which may have left the cache; and bodies that may wait. Bytes. */
const KEPT_BYTES_MAX = 16_777_216;
const ASKED_BYTES_MAX = 4_194_304;
/** For one body of at most 256 KiB; the thread ends with one that takes longer. */
const ANSWER_MS = 5_000;
/** A busy machine slows a good body down, too; one that takes too long this often is not tried again. */
const TRIES_MAX = 3;
/** The thread loads its libraries, on a machine where everything else may run too. */
const LOADING_MS = 60_000;
/** The thread takes up to 160 MB; it ends after this time without work. */
const QUIET_MS = 60_000;
const HEAP_MIB_MAX = 256;

export function createMinifier(metrics: MetricRegistry, answerMs = ANSWER_MS): Minifier {
  const done = metrics.counter("selvedge_edge_minified_total", "Bodies in the cache that were minified");
  const kept = new Map<Buffer, Map<string, Outcome>>();
  const asked = new Map<number, Asked>();
  let keptBytes = 0;
  let askedBytes = 0;
  let last = 0;
  let thread: Worker | undefined;
  let isLoaded = false;
  let limit: NodeJS.Timeout | undefined;

  const forgetOldest = (): void => {
    for (const [body, outcomes] of kept) {
      if (Array.from(outcomes.values()).includes(AWAITED)) continue;
      kept.delete(body);
      keptBytes -= body.length;
      for (const outcome of outcomes.values()) if (outcome instanceof Buffer) keptBytes -= outcome.length;
      return;
    }
  };
  const settle = (id: number, outcome: Buffer | typeof NONE | number): void => {
    const one = asked.get(id);
    if (one === undefined) return;
    asked.delete(id);
    askedBytes -= one.body.length;
    const isSmaller = outcome instanceof Buffer && outcome.length < one.body.length;
    kept.get(one.body)?.set(one.name, isSmaller || typeof outcome === "number" ? outcome : NONE);
    if (!isSmaller) return;
    done.value++;
    keptBytes += outcome.length;
    while (keptBytes > KEPT_BYTES_MAX && kept.size > 1) forgetOldest();
  };
  /** Ends the thread. The body that it was working on counts a try; all are asked for again by later visitors. */
  const end = (): void => {
    clearTimeout(limit);
    const ended = thread;
    const wasWorking = isLoaded;
    thread = undefined;
    isLoaded = false;
    for (const [at, [id, { tries }]] of Array.from(asked).entries()) {
      const used = tries + (at === 0 && wasWorking ? 1 : 0);
      settle(id, used < TRIES_MAX ? used : NONE);
    }
    void ended?.terminate();
  };
  const watch = (): void => {
    clearTimeout(limit);
    limit = setTimeout(end, asked.size === 0 ? QUIET_MS : isLoaded ? answerMs : LOADING_MS);
    limit.unref();
  };
  const open = (): Worker => {
    const opened = new Worker(new URL(import.meta.resolve("#edge/minify/minify-thread.ts")), {
      name: "minify",
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
    });
    const isCurrent = (): boolean => thread === opened;
    opened.unref();
    opened.on("message", ({ id, body }: MinifyAnswer) => {
      if (!isCurrent()) return;
      isLoaded = true;
      settle(id, body === null ? NONE : Buffer.from(body));
      watch();
    });
    for (const event of ["error", "exit"]) opened.on(event, () => void (isCurrent() && end()));
    return opened;
  };
  const ask = (body: Buffer, name: string, task: MinifyTask, tries: number): void => {
    if (askedBytes + body.length > ASKED_BYTES_MAX) return;
    const id = ++last;
    let outcomes = kept.get(body);
    if (outcomes === undefined) {
      kept.set(body, (outcomes = new Map()));
      keptBytes += body.length;
    }
    outcomes.set(name, AWAITED);
    asked.set(id, { body, name, tries });
    askedBytes += body.length;
    thread ??= open();
    thread.postMessage({ id, task, body } satisfies MinifyRequest);
    if (asked.size === 1) watch();
  };

  return {
    of: (body, task) => {
      const name = `${task.kind} ${task.css} ${task.js}`;
      const outcome = kept.get(body)?.get(name);
      if (outcome instanceof Buffer) return outcome;
      if (outcome === undefined || typeof outcome === "number") ask(body, name, task, outcome ?? 0);
      return null;
    },
    close: end,
  };
}

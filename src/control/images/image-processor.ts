import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ImageFacts, RenderTask } from "./image-facts.ts";
import type { ImageAnswer, ImageRequest } from "./image-program.ts";

/** Reads and renders files of images in a process of its own, one at a time. `owner`: the account whose work it is. */
export interface ImageProcessor {
  /** Decodes the whole file. Throws `image_format`, `image_unreadable`, `image_dimensions` or `image_busy`. */
  inspect(path: string, owner?: string): Promise<ImageFacts>;
  /** Throws the same errors. */
  render(task: RenderTask, owner?: string): Promise<Buffer>;
  close(): void;
}

interface Waiting {
  readonly owner: string;
  /** How much of its owner's work was there before it. */
  readonly place: number;
  readonly request: ImageRequest;
  readonly resolve: (answer: ImageAnswer) => void;
  readonly reject: (error: PlatformError) => void;
}

type Work = { readonly kind: "inspect"; readonly path: string } | { readonly kind: "render"; readonly task: RenderTask };

export interface ImageProcessorLimits {
  /** For one piece of work; the process ends with one that takes longer. */
  readonly workMs: number;
  /** Memory that the process may fill, in KiB. */
  readonly memoryKib: number;
}

const LIMITS: ImageProcessorLimits = { workMs: 20_000, memoryKib: 1_572_864 };
/** The process loads its library, on a machine where everything else may run too. */
const LOADING_MS = 60_000;
/** It ends after this time without work. */
const QUIET_MS = 60_000;
/** Of all accounts; one may have half of what is free. */
const WAITING_MAX = 128;
/** A broken installation is not tried again with every request. */
const PAUSE_MS = 5_000;

/**
 * `ulimit -d`: writable private memory (setrlimit(2), RLIMIT_DATA). Where memory is short all the same, the kernel ends this
 * process first (proc_pid_oom_score_adj(5)). The shell is replaced by the program.
 */
const LIMITED = 'echo 1000 2>/dev/null >/proc/self/oom_score_adj; ulimit -d "$1" && shift && exec "$@"';

export function createImageProcessor(clock: Clock, limits: Partial<ImageProcessorLimits> = {}): ImageProcessor {
  const { workMs, memoryKib } = { ...LIMITS, ...limits };
  const program = fileURLToPath(import.meta.resolve("#control/images/image-program.ts"));
  const queue: Waiting[] = [];
  let child: ChildProcess | null = null;
  let isLoaded = false;
  let limit: NodeJS.Timeout | undefined;
  let last = 0;
  let brokenUntilMs = 0;

  /** The work that the process was doing fails; the rest goes to the next process. */
  const end = (): void => {
    clearTimeout(limit);
    const ended = child;
    const wasWorking = isLoaded;
    child = null;
    isLoaded = false;
    ended?.removeAllListeners();
    // Its channel may still report that the process has ended.
    ended?.on("error", () => undefined);
    ended?.kill("SIGKILL");
    if (wasWorking)
      queue.shift()?.reject(
        new PlatformError("image_unreadable", {
          message: `The image takes more than ${workMs / 1000} seconds or ${Math.floor(memoryKib / 1024)} MiB of memory.`,
        }),
      );
    else {
      brokenUntilMs = clock.monotonicMs() + PAUSE_MS;
      for (const one of queue.splice(0)) one.reject(new PlatformError("image_busy", { detail: "the program for images did not start" }));
    }
    next();
  };
  const watch = (ms: number, isQuiet: boolean): void => {
    clearTimeout(limit);
    limit = setTimeout(isQuiet ? quiet : end, ms);
    limit.unref();
  };
  const quiet = (): void => {
    const ended = child;
    child = null;
    isLoaded = false;
    ended?.removeAllListeners();
    ended?.on("error", () => undefined);
    ended?.kill("SIGKILL");
  };
  const next = (): void => {
    const [first] = queue;
    if (first === undefined) {
      child?.unref();
      child?.channel?.unref();
      return watch(QUIET_MS, true);
    }
    if (child === null) return open();
    if (!isLoaded) return;
    child.ref();
    child.channel?.ref();
    watch(workMs, false);
    const asked = child;
    // The callback may come late, when another process has taken the place.
    asked.send(first.request, (error) => void (error && child === asked && end()));
  };
  const onAnswer = (answer: ImageAnswer): void => {
    isLoaded = true;
    const [first] = queue;
    if (first !== undefined && first.request.id === answer.id) {
      queue.shift();
      first.resolve(answer);
    }
    next();
  };
  const open = (): void => {
    const opened = spawn("/bin/sh", ["-c", LIMITED, "sh", String(memoryKib), process.execPath, "--expose-gc", program], {
      // Nothing of the server's environment, which may hold secrets.
      env: { PATH: "/usr/bin:/bin", MALLOC_ARENA_MAX: "2" },
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    child = opened;
    opened.on("message", onAnswer);
    for (const event of ["error", "exit"]) opened.on(event, end);
    watch(LOADING_MS, false);
  };
  const ask = (work: Work, owner: string): Promise<ImageAnswer> =>
    new Promise((resolve, reject) => {
      const place = queue.filter((one) => one.owner === owner).length;
      if (place >= WAITING_MAX - queue.length || clock.monotonicMs() < brokenUntilMs) return reject(new PlatformError("image_busy"));
      // Accounts take turns, so that none waits for all the work of another. The first is being done.
      const at = queue.findIndex((one, i) => i > 0 && one.place > place);
      queue.splice(at < 0 ? queue.length : at, 0, { owner, place, request: { id: ++last, ...work }, resolve, reject });
      if (queue.length === 1) next();
    });
  const checked = ({ fault, ...answer }: ImageAnswer): ImageAnswer => {
    if (fault !== undefined) throw new PlatformError(fault);
    return answer;
  };

  return {
    inspect: async (path, owner = "") => checked(await ask({ kind: "inspect", path }, owner)).facts as ImageFacts,
    render: async (task, owner = "") => Buffer.from(checked(await ask({ kind: "render", task }, owner)).bytes as Uint8Array),
    close: () => {
      quiet();
      clearTimeout(limit);
      for (const one of queue.splice(0)) one.reject(new PlatformError("image_busy"));
    },
  };
}

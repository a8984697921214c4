import { Worker } from "node:worker_threads";
import { createTurnQueue } from "#kernel/turn-queue.ts";

/** A thread that takes over work which would hold up everything else in the caller's thread. It runs only while there is work now and then. */
export interface TaskThread<Task, Answer> {
  /**
   * The answer of the thread's program. Owners take turns. Rejects with `TaskRefused` if too many tasks of the owner wait, if the
   * thread ends, or if it takes longer than `answerMs`.
   */
  run(owner: string, task: Task): Promise<Answer>;
}

export class TaskRefused extends Error {}

export interface TaskThreadOptions {
  readonly name: string;
  /** URL of its program, which answers each task with one message, in order. */
  readonly script: string;
  readonly workerData?: unknown;
  /** Tasks of one owner that may wait. */
  readonly waitingMax: number;
  /** The time for one answer, which includes that of loading the program. */
  readonly answerMs: number;
  /** The thread ends after this time without work. */
  readonly quietMs: number;
  /** Limit of the live data on the thread's heap. */
  readonly heapMegabytesMax: number;
}

interface Waiting<Task, Answer> {
  readonly owner: string;
  readonly task: Task;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export function createTaskThread<Task, Answer>(spec: TaskThreadOptions): TaskThread<Task, Answer> {
  const { name, workerData, waitingMax, answerMs, quietMs, heapMegabytesMax } = spec;
  const queue = createTurnQueue<Waiting<Task, Answer>>();
  /** Tasks by owner, which wait or run. */
  const tasks = new Map<string, number>();
  let running: Waiting<Task, Answer> | undefined;
  let thread: Worker | undefined;
  let limit: NodeJS.Timeout | undefined;

  const settle = (end: (one: Waiting<Task, Answer>) => void): void => {
    const one = running;
    if (one === undefined) return;
    running = undefined;
    const left = (tasks.get(one.owner) ?? 1) - 1;
    if (left > 0) tasks.set(one.owner, left);
    else tasks.delete(one.owner);
    end(one);
  };
  /** Ends the thread, and with it the running task; the next one gets another thread. */
  const endThread = (): void => {
    const ended = thread;
    thread = undefined;
    void ended?.terminate();
    settle(({ reject }) => reject(new TaskRefused(`the thread ${name} ended`)));
    next();
  };
  function next(): void {
    clearTimeout(limit);
    running ??= queue.take();
    if (running === undefined) {
      if (thread !== undefined) limit = setTimeout(endThread, quietMs).unref();
      return;
    }
    limit = setTimeout(endThread, answerMs);
    thread ??= open();
    thread.postMessage(running.task);
  }
  function open(): Worker {
    const opened = new Worker(new URL(spec.script), { name, workerData, resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax } });
    const isCurrent = (): boolean => thread === opened;
    opened.on("message", (answer: Answer) => {
      if (!isCurrent()) return;
      settle(({ resolve }) => resolve(answer));
      next();
    });
    for (const event of ["error", "exit"]) opened.on(event, () => void (isCurrent() && endThread()));
    // A listener for messages would keep the process otherwise.
    opened.unref();
    return opened;
  }

  return {
    run: (owner, task) => {
      const before = tasks.get(owner) ?? 0;
      if (before > waitingMax) return Promise.reject(new TaskRefused(`too many tasks of ${owner} wait for the thread ${name}`));
      tasks.set(owner, before + 1);
      return new Promise((resolve, reject) => {
        queue.push(owner, { owner, task, resolve, reject });
        if (running === undefined) next();
      });
    },
  };
}

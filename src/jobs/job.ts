import { begins, JOB } from "#kernel/process/heartbeat.ts";

/** A task that runs at intervals; the files of this folder define them. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** Returns fields for the log, or null if it did nothing. */
  run(): Promise<Readonly<Record<string, unknown>> | null>;
}

export interface JobLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Delays the first runs, so that they do not slow the start. */
const FIRST_RUN_MS = 5_000;

/** Runs each job at its interval, never twice at a time. A failure is logged, and the next run tries again. */
export function startJobs(jobs: readonly Job[], log: JobLog): { stop(): Promise<void> } {
  const timers = new Map<Job, NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  const turn = async (job: Job): Promise<void> => {
    try {
      begins(JOB, job.name);
      const done = await job.run();
      if (done !== null) log.info({ job: job.name, ...done }, "job done");
    } catch (error) {
      log.error({ job: job.name, err: error }, "job failed");
    }
    schedule(job, job.everyMs);
  };
  const schedule = (job: Job, inMs: number): void => {
    if (stopped) return;
    const timer = setTimeout(() => {
      const run: Promise<void> = turn(job).finally(() => running.delete(run));
      running.add(run);
    }, inMs);
    timers.set(job, timer.unref());
  };

  for (const job of jobs) schedule(job, Math.min(FIRST_RUN_MS, job.everyMs));
  return {
    stop: async () => {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}

import { begins, JOB } from "#kernel/process/heartbeat.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";

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

/** Whose turn it is, where several processes have the same jobs (control/nodes/job-leases.ts). */
export interface JobTurns {
  /** Runs the work, or returns null if another process does. */
  run<T>(job: string, work: () => Promise<T>): Promise<T> | null;
  /** This process has the job from now on. */
  onTaken(listener: (job: string) => void): void;
}

export interface JobsDeps {
  readonly log: JobLog;
  readonly metrics: MetricRegistry;
  /** Absent: this process runs all of them. */
  readonly turns?: JobTurns | undefined;
}

/** Delays the first runs, so that they do not slow the start. */
const FIRST_RUN_MS = 5_000;

/** Runs each job at its interval, never twice at a time. A failure is logged, and the next run tries again. */
export function startJobs(jobs: readonly Job[], { log, metrics, turns }: JobsDeps): { stop(): Promise<void> } {
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  const turn = async (job: Job): Promise<void> => {
    const runs = metrics.counter("selvedge_job_runs_total", "Runs of the jobs of control", { job: job.name });
    const run = (): Promise<Readonly<Record<string, unknown>> | null> => {
      runs.value++;
      return job.run();
    };
    try {
      begins(JOB, job.name);
      const done = await (turns === undefined ? run() : turns.run(job.name, run));
      if (done !== null) log.info({ job: job.name, ...done }, "job done");
    } catch (error) {
      log.error({ job: job.name, err: error }, "job failed");
    }
    schedule(job, job.everyMs);
  };
  const schedule = (job: Job, inMs: number): void => {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(job.name);
      const run: Promise<void> = turn(job).finally(() => running.delete(run));
      running.add(run);
    }, inMs);
    timers.set(job.name, timer.unref());
  };

  for (const job of jobs) schedule(job, Math.min(FIRST_RUN_MS, job.everyMs));
  turns?.onTaken((name) => {
    const job = jobs.find((one) => one.name === name);
    // The process before this one may have ended just before the job was due.
    if (job === undefined || !timers.has(name)) return;
    clearTimeout(timers.get(name));
    schedule(job, 0);
  });
  return {
    stop: async () => {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}

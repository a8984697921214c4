import type { MessagePort } from "node:worker_threads";
import type { MetricRegistry } from "#kernel/metrics.ts";
import { encodingOf, type Frame, isScannedType, SCANNED_BYTES_MAX, type ScanSubject, type SlabMessage, type SlabReturn } from "./job.ts";

/** Copies bodies of responses for the detector without making the edge wait for it. */
export interface Tap {
  /** Null when this body is not to be scanned: its type or coding is not one of ours, or there is no room. */
  begin(subject: ScanSubject): BodyTap | null;
  /** Sends what was copied and lets go of the port. */
  close(): void;
}

/** One body. Nothing here throws or waits; calls after `end` or `abort` do nothing. */
export interface BodyTap {
  /** Copies `bytes[start, end)`; the caller may reuse the buffer at once. */
  chunk(bytes: Uint8Array, start: number, end: number): void;
  end(): void;
  /** The response broke off: what was sent to the visitor is scanned. */
  abort(): void;
}

export interface TapDeps {
  /** To the detector worker; the tap closes it. */
  readonly port: MessagePort;
  readonly metrics: MetricRegistry;
  /** Longest time that bytes wait before they are sent. */
  readonly flushMs?: number;
  readonly slabBytes?: number;
  /** Slabs that exist at most; while all are with the detector, load is shed. */
  readonly slabsMax?: number;
  /** Bodies under way at most; the oldest is cut short for a new one, so that endless streams do not hold all places. */
  readonly jobsMax?: number;
}

const FLUSH_MS = 10;
// 256 KB holds many small bodies; a transfer costs the same for any size.
const SLAB_BYTES = 256 * 1024;
const SLABS_MAX = 32;
const JOBS_MAX = 256;

interface Job {
  readonly number: number;
  /** Sent with the first frame only. */
  subject: ScanSubject | null;
  left: number;
}

export function createTap({
  port,
  metrics,
  flushMs = FLUSH_MS,
  slabBytes = SLAB_BYTES,
  slabsMax = SLABS_MAX,
  jobsMax = JOBS_MAX,
}: TapDeps): Tap {
  const tapped = metrics.counter("detection_responses_total", "Responses copied for sensitive data detection");
  const shed = metrics.counter("detection_shed_total", "Responses not scanned, or not to their end, because the detector was busy");
  const unknownCoding = metrics.counter("detection_unknown_coding_total", "Responses not scanned because of their Content-Encoding");
  const free: ArrayBuffer[] = [];
  const jobs = new Map<number, Job>();
  let made = 0;
  let lastJob = 0;
  let slab: Uint8Array<ArrayBuffer> | null = null;
  let filled = 0;
  let frames: Frame[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  port.on("message", ({ slab: returned }: SlabReturn) => {
    if (returned.byteLength === slabBytes) free.push(returned);
  });
  port.on("close", () => {
    closed = true;
  });
  port.unref();

  /** The slab to fill, or null while every one of them is with the detector. */
  const room = (): Uint8Array<ArrayBuffer> | null => {
    if (slab !== null && filled < slab.length) return slab;
    if (slab !== null) flush();
    let next = free.pop();
    if (next === undefined) {
      if (made === slabsMax) return null;
      made++;
      next = new ArrayBuffer(slabBytes);
    }
    slab = new Uint8Array(next);
    return slab;
  };

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (frames.length === 0 || closed) return;
    // Ends of bodies are said even when there is no slab to go with them.
    const buffer = slab?.buffer ?? new ArrayBuffer(0);
    const message: SlabMessage = { slab: buffer, frames };
    port.postMessage(message, [buffer]);
    slab = null;
    filled = 0;
    frames = [];
  };

  const add = (job: Job, from: number, to: number, end: boolean): void => {
    frames.push({ job: job.number, from, to, subject: job.subject, end });
    job.subject = null;
    timer ??= setTimeout(flush, flushMs).unref();
  };

  const finish = (job: Job): void => {
    // A body of which nothing was copied never reached the detector.
    if (jobs.delete(job.number) && job.subject === null) add(job, 0, 0, true);
  };

  const copy = (job: Job, bytes: Uint8Array, start: number, end: number): void => {
    let at = start;
    const stop = Math.min(end, start + job.left);
    while (at < stop) {
      const target = room();
      if (target === null) {
        shed.value++;
        finish(job);
        return;
      }
      const taken = Math.min(stop - at, target.length - filled);
      target.set(bytes.subarray(at, at + taken), filled);
      add(job, filled, filled + taken, false);
      filled += taken;
      at += taken;
    }
    job.left -= stop - start;
    if (job.left === 0) finish(job);
  };

  return {
    begin: (subject) => {
      if (closed || !isScannedType(subject.content_type)) return null;
      if (encodingOf(subject.content_encoding) === undefined) {
        unknownCoding.value++;
        return null;
      }
      if (room() === null) {
        shed.value++;
        return null;
      }
      if (jobs.size >= jobsMax) {
        const oldest = jobs.values().next().value;
        shed.value++;
        if (oldest !== undefined) finish(oldest);
      }
      tapped.value++;
      const job: Job = { number: ++lastJob, subject, left: SCANNED_BYTES_MAX };
      jobs.set(job.number, job);
      const over = (): void => finish(job);
      return { chunk: (bytes, start, end) => (jobs.has(job.number) ? copy(job, bytes, start, end) : undefined), end: over, abort: over };
    },
    close: () => {
      for (const job of Array.from(jobs.values())) finish(job);
      flush();
      closed = true;
      port.close();
    },
  };
}

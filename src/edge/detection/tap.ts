import type { MessagePort } from "node:worker_threads";
import type { MetricRegistry } from "#kernel/metrics.ts";
import { encodingOf, isScannedType, SCANNED_BYTES_MAX, type ScanSubject } from "./job.ts";
import { createSlabs, type Slabs } from "./slabs.ts";

/** Copies bodies of responses for the detector without making the edge wait for it. */
export interface Tap {
  /** Whether bodies of the media type are scanned at all: asked first, since most responses of a page are not. */
  takes(mediaType: string): boolean;
  /** Null when this body is not to be scanned: its type or coding is not one of ours, or there is no room. */
  begin(subject: ScanSubject): BodyTap | null;
  /** The detector has been started again and takes bodies here; those under way are scanned no further. */
  reconnect(port: MessagePort): void;
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
  subject: string | null;
  left: number;
}

export function createTap({
  port: firstPort,
  metrics,
  flushMs = FLUSH_MS,
  slabBytes = SLAB_BYTES,
  slabsMax = SLABS_MAX,
  jobsMax = JOBS_MAX,
}: TapDeps): Tap {
  const tapped = metrics.counter("selvedge_detection_responses_total", "Responses copied for sensitive data detection");
  const shed = metrics.counter(
    "selvedge_detection_shed_total",
    "Responses not scanned, or not to their end, because the detector was busy",
  );
  const unknownCoding = metrics.counter(
    "selvedge_detection_unknown_coding_total",
    "Responses not scanned because of their Content-Encoding",
  );
  const jobs = new Map<number, Job>();
  let lastJob = 0;
  let port = firstPort;
  /** Null while the detector is gone. */
  let slabs: Slabs | null = null;

  const connect = (next: MessagePort): void => {
    jobs.clear();
    port = next;
    slabs = createSlabs({ port: next, flushMs, slabBytes, slabsMax });
    next.on("close", () => {
      if (port === next) slabs = null;
    });
    next.unref();
  };
  connect(firstPort);

  const finish = (job: Job): void => {
    // A body of which nothing was copied never reached the detector.
    if (jobs.delete(job.number) && job.subject === null) slabs?.add({ job: job.number, from: 0, to: 0, subject: null, end: true });
  };

  const chunk = (job: Job, bytes: Uint8Array, start: number, end: number): void => {
    if (!jobs.has(job.number)) return;
    if (slabs === null || !copyInto(slabs, job, bytes, start, end)) shed.value++;
    else if (job.left > 0) return;
    finish(job);
  };

  return {
    takes: isScannedType,
    begin: (subject) => {
      if (!isScannedType(subject.content_type)) return null;
      if (encodingOf(subject.content_encoding) === undefined) {
        unknownCoding.value++;
        return null;
      }
      if (slabs === null || !slabs.hasRoom()) {
        shed.value++;
        return null;
      }
      const [oldest] = jobs.size < jobsMax ? [] : jobs.values();
      if (oldest !== undefined) {
        shed.value++;
        finish(oldest);
      }
      tapped.value++;
      const job: Job = { number: ++lastJob, subject: JSON.stringify(subject), left: SCANNED_BYTES_MAX };
      jobs.set(job.number, job);
      const over = (): void => finish(job);
      return { chunk: (bytes, start, end) => chunk(job, bytes, start, end), end: over, abort: over };
    },
    reconnect: connect,
    close: () => {
      for (const job of Array.from(jobs.values())) finish(job);
      slabs?.flush();
      slabs = null;
      port.close();
    },
  };
}

/** Copies what the body's bound leaves of `bytes[start, end)`; false when the slabs ran out before. */
function copyInto(slabs: Slabs, job: Job, bytes: Uint8Array, start: number, end: number): boolean {
  const stop = Math.min(end, start + job.left);
  for (let at = start; at < stop;) {
    const place = slabs.copy(bytes, at, stop);
    if (place === null) return false;
    slabs.add({ job: job.number, ...place, subject: job.subject, end: false });
    job.subject = null;
    job.left -= place.to - place.from;
    at += place.to - place.from;
  }
  return true;
}

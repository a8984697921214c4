import type { MessagePort } from "node:worker_threads";
import type { MetricRegistry } from "#kernel/metrics.ts";
import {
  type DetectorMessage,
  encodingOf,
  isScannedType,
  SCANNED_BYTES_MAX,
  type ScanSubject,
  subjectText,
  type TapMessage,
} from "./job.ts";
import { createRing, createRingWriter, RECORD_BYTES_MAX, type RingWriter } from "./ring.ts";

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
  /** Called when the first body is copied: the detector may not have been started before. */
  onFirstUse?(): void;
  /** Has the system let all others interrupt the thread of this number; whether it does. */
  readonly yields?: (thread: number) => boolean;
  /** How much of bodies may wait for the detector; beyond that, load is shed. */
  readonly ringBytes?: number;
  /** Bodies under way at most; the oldest is cut short for a new one, so that endless streams do not hold all places. */
  readonly jobsMax?: number;
}

/** A third of a second of an edge at its limit; memory is used as far as the detector is behind. */
const RING_BYTES = 8 * 1024 * 1024;
const JOBS_MAX = 256;
/** Most subjects; a longer one that finds no room is shed with its first piece. */
const SUBJECT_BYTES = 512;
/** Heads are limited to 32 KB, of which a subject is a part. */
const PIECE_BYTES_MAX = RECORD_BYTES_MAX / 2;

export function createTap(deps: TapDeps): Tap {
  const { port: firstPort, metrics, onFirstUse, yields = () => false, ringBytes = RING_BYTES, jobsMax = JOBS_MAX } = deps;
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
  let isUsed = false;
  /** Null while the detector is gone. */
  let ring: RingWriter | null = null;

  const connect = (next: MessagePort): void => {
    jobs.clear();
    port = next;
    const memory = createRing(ringBytes);
    const tell = (message: TapMessage): void => next.postMessage(message);
    tell({ ring: memory });
    ring = createRingWriter(memory, { endsMax: jobsMax, wake: () => wake(next) });
    next.on("message", ({ thread }: DetectorMessage) => {
      if (yields(thread)) tell({ givesWay: true });
    });
    next.on("close", () => {
      if (port === next) ring = null;
    });
    next.unref();
  };
  const wake = (sleeper: MessagePort): void => {
    sleeper.postMessage(null);
    if (!isUsed) onFirstUse?.();
    isUsed = true;
  };
  connect(firstPort);

  const finish = (job: Job): void => {
    // A body of which nothing was copied never reached the detector.
    if (jobs.delete(job.number) && job.subject === null) ring?.end(job.number);
  };

  const chunk = (job: Job, bytes: Uint8Array, start: number, end: number): void => {
    if (!jobs.has(job.number)) return;
    if (ring === null || !copyInto(ring, job, bytes, start, end)) shed.value++;
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
      if (ring === null || !ring.hasRoom(SUBJECT_BYTES)) {
        shed.value++;
        return null;
      }
      const [oldest] = jobs.size < jobsMax ? [] : jobs.values();
      if (oldest !== undefined) {
        shed.value++;
        finish(oldest);
      }
      tapped.value++;
      const job: Job = { number: (lastJob = (lastJob + 1) | 0), subject, left: SCANNED_BYTES_MAX };
      jobs.set(job.number, job);
      const over = (): void => finish(job);
      return { chunk: (bytes, start, end) => chunk(job, bytes, start, end), end: over, abort: over };
    },
    reconnect: connect,
    close: () => {
      for (const job of Array.from(jobs.values())) finish(job);
      ring = null;
      port.close();
    },
  };
}

/** One body under way. */
interface Job {
  readonly number: number;
  /** Null once it was written, with the first piece. */
  subject: ScanSubject | null;
  left: number;
}

/** Copies what the body's bound leaves of `bytes[start, end)`; false when the room ran out before. */
function copyInto(ring: RingWriter, job: Job, bytes: Uint8Array, start: number, end: number): boolean {
  const stop = Math.min(end, start + job.left);
  const text = job.subject === null ? "" : subjectText(job.subject);
  if (text.length > PIECE_BYTES_MAX) return false;
  for (let at = start; at < stop;) {
    const next = Math.min(stop, at + PIECE_BYTES_MAX);
    if (!ring.write(job.number, job.subject === null ? "" : text, bytes, at, next)) return false;
    job.subject = null;
    job.left -= next - at;
    at = next;
  }
  return true;
}

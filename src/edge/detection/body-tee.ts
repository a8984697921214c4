import type { MessagePort } from "node:worker_threads";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import {
  codingsOf,
  type DetectorMessage,
  isScannedType,
  SCANNED_BYTES_MAX,
  SHED,
  type ScannedRequest,
  type ScannedResponse,
  type ScanScope,
  subjectText,
  type TeeMessage,
} from "./scan-plan.ts";
import { DetectorChannel, NO_JOB, CHUNK_BYTES_MAX } from "./detector-channel.ts";
import { BufferPool } from "./shared-buffers.ts";
import { createRing, createRingWriter, type JobEnd } from "./ring.ts";

/** Copies response bodies to the detector without making the edge wait for it. */
export interface BodyTee {
  /** True if bodies of the media type are scanned. Call first, since most responses of a page are not. */
  takes(mediaType: string): boolean;
  /**
   * Null if this body is not scanned: its type or coding is not supported, or the ring is full. `request` is read with
   * the first piece.
   */
  begin(scope: ScanScope, request: ScannedRequest, response: ScannedResponse): BodyCopy | null;
  /** The detector has restarted and takes bodies through this port; bodies under way are scanned no further. */
  reconnect(port: MessagePort): void;
  /** Sends the copied bytes and closes the port. */
  close(): void;
}

/** Copies one body. Nothing here throws or waits; calls after `last`, `end` or `abort` do nothing. */
export interface BodyCopy {
  /** Copies `bytes[start, end)`; the caller may reuse the buffer at once. */
  chunk(bytes: Uint8Array, start: number, end: number): void;
  /** `chunk` and `end` in one call, so that a body in one piece is one record for the detector. */
  last(bytes: Uint8Array, start: number, end: number): void;
  end(): void;
  /** The response broke off: the bytes sent to the visitor are scanned, except for a word at the break. */
  abort(): void;
}

export interface BodyTeeDeps {
  /** Port to the detector worker; `close` closes it. */
  readonly port: MessagePort;
  readonly metrics: MetricRegistry;
  /** Called when the first body is copied, so that the detector starts only when needed. */
  onFirstUse?(): void;
  /** Lets the system interrupt the thread with this number for any other thread. Returns whether it does. */
  readonly yields?: (thread: number) => boolean;
  /** If present, long chunks that were just read are shared instead of copied (ADR 0044). */
  readonly placeIn?: SocketCalls["placeIn"] | undefined;
  /** Bytes that may wait for the detector; beyond them, load is shed. */
  readonly ringBytes?: number;
  /** Open bodies at most. A new body cuts the oldest one short, so that endless streams do not occupy all places. */
  readonly jobsMax?: number;
}

/** About a third of a second of an edge at its limit. The ring uses memory only for bytes that the detector has not read. */
const RING_BYTES = 8 * 1024 * 1024;
const JOBS_MAX = 256;
/** Most subjects are shorter. The tee sheds a longer one that does not fit with its first chunk. */
const SUBJECT_BYTES = 512;
/** Numbers of jobs are stored as signed 32-bit numbers. */
const JOB_MAX = 2 ** 31 - 1;

export function createBodyTee(deps: BodyTeeDeps): BodyTee {
  const { port: firstPort, metrics, onFirstUse, yields = () => false, placeIn, ringBytes = RING_BYTES, jobsMax = JOBS_MAX } = deps;
  const tapped = metrics.counter(
    "selvedge_detection_responses_total",
    "Responses selected for a sensitive data scan; each is later scanned or shed",
  );
  const shed = metrics.counter(...SHED);
  const unknownCoding = metrics.counter(
    "selvedge_detection_unknown_coding_total",
    "Responses not scanned because of their Content-Encoding",
  );
  const lender = placeIn === undefined ? null : new BufferPool(placeIn);
  /** Bodies that were written in part, oldest first. */
  const open = new Set<Body>();
  let lastJob = NO_JOB;
  let port = firstPort;
  let isUsed = false;
  /** Null while the detector is down. */
  let line: DetectorChannel | null = null;

  const leaveOut = (): void => {
    tapped.value++;
    shed.value++;
  };

  /** Counts the bodies that the detector had not finished when it died, since no other will. */
  const lose = (): void => {
    shed.value += line?.unfinished() ?? 0;
    line = null;
    open.clear();
  };
  const connect = (next: MessagePort): void => {
    lose();
    port = next;
    const memory = createRing(ringBytes);
    const tell = (message: TeeMessage): void => next.postMessage(message);
    lender?.takeBack();
    tell({ ring: memory, lent: lender?.memory ?? null });
    line = new DetectorChannel(createRingWriter(memory, { endsMax: jobsMax, lender, wake: () => wake(next) }));
    next.on("message", ({ thread }: DetectorMessage) => {
      if (yields(thread)) tell({ givesWay: true });
    });
    next.on("close", () => {
      if (port === next) lose();
    });
    next.unref();
  };
  const wake = (sleeper: MessagePort): void => {
    sleeper.postMessage(null);
    if (!isUsed) onFirstUse?.();
    isUsed = true;
  };
  connect(firstPort);

  /** Adds a body to the open ones, and cuts the oldest one short if there are too many. */
  const keep = (body: Body): void => {
    const [oldest] = open.size < jobsMax ? [] : open;
    oldest?.cut();
    open.add(body);
  };

  class Body implements BodyCopy {
    private readonly line: DetectorChannel;
    private readonly scope: ScanScope;
    private readonly request: ScannedRequest;
    private readonly response: ScannedResponse;
    /** Set with the first piece. */
    private job = NO_JOB;
    /** One byte more than is scanned, to tell the detector that there is more. */
    private left = SCANNED_BYTES_MAX + 1;
    private isOver = false;

    constructor(to: DetectorChannel, scope: ScanScope, request: ScannedRequest, response: ScannedResponse) {
      this.line = to;
      this.scope = scope;
      this.request = request;
      this.response = response;
    }

    chunk(bytes: Uint8Array, start: number, end: number): void {
      this.copy(bytes, start, end, false);
    }

    last(bytes: Uint8Array, start: number, end: number): void {
      this.copy(bytes, start, end, true);
    }

    end(): void {
      this.finish("whole");
    }

    abort(): void {
      this.finish("broken");
    }

    private finish(how: JobEnd): void {
      if (this.isOver) return;
      this.isOver = true;
      // A body without copied bytes is unknown to the detector; one that is not open has ended already.
      if (open.delete(this)) this.line.ring.end(this.job, how);
    }

    /** Counts the body as shed. If the detector dies before it gets there, it is not counted again. */
    cut(): void {
      shed.value++;
      this.isOver = true;
      if (!open.delete(this)) return;
      this.line.begun--;
      this.line.ring.end(this.job, "cut");
    }

    private copy(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
      if (this.isOver) return;
      // The detector that has the beginning, or would have got it, is gone.
      if (this.line !== line) {
        if (this.job === NO_JOB && start < end) leaveOut();
        return void (this.isOver = true);
      }
      // An empty body has nothing to scan.
      if (this.job === NO_JOB && start < end) tapped.value++;
      const stop = Math.min(end, start + this.left);
      this.left -= stop - start;
      const isEnd = isLast || this.left === 0;
      for (let at = start; at < stop;) {
        const next = this.line.ring.lends(bytes, at, stop) ? stop : Math.min(stop, at + CHUNK_BYTES_MAX);
        if (!this.write(bytes, at, next, isEnd && next === stop)) return this.cut();
        at = next;
      }
      if (isEnd) this.end();
    }

    /** Returns false if the ring is full. */
    private write(bytes: Uint8Array, start: number, end: number, isEnd: boolean): boolean {
      const { ring } = this.line;
      if (this.job !== NO_JOB) {
        if (!ring.write(this.job, 0, "", bytes, start, end, isEnd)) return false;
        if (isEnd) open.delete(this);
        this.isOver = isEnd;
        return true;
      }
      const text = subjectText(this.request, this.response.status);
      const plan = this.line.planFor(this.scope, this.response);
      if (plan < 0 || text.length > CHUNK_BYTES_MAX) return false;
      lastJob = lastJob === JOB_MAX ? 1 : lastJob + 1;
      if (!ring.write(lastJob, plan, text, bytes, start, end, isEnd)) return false;
      this.job = lastJob;
      // The ring still has room for this body's end, and for the end of the body that it may cut short.
      if (!isEnd) keep(this);
      this.isOver = isEnd;
      this.line.begun++;
      return true;
    }
  }

  return {
    takes: isScannedType,
    begin: (scope, request, response) => {
      if (!isScannedType(response.content_type)) return null;
      if (codingsOf(response.content_encoding) === undefined) {
        unknownCoding.value++;
        return null;
      }
      if (line === null || !line.ring.hasRoom(SUBJECT_BYTES)) {
        leaveOut();
        return null;
      }
      return new Body(line, scope, request, response);
    },
    reconnect: connect,
    close: () => {
      for (const body of Array.from(open)) body.abort();
      line = null;
      port.close();
    },
  };
}

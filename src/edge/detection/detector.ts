import { begins, SCAN } from "#kernel/process/heartbeat.ts";
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { EventSink } from "#events/rows/rows.ts";
import type { CompiledDetectors } from "#rules/detectors/engine/compiled.ts";
import type { ScanResult } from "#rules/detectors/engine/scan.ts";
import { type BodyJob, createBodyJobs } from "./body-jobs.ts";
import type { DecodingLoad } from "./decode.ts";
import { textMaskerOf } from "#rules/detectors/masking/text-masker.ts";
import type { ValueHash } from "#rules/detectors/engine/value-hash.ts";
import { createCompiledCache, type Policies } from "./compiled-cache.ts";
import { eventOf } from "./event.ts";
import { type DetectorMessage, planOf, type ScanPlan, SHED, subjectOf, type TeeMessage } from "./scan-plan.ts";
import { createFairShare } from "./fair-share.ts";
import { BufferUser } from "./shared-buffers.ts";
import { examine } from "./matches.ts";
import { NO_JOB } from "./detector-channel.ts";
import { createPoller } from "./poller.ts";
import { createRingReader, type RingReader, type RingRecord } from "./ring.ts";

export interface Detector {
  /** Scans the bodies of a tee from now on. */
  attach(port: MessagePort): void;
  /** Bytes read from tees so far. */
  readBytes(): number;
  /** Ends the bodies under way with the bytes that have come, and closes the ports. */
  close(): void;
}

export interface DetectorDeps {
  readonly events: EventSink;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** The settings of the owners of zones and accounts. */
  readonly policies: Policies;
  readonly valueHash: ValueHash;
  /** The system's number of this thread (kernel/process/thread-priority.ts); 0 if the system has none. */
  readonly thread?: number;
  /** Milliseconds between two looks while bodies are few. */
  readonly pollMs?: number;
  /** CPU time of this thread in milliseconds; for tests. */
  readonly cpuMs?: () => number;
}

interface Attached {
  /** Plans by the labels of records. */
  readonly plans: ScanPlan[];
  /** In the order in which they began; null for bodies that are left out. */
  readonly jobs: Map<number, Job | null>;
  /** Null until the tee has sent its ring. */
  ring: RingReader | null;
}

interface Job {
  readonly body: BodyJob;
  /** The tee has counted the body as shed already. */
  isCut: boolean;
  /** Reported before its end; its later findings are dropped. */
  isTold: boolean;
}

/** The outcome of a scan. */
interface Looked {
  readonly result: ScanResult;
  /** The scanned text, if it is JSON and was kept. */
  readonly body: Uint8Array | null;
  /** The body had more than was scanned. */
  readonly isPartial: boolean;
}

/** Scans the bodies that tees copy, and writes one event for each with a match. Runs outside the response path. */
export function createDetector({
  events,
  clock,
  metrics,
  policies,
  valueHash,
  thread = 0,
  pollMs = POLL_MS,
  cpuMs,
}: DetectorDeps): Detector {
  const scanned = metrics.counter("selvedge_detection_scanned_total", "Responses scanned for sensitive data");
  const scannedBytes = metrics.counter("selvedge_detection_scanned_bytes_total", "Decoded bytes scanned for sensitive data");
  const limited = metrics.counter("selvedge_detection_limited_total", "Scans stopped at their candidate limit");
  const matched = metrics.counter("selvedge_detection_events_total", "Responses with sensitive data");
  const shed = metrics.counter(...SHED);
  const allowed = metrics.counter("selvedge_detection_allowlisted_total", "Sensitive data matches ignored because of an allowlist");
  const compiled = createCompiledCache(policies);
  const taps = new Map<MessagePort, Attached>();
  const shares = createFairShare({ monotonicMs: () => clock.monotonicMs(), ...(cpuMs ? { cpuMs } : {}) });
  /** While the load is high, rings fill up and tees shed load. */
  const load: DecodingLoad = { bytes: 0, decoders: 0 };
  const isHigh = (): boolean => load.bytes >= DECODING_BYTES_MAX || load.decoders >= DECODERS_MAX;
  let readBytes = 0;
  let isHeldUp = false;
  let givesWay = false;
  const beginBody = createBodyJobs(BREATH_BYTES, load);

  const report = (plan: ScanPlan, text: string, detectors: CompiledDetectors, looked: Looked): void => {
    const { result, body, isPartial } = looked;
    scannedBytes.value += result.bytes;
    if (result.limited) limited.value++;
    if (result.findings.length === 0) return;
    const subject = subjectOf(plan, text);
    if (subject === null) return;
    const mask = textMaskerOf(detectors);
    const entries = policies(subject.zone_id)?.allowed ?? [];
    const examined = examine(result, { subject, body, allowed: entries, valueHash, mask });
    allowed.value += examined.allowed;
    const isLimited = result.limited || isPartial || examined.isPartial;
    const row = eventOf(subject, examined.matches, { id: newUlid(clock.nowMs()), limited: isLimited, mask });
    if (row === null) return;
    matched.value++;
    events.push("security_events", row);
  };

  /**
   * Counts a finished body. The tee counts bodies that it cut short, and unfinished ones when the detector dies, so each
   * body is counted once.
   */
  const done = (ring: RingReader | null): void => {
    scanned.value++;
    ring?.done();
  };

  const begin = (plan: ScanPlan, text: string, first: Uint8Array, ring: RingReader | null): Job => {
    begins(SCAN, plan.zone_id);
    const detectors = compiled(plan);
    const onResult = (result: ScanResult, looked: Uint8Array | null, isPartial: boolean): void => {
      report(plan, text, detectors, { result, body: looked, isPartial });
      // A body that was reported early is finished once its end has come.
      if (!job.isCut && !job.isTold) done(ring);
      if (isHeldUp && load.decoders < DECODERS_MAX / 2) poller.hurry();
    };
    const inTime = (work: () => void): void => shares.run(plan.account_id, work);
    const body = beginBody({ plan, first, detectors, startedMs: clock.monotonicMs(), timed: inTime, onResult });
    const job: Job = { body, isCut: false, isTold: false };
    return job;
  };

  const pass = (body: BodyJob, bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; at += BREATH_BYTES) {
      if (at > 0 && !givesWay) breathe();
      body.write(bytes.subarray(at, at + BREATH_BYTES));
    }
  };

  const take = ({ jobs, plans, ring }: Attached, { job: number, label, text, bytes, isEnd, isCut, isBroken }: RingRecord): void => {
    if (number === NO_JOB) return void (plans[label] = planOf(text));
    let job = jobs.get(number);
    const plan = text === "" ? undefined : plans[label];
    if (plan !== undefined) {
      job = shares.isOver(plan.account_id) ? null : begin(plan, text, bytes, ring);
      if (!isEnd) jobs.set(number, job);
    }
    if (job === undefined) return;
    if (isEnd) jobs.delete(number);
    if (job === null) return isEnd && !isCut ? leaveOut(ring) : undefined;
    if (job.isTold) return isEnd && !isCut ? done(ring) : undefined;
    const { body } = job;
    job.isCut = isCut;
    shares.run(body.account, () => {
      pass(body, bytes);
      if (isEnd) body.end(isCut ? "partial" : isBroken ? "broken" : "whole");
    });
  };

  /**
   * Counts a body as left out, once it has ended. Before its end the tee may cut it short, or the detector die, and then
   * the tee counts it.
   */
  const leaveOut = (ring: RingReader | null): void => {
    shed.value++;
    ring?.done();
  };

  /** Returns the number of bytes read, and whether more may wait. */
  const read = (tap: Attached): { readonly sum: number; readonly isBehind: boolean } => {
    const { ring } = tap;
    let sum = 0;
    ring?.stir();
    while (ring !== null && sum < TURN_BYTES && !(isHeldUp = isHigh())) {
      const bytes = ring.read(BREATH_BYTES, (record) => {
        take(tap, record);
        return !isHigh();
      });
      if (bytes === 0) {
        ring.doze();
        return { sum, isBehind: false };
      }
      sum += bytes;
      if (!givesWay && !ring.isBehind()) breathe();
    }
    return { sum, isBehind: ring !== null };
  };

  const poller = createPoller({
    pollMs,
    busyPollMs: Math.min(pollMs, BUSY_POLL_MS),
    poll: () => {
      const turns = Array.from(taps.values(), read);
      // Bytes that are taken as soon as they come delay nobody, however many there are.
      if (!turns.some(({ isBehind }) => isBehind)) shares.rest();
      const bytes = turns.reduce((sum, turn) => sum + turn.sum, 0);
      readBytes += bytes;
      return bytes === 0 ? "nothing" : bytes < MUCH_BYTES ? "little" : "much";
    },
    // Decoders that have to catch up do not wake the poller by themselves.
    sleep: () => load.decoders === 0 && Array.from(taps.values(), ({ ring }) => ring?.sleep() ?? true).every(Boolean),
  });

  /** Reports the findings of a long response before its end, as soon as it has some. */
  const lookAtLong = (): void => {
    const before = clock.monotonicMs() - LONG_MS;
    for (const { jobs } of taps.values()) {
      for (const job of jobs.values()) {
        if (job === null || job.isTold) continue;
        if (job.body.startedMs > before) break;
        if (!job.body.hasFindings()) continue;
        job.isTold = true;
        job.body.endEarly();
      }
    }
  };
  const looking = setInterval(lookAtLong, LOOK_MS);
  looking.unref();

  const finish = (tap: Attached): void => {
    tap.ring?.read(Number.POSITIVE_INFINITY, (record) => take(tap, record));
    tap.ring = null;
    for (const job of tap.jobs.values()) if (job !== null && !job.isTold) job.body.end("partial");
    tap.jobs.clear();
  };

  return {
    attach: (port) => {
      const tap: Attached = { plans: [], jobs: new Map(), ring: null };
      taps.set(port, tap);
      port.on("message", (message: TeeMessage) => {
        if (message === null) {
          shares.rest();
          return poller.wake();
        }
        if ("givesWay" in message) return void (givesWay = message.givesWay);
        tap.ring = createRingReader(message.ring, message.lent === null ? null : new BufferUser(message.lent));
        poller.wake();
      });
      const message: DetectorMessage = { thread };
      if (thread > 0) port.postMessage(message);
      port.on("close", () => {
        finish(tap);
        taps.delete(port);
      });
    },
    readBytes: () => readBytes,
    close: () => {
      poller.stop();
      clearInterval(looking);
      for (const [port, tap] of taps) {
        finish(tap);
        port.close();
      }
    },
  };
}

/** Takes less than 0.1 ms to scan. Bytes. */
const BREATH_BYTES = 32 * 1024;
const BREATH_MS = 0.05;
const nothing = new Int32Array(new SharedArrayBuffer(4));

/**
 * Gives the processor away for a moment. Linux lets a ready thread wait until another one has used its slice of 1 ms or
 * more, whatever their priorities, so threads that answer requests would wait while the scan lasts. This costs a third of
 * the scan, so it is used only if the tee cannot let the system interrupt the detector.
 */
const breathe = (): void => void Atomics.wait(nothing, 0, 0, BREATH_MS);

/** A body that takes longer than this is reported early, in milliseconds. */
const LONG_MS = 30_000;
const LOOK_MS = 2000;
/** Waking up costs as much as scanning about ten KB, and findings are not urgent. */
const POLL_MS = 40;
/** The ring must be emptied soon. Threads that answer clients come first because of their priority, not because the detector waits. */
const BUSY_POLL_MS = 1;
const MUCH_BYTES = 1024 * 1024;
/** Bytes read from one tee before other work of the thread has its turn. */
const TURN_BYTES = 1024 * 1024;
const DECODING_BYTES_MAX = 4 * 1024 * 1024;
/** A hundred bytes may become 1 MiB, for which a decoder takes up to 4 MB. */
const DECODERS_MAX = 64;

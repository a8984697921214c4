import type { MessagePort } from "node:worker_threads";
import type { Clock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/ids.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import type { EventSink } from "#events/rows.ts";
import type { CompiledDetectors } from "#rules/detectors/compiled.ts";
import { BodyScanner, scanBuffer, type ScanResult } from "#rules/detectors/scan.ts";
import { createDecoders, type Decoder, type DecodingLoad } from "./decode.ts";
import { textMaskerOf } from "#rules/detectors/text-masker.ts";
import type { ValueHash } from "#rules/detectors/value-hash.ts";
import { createCompiledCache, type Policies } from "./compiled-cache.ts";
import { eventOf } from "./event.ts";
import { codingsOf, type DetectorMessage, isJson, isUntyped, planOf, type ScanPlan, SHED, subjectOf, type TapMessage } from "./job.ts";
import { createFairShare } from "./fair-share.ts";
import { createKeeper } from "./keeper.ts";
import { Borrower } from "./lent-reads.ts";
import { examine } from "./matches.ts";
import { NO_JOB } from "./line.ts";
import { createPoller } from "./poller.ts";
import { createRingReader, type RingReader, type RingRecord } from "./ring.ts";
import { textOnly } from "./text-only.ts";
import { createTranscoder, type Transcoder } from "./transcoder.ts";

export interface Detector {
  /** Takes a tap's bodies from now on. */
  attach(port: MessagePort): void;
  /** Finishes the bodies under way with what has come of them and closes the ports. */
  close(): void;
}

export interface DetectorDeps {
  readonly events: EventSink;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** What the owners of zones and accounts allow and look for. */
  readonly policies: Policies;
  readonly valueHash: ValueHash;
  /** By which number the system knows the thread (kernel/thread-priority.ts); 0 where it does not. */
  readonly thread?: number;
  /** How long bodies gather before they are looked at. */
  readonly pollMs?: number;
}

interface Attached {
  /** By the labels of records. */
  readonly plans: ScanPlan[];
  /** Null of those that are left out. */
  readonly jobs: Map<number, Job | null>;
  /** Null until the tap has told where it is. */
  ring: RingReader | null;
}

interface Job {
  readonly account: string;
  readonly decoder: Decoder | null;
  readonly body: Transcoder;
  /** The tap counts it as shed already. */
  isCut: boolean;
  finish(): void;
}

/** Scans the bodies that taps copy and pushes one event for each that has a match. Runs outside the response path. */
export function createDetector({ events, clock, metrics, policies, valueHash, thread = 0, pollMs = POLL_MS }: DetectorDeps): Detector {
  const scanned = metrics.counter("selvedge_detection_scanned_total", "Responses scanned for sensitive data");
  const scannedBytes = metrics.counter("selvedge_detection_scanned_bytes_total", "Decoded bytes scanned for sensitive data");
  const limited = metrics.counter("selvedge_detection_limited_total", "Scans that spent their candidate budget");
  const matched = metrics.counter("selvedge_detection_events_total", "Responses with sensitive data");
  const shed = metrics.counter(...SHED);
  const allowed = metrics.counter("selvedge_detection_allowed_total", "Hits of sensitive data that allow-lists hold");
  const compiled = createCompiledCache(policies);
  const keeper = createKeeper();
  const taps = new Map<MessagePort, Attached>();
  const shares = createFairShare(clock);
  /** While it is high, rings fill and taps shed load. */
  const load: DecodingLoad = { bytes: 0, decoders: 0 };
  const isHigh = (): boolean => load.bytes >= DECODING_BYTES_MAX || load.decoders >= DECODERS_MAX;
  let isHeldUp = false;
  let givesWay = false;
  // Making a buffer costs several times the scan of a small body.
  const buffers: Buffer[] = [];

  const report = (plan: ScanPlan, text: string, result: ScanResult, detectors: CompiledDetectors, body: Uint8Array | null): void => {
    scanned.value++;
    scannedBytes.value += result.bytes;
    if (result.limited) limited.value++;
    if (result.findings.length === 0) return;
    const subject = subjectOf(plan, text);
    if (subject === null) return;
    const mask = textMaskerOf(detectors);
    const entries = policies(subject.zone_id)?.allowed ?? [];
    const examined = examine(result, { subject, body, allowed: entries, valueHash, mask });
    allowed.value += examined.allowed;
    const row = eventOf(subject, examined.matches, { id: newUlid(clock.nowMs()), limited: result.limited, mask });
    if (row === null) return;
    matched.value++;
    events.push("security_events", row);
  };

  const timed = (account: string, work: () => void): void => {
    const fromMs = clock.monotonicMs();
    work();
    shares.took(account, fromMs, clock.monotonicMs());
  };

  const begin = (plan: ScanPlan, text: string, ring: RingReader | null): Job => {
    const buffer = buffers.pop() ?? scanBuffer(BREATH_BYTES);
    const detectors = compiled(plan);
    const scanner = new BodyScanner(detectors, { buffer });
    const kept = isJson(plan.content_type) ? keeper.begin() : null;
    const body = createTranscoder(plan.charset, (bytes) => {
      scanner.push(bytes);
      kept?.add(bytes);
    });
    const finish = (): void => {
      body.end();
      const result = scanner.end();
      report(plan, text, result, detectors, kept?.take() ?? null);
      if (buffers.length < BUFFERS_MAX) buffers.push(buffer);
      if (!job.isCut) ring?.done();
      if (isHeldUp && load.decoders < DECODERS_MAX / 2) poller.hurry();
    };
    const whole = isUntyped(plan.content_type) ? textOnly(body) : body;
    const account = plan.account_id;
    const decoder = createDecoders(codingsOf(plan.content_encoding) ?? [], load, {
      onData: (bytes) => timed(account, () => whole.write(bytes)),
      onEnd: () => timed(account, finish),
    });
    const job: Job = { account, decoder, body: whole, isCut: false, finish };
    return job;
  };

  const pass = ({ decoder, body }: Job, bytes: Uint8Array): void => {
    const to = decoder ?? body;
    for (let at = 0; at < bytes.length; at += BREATH_BYTES) {
      if (at > 0 && !givesWay) breathe();
      to.write(bytes.subarray(at, at + BREATH_BYTES));
    }
  };

  const take = ({ jobs, plans, ring }: Attached, { job: number, label, text, bytes, isEnd, isCut }: RingRecord): void => {
    if (number === NO_JOB) return void (plans[label] = planOf(text));
    let job = jobs.get(number);
    const plan = text === "" ? undefined : plans[label];
    if (plan !== undefined) {
      job = shares.isOver(plan.account_id) ? null : begin(plan, text, ring);
      if (!isEnd) jobs.set(number, job);
    }
    if (job === undefined) return;
    if (isEnd) jobs.delete(number);
    if (job === null) return isEnd && !isCut ? leaveOut(ring) : undefined;
    const { account } = job;
    job.isCut = isCut;
    timed(account, () => {
      pass(job, bytes);
      if (isEnd) end(job);
    });
  };

  /** Once it has ended: until then the tap may cut it short, or we may die, and it is the tap that counts it. */
  const leaveOut = (ring: RingReader | null): void => {
    shed.value++;
    ring?.done();
  };

  /** Whether there was anything. */
  const read = (tap: Attached): boolean => {
    const { ring } = tap;
    let sum = 0;
    while (ring !== null && sum < TURN_BYTES && !(isHeldUp = isHigh())) {
      const bytes = ring.read(BREATH_BYTES, (record) => {
        take(tap, record);
        return !isHigh();
      });
      if (bytes === 0) break;
      sum += bytes;
      if (!givesWay && !ring.isBehind()) breathe();
    }
    return sum > 0;
  };

  const poller = createPoller({
    pollMs,
    poll: () => {
      const hasRead = Array.from(taps.values(), read).includes(true);
      if (!hasRead && load.decoders === 0) shares.rest();
      return hasRead;
    },
    // Nothing moves on by itself while decoders have to catch up.
    sleep: () => load.decoders === 0 && Array.from(taps.values(), ({ ring }) => ring?.sleep() ?? true).every(Boolean),
  });

  const finish = (tap: Attached): void => {
    tap.ring?.read(Number.POSITIVE_INFINITY, (record) => take(tap, record));
    tap.ring = null;
    for (const job of tap.jobs.values()) if (job !== null) end(job);
    tap.jobs.clear();
  };

  return {
    attach: (port) => {
      const tap: Attached = { plans: [], jobs: new Map(), ring: null };
      taps.set(port, tap);
      port.on("message", (message: TapMessage) => {
        if (message === null) {
          shares.rest();
          return poller.wake();
        }
        if ("givesWay" in message) return void (givesWay = message.givesWay);
        tap.ring = createRingReader(message.ring, message.lent === null ? null : new Borrower(message.lent));
        poller.wake();
      });
      const message: DetectorMessage = { thread };
      if (thread > 0) port.postMessage(message);
      port.on("close", () => {
        finish(tap);
        taps.delete(port);
      });
    },
    close: () => {
      poller.stop();
      for (const [port, tap] of taps) {
        finish(tap);
        port.close();
      }
    },
  };
}

function end(job: Job): void {
  if (job.decoder === null) job.finish();
  else job.decoder.end();
}

const BUFFERS_MAX = 64;
/** Takes less than 0.1 ms to scan. */
const BREATH_BYTES = 32 * 1024;
const BREATH_MS = 0.05;
const nothing = new Int32Array(new SharedArrayBuffer(4));

/**
 * Gives the processor away for a moment. Linux lets a thread that has something to do wait until another one has used its
 * slice, 1 ms or more, whatever their priorities, so whoever answers requests would wait for as long as scanning lasts. It costs
 * a third of what scanning does, so where a tap could have the system interrupt the detector instead, that is left to it.
 */
const breathe = (): void => void Atomics.wait(nothing, 0, 0, BREATH_MS);

const POLL_MS = 10;
/** What is read of a tap before other work of the thread has its turn. */
const TURN_BYTES = 1024 * 1024;
const DECODING_BYTES_MAX = 4 * 1024 * 1024;
/** A hundred bytes may become 1 MiB, for which a decoder takes up to 4 MB. */
const DECODERS_MAX = 64;

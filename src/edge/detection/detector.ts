import type { MessagePort } from "node:worker_threads";
import type { Clock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/ids.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import type { EventSink, SecurityEventRow } from "#events/rows.ts";
import { compileDetectors, type CompiledDetectors } from "#rules/detectors/compiled.ts";
import { BodyScanner, scanBuffer, type ScanResult } from "#rules/detectors/scan.ts";
import { DETECTORS_BY_ID } from "#rules/detectors/table.ts";
import { MANAGED_RULESETS, unpackRules } from "#rules/managed/rulesets.ts";
import { createDecoder, type Decoder } from "./decode.ts";
import { eventOf } from "./event.ts";
import { encodingOf, type Frame, type ScanSubject, type SlabMessage, type SlabReturn } from "./job.ts";
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
}

interface Job {
  readonly decoder: Decoder | null;
  readonly text: Transcoder;
  finish(): void;
}

/** Scans the bodies that taps copy and pushes one event for each that has a match. Runs outside the response path. */
export function createDetector({ events, clock, metrics }: DetectorDeps): Detector {
  const scanned = metrics.counter("selvedge_detection_scanned_total", "Responses scanned for sensitive data");
  const scannedBytes = metrics.counter("selvedge_detection_scanned_bytes_total", "Decoded bytes scanned for sensitive data");
  const limited = metrics.counter("selvedge_detection_limited_total", "Scans that spent their candidate budget");
  const matched = metrics.counter("selvedge_detection_events_total", "Responses with sensitive data");
  const compiled = createCompiledCache();
  const ports = new Map<MessagePort, Map<number, Job>>();
  // Making a buffer costs several times the scan of a small body.
  const buffers: Buffer[] = [];

  const report = (subject: ScanSubject, result: ScanResult, detectors: CompiledDetectors): void => {
    scanned.value++;
    scannedBytes.value += result.bytes;
    if (result.limited) limited.value++;
    const row: SecurityEventRow | null = eventOf(subject, result, newUlid(clock.nowMs()), detectors);
    if (row === null) return;
    matched.value++;
    events.push("security_events", row);
  };

  const begin = (subject: ScanSubject): Job => {
    const buffer = buffers.pop() ?? scanBuffer();
    const detectors = compiled(subject.ruleset_id, subject.enabled);
    const scanner = new BodyScanner(detectors, { buffer });
    const text = createTranscoder(subject.charset, (bytes) => scanner.push(bytes));
    const finish = (): void => {
      text.end();
      report(subject, scanner.end(), detectors);
      if (buffers.length < BUFFERS_MAX) buffers.push(buffer);
    };
    const encoding = encodingOf(subject.content_encoding) ?? null;
    const decoder = encoding === null ? null : createDecoder(encoding, { onData: text.write, onEnd: finish });
    return { decoder, text, finish };
  };

  const take = (jobs: Map<number, Job>, slab: ArrayBuffer, frame: Frame, taken: () => void): void => {
    let job = jobs.get(frame.job);
    if (job === undefined && frame.subject !== null) jobs.set(frame.job, (job = begin(frame.subject)));
    if (job === undefined) return taken();
    const bytes = new Uint8Array(slab, frame.from, frame.to - frame.from);
    if (job.decoder === null) job.text.write(bytes);
    if (job.decoder === null) taken();
    else job.decoder.write(bytes, taken);
    if (!frame.end) return;
    jobs.delete(frame.job);
    end(job);
  };

  return {
    attach: (port) => {
      const jobs = new Map<number, Job>();
      ports.set(port, jobs);
      port.on("message", ({ slab, frames }: SlabMessage) => {
        // The slab goes back when all of its bytes are dealt with: while decoding is behind, the tap runs out of slabs and sheds load.
        let open = frames.length;
        const taken = (): void => {
          if (--open > 0) return;
          const reply: SlabReturn = { slab };
          port.postMessage(reply, [slab]);
        };
        for (const frame of frames) take(jobs, slab, frame, taken);
      });
      port.on("close", () => {
        for (const job of jobs.values()) end(job);
        ports.delete(port);
      });
    },
    close: () => {
      for (const port of ports.keys()) port.close();
    },
  };
}

function end(job: Job): void {
  if (job.decoder === null) job.finish();
  else job.decoder.end();
}

const COMPILED_MAX = 64;
const BUFFERS_MAX = 64;

/** Detectors of each combination of overrides that is in use; the oldest combination gives way. */
function createCompiledCache(): (rulesetId: string, enabled: string) => CompiledDetectors {
  const cache = new Map<string, CompiledDetectors>();
  return (rulesetId, enabled) => {
    const key = `${rulesetId} ${enabled}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const ruleset = MANAGED_RULESETS.get(rulesetId);
    const rules = ruleset === undefined ? [] : unpackRules(ruleset, enabled);
    const made = compileDetectors(rules.flatMap((rule) => DETECTORS_BY_ID.get(rule.detector) ?? []));
    const [oldest] = cache.keys();
    if (cache.size >= COMPILED_MAX && oldest !== undefined) cache.delete(oldest);
    cache.set(key, made);
    return made;
  };
}

import type { MessagePort } from "node:worker_threads";
import type { Clock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/ids.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import type { EventSink } from "#events/rows.ts";
import type { CompiledDetectors } from "#rules/detectors/compiled.ts";
import { BodyScanner, scanBuffer, type ScanResult } from "#rules/detectors/scan.ts";
import { createDecoder, type Decoder } from "./decode.ts";
import type { ValueHash } from "#rules/detectors/value-hash.ts";
import { createCompiledCache, type ZonePolicies } from "./compiled-cache.ts";
import { eventOf, maskerOf } from "./event.ts";
import { encodingOf, type Frame, isJson, type ScanSubject, type SlabMessage, type SlabReturn } from "./job.ts";
import { createKeeper } from "./keeper.ts";
import { examine } from "./matches.ts";
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
  /** What the owners of zones allow and look for. */
  readonly policies: ZonePolicies;
  readonly valueHash: ValueHash;
}

interface Job {
  readonly decoder: Decoder | null;
  readonly text: Transcoder;
  finish(): void;
}

/** Scans the bodies that taps copy and pushes one event for each that has a match. Runs outside the response path. */
export function createDetector({ events, clock, metrics, policies, valueHash }: DetectorDeps): Detector {
  const scanned = metrics.counter("selvedge_detection_scanned_total", "Responses scanned for sensitive data");
  const scannedBytes = metrics.counter("selvedge_detection_scanned_bytes_total", "Decoded bytes scanned for sensitive data");
  const limited = metrics.counter("selvedge_detection_limited_total", "Scans that spent their candidate budget");
  const matched = metrics.counter("selvedge_detection_events_total", "Responses with sensitive data");
  const allowed = metrics.counter("selvedge_detection_allowed_total", "Hits of sensitive data that allow-lists hold");
  const compiled = createCompiledCache(policies);
  const keeper = createKeeper();
  const ports = new Map<MessagePort, Map<number, Job>>();
  // Making a buffer costs several times the scan of a small body.
  const buffers: Buffer[] = [];

  const report = (subject: ScanSubject, result: ScanResult, detectors: CompiledDetectors, body: Uint8Array | null): void => {
    scanned.value++;
    scannedBytes.value += result.bytes;
    if (result.limited) limited.value++;
    if (result.findings.length === 0) return;
    const masked = maskerOf(detectors);
    const entries = policies(subject.zone_id)?.allowed ?? [];
    const examined = examine(result, { subject, body, allowed: entries, valueHash, masked });
    allowed.value += examined.allowed;
    const row = eventOf(subject, examined.matches, { id: newUlid(clock.nowMs()), limited: result.limited, masked });
    if (row === null) return;
    matched.value++;
    events.push("security_events", row);
  };

  const begin = (subject: ScanSubject): Job => {
    const buffer = buffers.pop() ?? scanBuffer();
    const detectors = compiled(subject);
    const scanner = new BodyScanner(detectors, { buffer });
    const kept = isJson(subject.content_type) ? keeper.begin() : null;
    const text = createTranscoder(subject.charset, (bytes) => {
      scanner.push(bytes);
      kept?.add(bytes);
    });
    const finish = (): void => {
      text.end();
      const result = scanner.end();
      report(subject, result, detectors, kept?.take() ?? null);
      if (buffers.length < BUFFERS_MAX) buffers.push(buffer);
    };
    const encoding = encodingOf(subject.content_encoding) ?? null;
    const decoder = encoding === null ? null : createDecoder(encoding, { onData: text.write, onEnd: finish });
    return { decoder, text, finish };
  };

  const take = (jobs: Map<number, Job>, slab: ArrayBuffer, frame: Frame, taken: () => void): void => {
    let job = jobs.get(frame.job);
    if (job === undefined && frame.subject !== null) jobs.set(frame.job, (job = begin(JSON.parse(frame.subject) as ScanSubject)));
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

const BUFFERS_MAX = 64;

import type { CompiledDetectors } from "#rules/detectors/engine/compiled.ts";
import { BodyScanner, scanBuffer, type ScanResult } from "#rules/detectors/engine/scan.ts";
import { type BodyEnd, isCutAtEnd, isCutAtStart, worseTruncation } from "./body-cut.ts";
import { createCodedKeeper, createDecoders, type Decoder, type DecodingLoad, unnamedCodingOf } from "./decode.ts";
import { codingsOf, isJson, isMultipart, isUntyped, SCANNED_BYTES_MAX, type ScanPlan } from "./scan-plan.ts";
import { createTextBuffer } from "./text-buffer.ts";
import { Multipart } from "./multipart/multipart.ts";
import { textOnly } from "./text-only.ts";
import { createTranscoder } from "./transcoder.ts";

/** A body being scanned. After `end` or `endEarly`, `onResult` is called once. */
export interface BodyJob {
  readonly startedMs: number;
  readonly account: string;
  write(bytes: Uint8Array): void;
  end(how: BodyEnd): void;
  /** Reports the findings so far, although the body goes on; the result says that it is partial. */
  endEarly(): void;
  /** True if there are findings so far. */
  hasFindings(): boolean;
}

export interface BodyJobOptions {
  readonly plan: ScanPlan;
  /** The beginning of the body; the caller also writes it. */
  readonly first: Uint8Array;
  readonly detectors: CompiledDetectors;
  readonly startedMs: number;
  /** Runs work for the body at once, and measures its time. */
  timed(work: () => void): void;
  /**
   * `body` is the scanned text, if it is JSON and there was memory to keep it; `isPartial`: the body had more than was
   * scanned.
   */
  onResult(result: ScanResult, body: Uint8Array | null, isPartial: boolean): void;
}

/** Creates decoder, transcoder and scanner for each body. The bodies share a few buffers of `bufferBytes`. */
export function createBodyJobs(bufferBytes: number, load: DecodingLoad): (options: BodyJobOptions) => BodyJob {
  const keeper = createTextBuffer();
  const codedKeeper = createCodedKeeper();
  // Allocating a buffer costs several times the scan of a small body.
  const buffers: Buffer[] = [];
  const spare = scanBuffer(bufferBytes);

  return ({ plan, first, detectors, startedMs, timed, onResult }) => {
    const buffer = buffers.pop() ?? scanBuffer(bufferBytes);
    const scanner = new BodyScanner(detectors, { buffer, startsInside: isCutAtStart(plan.cut) });
    const kept = isJson(plan.content_type) ? keeper.begin() : null;
    let came = 0;
    let lookedTo = 0;
    const onText = (bytes: Uint8Array): void => {
      scanner.push(bytes);
      kept?.add(bytes);
    };
    const text = createTranscoder(plan.charset, onText);
    const parts = isMultipart(plan.content_type) ? new Multipart(text, onText) : null;
    const body = parts ?? (isUntyped(plan.content_type) ? textOnly(text) : text);
    const finish = (how: BodyEnd): void => {
      body.end();
      onResult(scanner.end(how !== "whole"), kept?.take() ?? null, how === "partial" || parts?.isPartial === true);
      if (buffers.length < BUFFERS_MAX) buffers.push(buffer);
    };
    const named = codingsOf(plan.content_encoding) ?? [];
    const codings = named.length > 0 ? named : unnamedCodingOf(first);
    const decoder: Decoder | null = createDecoders(codings, {
      ...{ load, keeper: codedKeeper },
      onData: (bytes) => timed(() => body.write(bytes)),
      onEnd: (how) => timed(() => finish(how)),
    });
    return {
      startedMs,
      account: plan.account_id,
      write: (bytes) => {
        const scanned = bytes.subarray(0, SCANNED_BYTES_MAX - came);
        came += bytes.length;
        (decoder ?? body).write(scanned);
      },
      end: (how) => {
        const last = came > SCANNED_BYTES_MAX ? "partial" : isCutAtEnd(plan.cut) ? worseTruncation(how, "broken") : how;
        if (decoder === null) finish(last);
        else decoder.end(last);
      },
      endEarly: () => {
        if (decoder === null) finish("partial");
        else decoder.close();
      },
      hasFindings: () => {
        if (scanner.bytes === lookedTo) return false;
        lookedTo = scanner.bytes;
        return scanner.hasFindings || scanner.findsInRest(spare);
      },
    };
  };
}

const BUFFERS_MAX = 64;

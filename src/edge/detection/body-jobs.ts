import type { CompiledDetectors } from "#rules/detectors/engine/compiled.ts";
import { BodyScanner, scanBuffer, type ScanResult } from "#rules/detectors/engine/scan.ts";
import { type BodyEnd, isCutAtEnd, isCutAtStart, worseTruncation } from "./body-cut.ts";
import { createCodedKeeper, createDecoders, type Decoder, type DecodingLoad, unnamedCodingOf } from "./decode.ts";
import { codingsOf, isJson, isMultipart, isUntyped, SCANNED_BYTES_MAX, type ScanPlan } from "./scan-plan.ts";
import { createTextBuffer } from "./text-buffer.ts";
import { Multipart } from "./multipart/multipart.ts";
import { textOnly } from "./text-only.ts";
import { createTranscoder } from "./transcoder.ts";

/** A body under way. After `end` or `endEarly`, `onResult` is called once. */
export interface BodyJob {
  readonly startedMs: number;
  readonly account: string;
  write(bytes: Uint8Array): void;
  end(how: BodyEnd): void;
  /** Tells what there is of a body that goes on; the result says that it is not all. */
  endEarly(): void;
  /** Whether anything has been found so far. */
  hasFindings(): boolean;
}

export interface BodyJobOptions {
  readonly plan: ScanPlan;
  /** The beginning of the body, which is written all the same. */
  readonly first: Uint8Array;
  readonly detectors: CompiledDetectors;
  readonly startedMs: number;
  /** Does some of what the body needs, at once. */
  timed(work: () => void): void;
  /** `body` is the text as it was scanned, where it is JSON and there was memory to keep it; `isPartial`: there was more than that. */
  onResult(result: ScanResult, body: Uint8Array | null, isPartial: boolean): void;
}

/** Decoder, transcoder and scanner of each body, over buffers of `bufferBytes` that serve one after the other. */
export function createBodyJobs(bufferBytes: number, load: DecodingLoad): (options: BodyJobOptions) => BodyJob {
  const keeper = createTextBuffer();
  const codedKeeper = createCodedKeeper();
  // Making a buffer costs several times the scan of a small body.
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

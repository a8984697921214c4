import type { Work } from "#kernel/process/slices.ts";
import type { CompiledDetectors } from "#rules/detectors/engine/compiled.ts";
import { BodyScanner, scanBuffer, type ScanResult } from "#rules/detectors/engine/scan.ts";
import { scannedJson, TooManyContainersError } from "#gateway/http/json.ts";
import { jsonTexts, UninspectableError } from "#gateway/streams/json-texts.ts";
import { allText, TooDeepError } from "#gateway/streams/text-extraction.ts";

/** Bodies up to this size are read as a value in one go, which takes half a millisecond; longer ones in steps. */
const AT_ONCE_BYTES_MAX = 64 * 1024;
/** Bytes per scan; small, because a byte can cost ten microseconds. */
const BLOCK_BYTES = 1024;
/** Microseconds for a candidate, and for a byte without one. */
const CANDIDATE_COST = 40;
const BYTE_COST = 1 / 400;
const CALL_COST = 1 / 4;

/** The cost of scanned bytes with so many candidates, in microseconds. */
export const scanCost = (bytes: number, candidates: number): number => candidates * CANDIDATE_COST + bytes * BYTE_COST;

const UNREADABLE = [TooDeepError, TooManyContainersError, UninspectableError] as const;

/**
 * The findings of each of the detectors in a whole body. JSON is read, because an escape may split a number. Other text is
 * inspected unchanged, and so is JSON that cannot be read; that is `limited`.
 */
export function* scanWhole(bytes: Buffer, detectors: readonly CompiledDetectors[]): Work<readonly ScanResult[]> {
  try {
    const scan = new Scan(detectors);
    if (bytes.length <= AT_ONCE_BYTES_MAX) {
      const value = scannedJson(bytes.toString("utf8"));
      yield* scan.all(typeof value === "object" && value !== null ? Buffer.from(allText(value)) : bytes);
    } else if (!(yield* jsonTexts(bytes, scan.take))) yield* scan.all(bytes);
    return scan.end();
  } catch (error) {
    if (!UNREADABLE.some((kind) => error instanceof kind)) throw error;
    const scan = new Scan(detectors);
    yield* scan.all(bytes);
    return scan.end().map((result) => ({ ...result, limited: true }));
  }
}

class Scan {
  readonly #scanners: readonly BodyScanner[];

  constructor(detectors: readonly CompiledDetectors[]) {
    this.#scanners = detectors.map((compiled) => new BodyScanner(compiled, { buffer: scanBuffer(BLOCK_BYTES) }));
  }

  /** Scans the next bytes; returns what that cost in microseconds. */
  readonly take = (bytes: Buffer): number => {
    let cost = CALL_COST;
    for (const scanner of this.#scanners) {
      const before = scanner.candidates;
      scanner.push(bytes);
      cost += scanCost(bytes.length, scanner.candidates - before);
    }
    return cost;
  };

  *all(bytes: Buffer): Work<void> {
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) yield this.take(bytes.subarray(at, at + BLOCK_BYTES));
  }

  end(): readonly ScanResult[] {
    return this.#scanners.map((scanner) => scanner.end());
  }
}

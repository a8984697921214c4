import type { Work } from "#kernel/process/slices.ts";
import type { CompiledDetectors } from "#rules/detectors/engine/compiled.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { BodyScanner, type ScanResult, scanBuffer } from "#rules/detectors/engine/scan.ts";
import { scanCost } from "./whole-scan.ts";

/** Detectors, prepared for a text that still grows. */
export interface WatchedDetectors {
  readonly compiled: CompiledDetectors;
  /** Matches every position at which a finding could begin. */
  readonly anchor: RegExp;
}

export function watchDetectors(detectors: readonly Detector[], compiled: CompiledDetectors): WatchedDetectors {
  const literals = new Set(detectors.flatMap(({ anchors }) => anchors.flatMap((one) => (one.kind === "literal" ? [one.text] : []))));
  const escaped = Array.from(literals, (text) => text.replace(/[^A-Za-z0-9]/g, "\\$&"));
  return { compiled, anchor: new RegExp(["[0-9@+]", ...escaped].join("|")) };
}

/** Bytes per scan; a small block, so that little is held back. */
const BLOCK_BYTES = 64;
/** Bytes per step. */
const PIECE_BYTES = 1024;
/** The longest part of a finding before its digits, its at sign or the end of its literal (scan.ts). */
const LEAD_BYTES = 64;

/**
 * One text that arrives in chunks. Bytes are safe if no finding can include them, whatever follows: the scanner checks
 * a position only when it has all bytes that a detector may need. Positions at which no finding can start are safe at
 * once.
 */
export class TextWatch {
  /** Bytes received, and the number of them that may be sent. */
  length = 0;
  safe = 0;
  readonly #watched: WatchedDetectors;
  readonly #scanner: BodyScanner;
  /** Bytes that the scanner has not seen; they start at `#tailStart`. */
  #tail = "";
  #tailStart = 0;

  constructor(watched: WatchedDetectors) {
    this.#watched = watched;
    this.#scanner = new BodyScanner(watched.compiled, { buffer: scanBuffer(BLOCK_BYTES) });
  }

  /** There is a finding, or the text is so long that the scanner has stopped. */
  get isAlarmed(): boolean {
    return this.#scanner.hasFindings || this.#scanner.isLimited;
  }

  /** Takes the next piece, in steps. */
  *push(text: string): Work<void> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield this.#push(bytes.subarray(at, at + PIECE_BYTES));
  }

  /** Returns the cost in microseconds. */
  #push(bytes: Buffer): number {
    const before = this.#scanner.candidates;
    this.#scanner.push(bytes);
    this.length += bytes.length;
    this.#tail += bytes.toString("latin1");
    const scanned = this.#scanner.scannedTo;
    this.#tail = this.#tail.slice(scanned - this.#tailStart);
    this.#tailStart = scanned;
    const anchor = this.#tail.search(this.#watched.anchor);
    // Fewer than were scanned: a code may start with letters there, and the digits that identify it may follow.
    this.safe = Math.max(this.safe, (anchor < 0 ? this.length : scanned + anchor) - LEAD_BYTES);
    return scanCost(bytes.length, this.#scanner.candidates - before);
  }

  /** Ends the text. */
  end(): ScanResult {
    this.safe = this.length;
    return this.#scanner.end();
  }
}

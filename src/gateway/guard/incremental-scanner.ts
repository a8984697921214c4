import type { CompiledDetectors } from "#rules/detectors/engine/compiled.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { BodyScanner, type ScanResult, scanBuffer } from "#rules/detectors/engine/scan.ts";

/** Detectors in the form in which a text that still grows is watched. */
export interface WatchedDetectors {
  readonly compiled: CompiledDetectors;
  /** Where something could begin that they find. */
  readonly anchor: RegExp;
}

export function watchDetectors(detectors: readonly Detector[], compiled: CompiledDetectors): WatchedDetectors {
  const literals = new Set(detectors.flatMap(({ anchors }) => anchors.flatMap((one) => (one.kind === "literal" ? [one.text] : []))));
  const escaped = Array.from(literals, (text) => text.replace(/[^A-Za-z0-9]/g, "\\$&"));
  return { compiled, anchor: new RegExp(["[0-9@+]", ...escaped].join("|")) };
}

/** Bytes that are scanned at a time, so that little is held back. */
const BLOCK_BYTES = 64;
/** Before its digits, its at sign or the end of its literal, nothing that detectors find is longer (scan.ts). */
const LEAD_BYTES = 64;

/**
 * One text that arrives in pieces. Of what has come so much is safe as no finding can reach into, whatever follows:
 * the scanner looks at a place only when all is there that a detector may look at, and where nothing could begin, not
 * even that much need be waited for.
 */
export class TextWatch {
  /** Bytes that have come, and how many of them may go out. */
  length = 0;
  safe = 0;
  readonly #watched: WatchedDetectors;
  readonly #scanner: BodyScanner;
  /** What the scanner has not looked at; it starts at `#tailStart`. */
  #tail = "";
  #tailStart = 0;

  constructor(watched: WatchedDetectors) {
    this.#watched = watched;
    this.#scanner = new BodyScanner(watched.compiled, { buffer: scanBuffer(BLOCK_BYTES) });
  }

  /** Something was found, or there is so much to look at that nothing more would be. */
  get isAlarmed(): boolean {
    return this.#scanner.hasFindings || this.#scanner.isLimited;
  }

  push(text: string): void {
    const bytes = Buffer.from(text);
    this.#scanner.push(bytes);
    this.length += bytes.length;
    this.#tail += bytes.toString("latin1");
    const scanned = this.#scanner.scannedTo;
    this.#tail = this.#tail.slice(scanned - this.#tailStart);
    this.#tailStart = scanned;
    const anchor = this.#tail.search(this.#watched.anchor);
    // Not all that has been scanned: a code may begin with letters there and have its digits, by which it is found, behind.
    this.safe = Math.max(this.safe, (anchor < 0 ? this.length : scanned + anchor) - LEAD_BYTES);
  }

  /** Nothing follows. */
  end(): ScanResult {
    this.safe = this.length;
    return this.#scanner.end();
  }
}

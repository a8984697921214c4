import type { CompiledDetectors, DetectorGroup } from "./compiled.ts";
import type { Detector } from "./detector.ts";

/** Bytes after an anchor that a pattern may look at. */
export const WINDOW_BYTES = 512;
/** Of these, what a number needs at most: 34 characters of an IBAN and eight `&nbsp;` between them. */
const NUMBER_WINDOW_BYTES = 96;
/** Bytes before an anchor in which a context word may stand. */
export const CONTEXT_BYTES = 64;
/** sensitive-data.md: without a budget an adversarial body of 1 MB took 828 ms, with this one 35 ms. */
export const CANDIDATES_MAX = 8192;

export interface Finding {
  readonly detector: Detector;
  readonly count: number;
  /** Byte offset of the first hit. */
  readonly offset: number;
}

export interface ScanResult {
  readonly findings: readonly Finding[];
  /** The candidate budget was spent, so later hits may be missing. */
  readonly limited: boolean;
  readonly bytes: number;
}

export interface ScannerOptions {
  /** Chunks are gathered in it, whatever their size, and scanned when it is full. Free again after `end`; `scanBuffer` makes one. */
  readonly buffer?: Buffer;
  readonly candidatesMax?: number;
}

const BLOCK_BYTES = 64 * 1024;

/** Working memory of a scan under way: a block and what has to stand before and after it. */
export const scanBuffer = (blockBytes = BLOCK_BYTES): Buffer => Buffer.allocUnsafeSlow(CONTEXT_BYTES + blockBytes + WINDOW_BYTES);

interface Tally {
  count: number;
  offset: number;
  /** The last hit, so that what lies within it is not counted again. */
  last: { readonly from: number; readonly to: number };
}

/**
 * Scans a body that comes in chunks. The findings do not depend on how it is cut: an anchor is looked at
 * only once its whole window is there. Time is linear in the bytes plus bounded work a candidate.
 */
export class BodyScanner {
  readonly #detectors: CompiledDetectors;
  readonly #candidatesMax: number;
  readonly #buffer: Buffer;
  /** Bytes in the buffer, the offset in the body of its first byte, and the first anchor place not yet looked at. */
  #filled = 0;
  #base = 0;
  #next = 0;
  #candidates = 0;
  readonly #tallies = new Map<Detector, Tally>();

  constructor(detectors: CompiledDetectors, { buffer = scanBuffer(), candidatesMax = CANDIDATES_MAX }: ScannerOptions = {}) {
    this.#detectors = detectors;
    this.#candidatesMax = candidatesMax;
    this.#buffer = buffer;
  }

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      const taken = Math.min(chunk.length - at, this.#buffer.length - this.#filled);
      this.#buffer.set(chunk.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled === this.#buffer.length) this.#scanTo(this.#filled - WINDOW_BYTES);
    }
  }

  end(): ScanResult {
    const bytes = this.#base + this.#filled;
    this.#scanTo(this.#filled);
    const findings = Array.from(this.#tallies, ([detector, { count, offset }]) => ({ detector, count, offset })).sort(
      (a, b) => a.offset - b.offset,
    );
    return { findings, limited: this.#candidates > this.#candidatesMax, bytes };
  }

  /** Looks at the anchors before `end` and moves what later ones need to the front. */
  #scanTo(end: number): void {
    const view = this.#buffer.subarray(0, this.#filled);
    this.#scanNumbers(view, this.#next, end);
    for (const { bytes, word, groups } of this.#detectors.literals) this.#scanLiteral(view, end, bytes, word, groups);
    const kept = Math.max(0, end - CONTEXT_BYTES);
    this.#buffer.copyWithin(0, kept, this.#filled);
    this.#filled -= kept;
    this.#base += kept;
    this.#next = end - kept;
  }

  #scanNumbers(view: Buffer, from: number, end: number): void {
    let before = from > 0 ? (CLASS[view[from - 1] ?? 0] ?? 0) : OTHER;
    for (let at = from; at < end; at++) {
      const now = CLASS[view[at] ?? 0] ?? 0;
      // Most bytes fail the first test.
      if (now === DIGIT && before !== DIGIT) this.#atDigits(view, at, before);
      before = now;
    }
  }

  #atDigits(view: Buffer, at: number, before: number): void {
    if (before === UPPER) {
      const start = at - 2;
      if (start < 0 || CLASS[view[start] ?? 0] !== UPPER || CLASS[view[at + 1] ?? 0] !== DIGIT || (start > 0 && isWord(view[start - 1])))
        return;
      if (this.#detectors.country_check.length > 0) this.#candidate(view, start, this.#detectors.country_check, NUMBER_WINDOW_BYTES);
      return;
    }
    if (before === LETTER || this.#detectors.digits.length === 0) return;
    if (continuesNumber(view, at) || !hasDigits(view, at)) return;
    this.#candidate(view, at, this.#detectors.digits, NUMBER_WINDOW_BYTES);
  }

  #scanLiteral(view: Buffer, end: number, bytes: Buffer, word: boolean, groups: readonly DetectorGroup[]): void {
    let at = view.indexOf(bytes, this.#next);
    while (at !== -1 && at < end) {
      if (!word || at === 0 || !isWord(view[at - 1])) this.#candidate(view, at, groups, WINDOW_BYTES);
      if (this.#candidates > this.#candidatesMax) return;
      at = view.indexOf(bytes, at + 1);
    }
  }

  #candidate(view: Buffer, at: number, groups: readonly DetectorGroup[], windowBytes: number): void {
    if (++this.#candidates > this.#candidatesMax) return;
    const window = view.toString("latin1", at, Math.min(at + windowBytes, view.length));
    for (const group of groups) this.#tryGroup(view, at, group, window);
  }

  #tryGroup(view: Buffer, at: number, { patterns, detectors }: DetectorGroup, window: string): void {
    for (const pattern of patterns) {
      pattern.lastIndex = 0;
      const found = pattern.exec(window)?.[0];
      if (found === undefined) continue;
      const detector = detectors.find((one) => one.accepts(found) && hasContext(one, view, at));
      if (detector === undefined) continue;
      this.#count(detector, this.#base + at, found.length);
      return;
    }
  }

  #count(detector: Detector, from: number, length: number): void {
    const tally = this.#tallies.get(detector);
    const last = { from, to: from + length };
    if (tally === undefined) {
      this.#tallies.set(detector, { count: 1, offset: from, last });
    } else if (from < tally.last.from || from >= tally.last.to) {
      tally.count++;
      tally.offset = Math.min(tally.offset, from);
      tally.last = last;
    }
  }
}

const OTHER = 0;
const DIGIT = 1;
const UPPER = 2;
const LETTER = 3;

const CLASS = new Uint8Array(256).map((_, byte) => {
  const char = String.fromCharCode(byte);
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[A-Z]/.test(char)) return UPPER;
  return /[a-z_]/.test(char) ? LETTER : OTHER;
});

const isWord = (byte: number | undefined): boolean => byte !== undefined && CLASS[byte] !== OTHER;

const DOT = 0x2e;
const DASH = 0x2d;

/** Whether the digits are the `5` of `0.5` or of `12-5`: a part of something longer. */
function continuesNumber(view: Buffer, at: number): boolean {
  const separator = view[at - 1];
  return (separator === DOT || separator === DASH) && at > 1 && CLASS[view[at - 2] ?? 0] === DIGIT;
}

// The shortest number that a detector knows, and the farthest its ninth digit may stand (`&nbsp;` twice).
const DIGITS_MIN = 9;
const REACH_BYTES = 32;

/** Whether enough digits follow for any detector: most numbers of a page are shorter. */
function hasDigits(view: Buffer, at: number): boolean {
  const end = Math.min(at + REACH_BYTES, view.length);
  let digits = 0;
  for (let i = at; i < end; i++) if (CLASS[view[i] ?? 0] === DIGIT && ++digits === DIGITS_MIN) return true;
  return false;
}

function hasContext(detector: Detector, view: Buffer, at: number): boolean {
  if (detector.context === undefined) return true;
  const before = view.toString("latin1", Math.max(0, at - CONTEXT_BYTES), at).toLowerCase();
  return detector.context.some((word) => before.includes(word));
}

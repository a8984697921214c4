import type { Detector } from "./detector.ts";

export interface Finding {
  readonly detector: Detector;
  readonly count: number;
  /** Byte offset of the first hit. */
  readonly offset: number;
  /** Whether a word that leaves no doubt is near one of the hits (`sureBeside`). */
  readonly isSure: boolean;
  /** In the order of the text; the first HITS_MAX of a scan, over all detectors. */
  readonly hits: readonly DetectorHit[];
}

/** A find before it is counted. */
export interface FoundValue {
  readonly detector: Detector;
  /** Bytes of the whole match, with a name before the value. */
  readonly from: number;
  readonly to: number;
  /** Bytes of the value, which is reported. */
  readonly valueFrom: number;
  readonly valueTo: number;
  readonly value: string;
  readonly isSure: boolean;
}

/** A find and its position. It stays in memory only until it is compared with the allow-lists. */
export interface DetectorHit {
  /** Byte offset in the text. */
  readonly offset: number;
  /** The text, or for a hidden value (rendered.ts) the shown text; one char per byte. */
  readonly text: string;
}

export const HITS_MAX = 1000;

interface Tally {
  count: number;
  offset: number;
  isSure: boolean;
  /** The last hit, so that a match within it is not counted again. */
  last: { readonly from: number; readonly to: number };
  readonly hits: (DetectorHit & { readonly to: number })[];
}

const NO_FINDINGS: readonly Finding[] = [];

/** Findings of a scan so far. */
export class Tallies {
  readonly #tallies = new Map<Detector, Tally>();
  #hits = 0;

  get isEmpty(): boolean {
    return this.#tallies.size === 0;
  }

  /** Whether a kept hit of the detector overlaps these bytes. */
  isKnown(detector: Detector, from: number, to: number): boolean {
    return this.#tallies.get(detector)?.hits.some(({ offset, to: end }) => offset < to && end > from) === true;
  }

  /** A match within the detector's last hit is part of it. */
  add({ detector, from, to, valueFrom, valueTo, value, isSure }: FoundValue): void {
    const tally = this.#tallies.get(detector);
    if (tally !== undefined && from >= tally.last.from && from < tally.last.to) return;
    const hits = this.#hits++ < HITS_MAX ? [{ offset: valueFrom, to: valueTo, text: value }] : [];
    if (tally === undefined) {
      this.#tallies.set(detector, { count: 1, offset: valueFrom, isSure, last: { from, to }, hits });
      return;
    }
    tally.count++;
    tally.offset = Math.min(tally.offset, valueFrom);
    tally.isSure ||= isSure;
    tally.last = { from, to };
    tally.hits.push(...hits);
  }

  /** Ordered by the first hit of each. */
  findings(): readonly Finding[] {
    if (this.isEmpty) return NO_FINDINGS;
    return Array.from(this.#tallies, ([detector, { count, offset, isSure, hits }]) => ({
      detector,
      count,
      offset,
      isSure,
      hits: hits.sort((a, b) => a.offset - b.offset).map(({ offset: at, text }) => ({ offset: at, text })),
    })).sort((a, b) => a.offset - b.offset);
  }
}

import type { Detector } from "./detector.ts";

export interface Finding {
  readonly detector: Detector;
  readonly count: number;
  /** Byte offset of the first hit. */
  readonly offset: number;
  /** A word that leaves no doubt stands beside one of the hits (`sureBeside`). */
  readonly isSure: boolean;
  /** In the order of the text; the first HITS_MAX of a scan, whatever found them. */
  readonly hits: readonly DetectorHit[];
}

/** A find before it is counted. */
export interface FoundValue {
  readonly detector: Detector;
  /** Bytes of all that the detector took, with a name before a value. */
  readonly from: number;
  readonly to: number;
  /** Bytes of the value, which is what is told. */
  readonly valueFrom: number;
  readonly valueTo: number;
  readonly value: string;
  readonly isSure: boolean;
}

/** What was found where. It stays in memory, for as long as somebody tells it from what is allowed. */
export interface DetectorHit {
  /** Bytes from the start of the text. */
  readonly offset: number;
  /** As it stands there or, where it is hidden there (rendered.ts), as it is shown; one char a byte. */
  readonly text: string;
}

export const HITS_MAX = 1000;

interface Tally {
  count: number;
  offset: number;
  isSure: boolean;
  /** The last hit, so that what lies within it is not counted again. */
  last: { readonly from: number; readonly to: number };
  readonly hits: (DetectorHit & { readonly to: number })[];
}

const NO_FINDINGS: readonly Finding[] = [];

/** What a scan has found so far. */
export class Tallies {
  readonly #tallies = new Map<Detector, Tally>();
  #hits = 0;

  get isEmpty(): boolean {
    return this.#tallies.size === 0;
  }

  /** Whether the detector has a hit that is kept and overlaps these bytes. */
  isKnown(detector: Detector, from: number, to: number): boolean {
    return this.#tallies.get(detector)?.hits.some(({ offset, to: end }) => offset < to && end > from) === true;
  }

  /** What lies within the detector's last hit is a part of it. */
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

  /** By the first hit of each. */
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

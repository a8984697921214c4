import { copyBytes } from "#kernel/copy-bytes.ts";
import { DIGIT, LETTER } from "./chain-templates.ts";
import { type ChainEnd, CHAIN_CLASSES } from "./chains.ts";
import type { CompiledDetectors } from "./compiled.ts";
import type { DetectorGroup } from "./detector-group.ts";
import { LABEL_BYTES, textBefore } from "./context.ts";
import { mayGoBack, mayGoOn } from "./cut-ends.ts";
import type { Detector } from "./detector.ts";
import { GRAM_BYTES } from "#rules/detectors/prefilter/gram-groups.ts";
import { type Literal, LITERAL_BYTES_MAX } from "./literals.ts";
import { LongValues } from "./long-values.ts";
import type { Named } from "./named-index.ts";
import { INPUT_BYTES } from "#rules/detectors/prefilter/layout.ts";
import { AT_SIGN, COLON } from "#rules/detectors/prefilter/prefilter.ts";
import { isWorth, mayTransform, rawEnd, render, renderBuffer } from "./rendered.ts";
import {
  continuesNumber,
  continuesSeries,
  countryStart,
  follows,
  goesOnAsSeries,
  hasColonSoon,
  HEXADECIMALS_MAX,
  IS_HEXADECIMAL,
  isBehindLabel,
  isBehindName,
  isLongWord,
  isUpper,
  isWord,
  lettersStart,
  nameStart,
  otherStart,
  UNDERSCORE,
  wordEnd,
  wordsStart,
} from "./boundaries.ts";
import { isInPlace } from "./value-place.ts";
import { type Finding, type FoundValue, Tallies } from "./tallies.ts";

/** Bytes after an anchor that a pattern may read. */
export const WINDOW_BYTES = 512;
/** The part of them that a number needs at most: 34 characters of an IBAN and eight `&#x2011;` between them. */
const NUMBER_WINDOW_BYTES = 112;
/** The same with markup between the groups of an IBAN. */
const ACCOUNT_WINDOW_BYTES = 256;
/** Bytes after a number in which its label may be. */
const BEHIND_BYTES = 64;
/** Bytes before an anchor in which a match may begin. */
export const CONTEXT_BYTES = 64;
/** sensitive-data.md: without a budget an adversarial body of 1 MB took 828 ms, with this one 35 ms. */
export const CANDIDATES_MAX = 8192;
/**
 * Cost of the quick check of a hint and of reading its surroundings, in candidates; and the rendered bytes that cost one
 * candidate.
 */
const GLANCE_CANDIDATES = 1 / 32;
const HINT_CANDIDATES = 1 / 2;
/** Cost of the search for the needed byte, over 200 bytes at most. */
const FOLLOWING_CANDIDATES = 1 / 16;
const RENDERED_A_CANDIDATE = 256;
/** Cost of reading the surroundings of a value. */
const PLACE_CANDIDATES = 4;
/** Bytes of text searched for labels that cost one candidate. */
const LABEL_TEXT_A_CANDIDATE = 128;

/** Bytes of a long value that cost one candidate: they are read, and not searched. */
const LONG_VALUE_A_CANDIDATE = 2048;

/** Customers' patterns may run on an engine that takes microseconds per byte, so they have a smaller budget. */
export const CUSTOM_TRIES_MAX = 256;

export interface ScanResult {
  readonly findings: readonly Finding[];
  /** Whether the candidate budget was spent, so that later hits may be missing. */
  readonly limited: boolean;
  readonly bytes: number;
}

export interface ScannerOptions {
  /** Collects chunks of any size, which are scanned when it is full. It may be used again after `end`; `scanBuffer` makes one. */
  readonly buffer?: Buffer;
  readonly candidatesMax?: number;
  /** The bytes are the rest of something longer: a find that may have begun before them does not count. */
  readonly startsInside?: boolean;
  /** Called for each hit, in no particular order, also for nested ones; `from` and `to` are offsets in the body. */
  readonly onHit?: (from: number, to: number) => void;
}

/** Detectors at one end of a number that check it before its names are read. */
const CHECKS_BEFORE_NAMES = 3;

const BLOCK_BYTES = 64 * 1024;

/** Working memory of a scan: a block and the bytes that must be before and after it. */
export const scanBuffer = (blockBytes = BLOCK_BYTES): Buffer => Buffer.allocUnsafeSlow(LABEL_BYTES + blockBytes + WINDOW_BYTES);

/**
 * Scans a body that arrives in chunks. The findings do not depend on how it is split: an anchor is examined only when its
 * whole window has arrived. Time is linear in the bytes plus bounded work per candidate.
 */
export class BodyScanner {
  readonly #detectors: CompiledDetectors;
  readonly #candidatesMax: number;
  readonly #onHit: ScannerOptions["onHit"];
  readonly #startsInside: boolean;
  readonly #buffer: Buffer;
  /** Bytes in the buffer, the body's offset of its first byte, and the first position that was not examined. */
  #filled = 0;
  #base = 0;
  #next = 0;
  /** Spent candidates, with fractions for the labels before them. */
  #candidates = 0;
  /** Body offset after the last found number or code: digits within it are not a separate number. */
  #foundTo = 0;
  #isCut = false;
  #customTries = 0;
  readonly #tallies = new Tallies();
  readonly #long = new LongValues((found) => this.#add(found));
  /** Positions of the view at which values may be hidden. Undefined in a rendered text. */
  #hidden: number[] | undefined = [];

  constructor(detectors: CompiledDetectors, options: ScannerOptions = {}) {
    const { buffer = scanBuffer(), candidatesMax = CANDIDATES_MAX, startsInside = false, onHit } = options;
    this.#startsInside = startsInside;
    this.#detectors = detectors;
    this.#onHit = onHit;
    this.#candidatesMax = candidatesMax;
    this.#buffer = buffer;
  }

  /** Body offset up to which every anchor was examined; later finds begin at most CONTEXT_BYTES before it. */
  get scannedTo(): number {
    return this.#base + this.#next;
  }

  get hasFindings(): boolean {
    return !this.#tallies.isEmpty || !this.#long.isEmpty;
  }

  /** Bytes received so far. */
  get bytes(): number {
    return this.#base + this.#filled;
  }

  /** Whether the bytes that wait for more have a find; `spare` is as large as the scan's own buffer. Changes nothing. */
  findsInRest(spare: Buffer): boolean {
    if (this.isLimited) return false;
    const startsInside = this.#startsInside && this.#base === 0;
    const rest = new BodyScanner(this.#detectors, { buffer: spare, candidatesMax: this.#candidatesMax, startsInside });
    this.#buffer.copy(spare, 0, 0, this.#filled);
    rest.#filled = this.#filled;
    rest.#next = this.#next;
    rest.#foundTo = this.#foundTo - this.#base;
    return rest.end(true).findings.length > 0;
  }

  /** Candidates spent so far, of some 40 microseconds each at most. */
  get candidates(): number {
    return this.#candidates;
  }

  /** Whether the candidate budget is spent, so that nothing more is found. */
  get isLimited(): boolean {
    return this.#candidates > this.#candidatesMax || this.#customTries > CUSTOM_TRIES_MAX;
  }

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      const taken = Math.min(chunk.length - at, this.#buffer.length - this.#filled);
      copyBytes(chunk, at, at + taken, this.#buffer, this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled === this.#buffer.length) this.#scanTo(this.#filled - WINDOW_BYTES);
    }
  }

  /** With `isCut` the body continues: a find that may continue after the cut does not count. */
  end(isCut = false): ScanResult {
    const { bytes } = this;
    this.#isCut = isCut;
    this.#scanPlaces(this.#buffer.subarray(0, this.#filled), this.#filled);
    this.#long.end();
    this.#next = this.#filled;
    return { findings: this.#tallies.findings(), limited: this.isLimited, bytes };
  }

  /** Examines the anchors before `end`, and moves the bytes that later ones need to the front. */
  #scanTo(end: number): void {
    const view = this.#buffer.subarray(0, this.#filled);
    this.#scanPlaces(view, end);
    const kept = Math.max(0, end - LABEL_BYTES);
    this.#buffer.copyWithin(0, kept, this.#filled);
    this.#filled -= kept;
    this.#base += kept;
    this.#next = end - kept;
  }

  /** The prefilter gets parts smaller than its input, so that it sees their surroundings. */
  #scanPlaces(view: Buffer, end: number): void {
    this.#long.goOn(view, this.#base);
    if (this.isLimited) return;
    const { prefilter } = this.#detectors;
    // A literal may begin before `end`, and the bytes by which it is found may be after it.
    const to = Math.min(view.length, end + LITERAL_BYTES_MAX);
    for (let from = this.#next; from < to; from += PART_BYTES) {
      const partEnd = Math.min(from + PART_BYTES, to);
      const start = Math.max(0, from - CONTEXT_BYTES);
      const stop = Math.min(view.length, partEnd + CONTEXT_BYTES);
      copyBytes(view, start, stop, prefilter.input, 0);
      const count = prefilter.run(from - start, partEnd - start, stop - start);
      for (let i = 0; i < count; i++) {
        const found = prefilter.found[i] as number;
        const at = (found >> 1) + start;
        if (at >= partEnd) continue;
        if ((found & 1) === 1) this.#atGram(view, at, end);
        else if (at < end) this.#atDigits(view, at);
        if (this.#candidates > this.#candidatesMax) return;
      }
    }
    if (this.#hidden !== undefined && this.#hidden.length > 0) this.#scanHidden(view, this.#hidden.splice(0));
  }

  /** Scans the surroundings of these positions as they are shown, each byte once. */
  #scanHidden(view: Buffer, places: number[]): void {
    places.sort((a, b) => a - b);
    let from = 0;
    let to = 0;
    for (const place of places) {
      const end = Math.min(view.length, place + WINDOW_BYTES);
      if (place - LABEL_BYTES > to || end - from > RENDERED_BYTES) {
        if (to > 0) this.#scanRendered(view, from, to);
        from = Math.max(0, place - LABEL_BYTES);
      }
      to = end;
    }
    this.#scanRendered(view, from, to);
  }

  #scanRendered(view: Buffer, from: number, to: number): void {
    const length = render(view, from, to, rendered);
    const startsInside = from > 0 || (this.#startsInside && this.#base === 0);
    const candidatesMax = this.#candidatesMax - this.#candidates;
    const inner = new BodyScanner(this.#detectors, { buffer: rendered.bytes, candidatesMax, startsInside });
    inner.#hidden = undefined;
    inner.#filled = length;
    inner.#customTries = this.#customTries;
    const { findings } = inner.end(this.#isCut || to < view.length);
    this.#candidates += inner.#candidates + (to - from) / RENDERED_A_CANDIDATE;
    this.#customTries = inner.#customTries;
    for (const { detector, hits, isSure } of findings) {
      // Each hit is compared with the known ones.
      this.#candidates += hits.length;
      for (const { offset, text } of hits) {
        const start = rendered.offsets[offset] as number;
        const end = rawEnd(view, rendered, offset + text.length - 1);
        // Plain text was already scanned.
        if (end - start !== text.length && !this.#tallies.isKnown(detector, this.#base + start, this.#base + end))
          this.#add({ detector, ...spanOf(this.#base + start, this.#base + end), value: text, isSure });
      }
    }
  }

  #atGram(view: Buffer, at: number, end: number): void {
    if (view[at] === AT_SIGN && at < end && this.#detectors.at_sign.length > 0) this.#atName(view, at);
    if (view[at] === COLON && at < end && this.#detectors.colon.length > 0) this.#atColon(view, at);
    if (this.#isInRun(view, at)) return;
    const behindGram = view[at + GRAM_BYTES];
    for (const { literal, behind, following } of this.#detectors.literals.at(view, at))
      if (following === undefined || following === behindGram) this.#atLiteral(view, at - behind, end, literal);
  }

  /** Pictures in texts have runs of one letter in base64: a word begins only with the first. */
  #isInRun(view: Buffer, at: number): boolean {
    const byte = view[at] as number;
    return this.#detectors.literals.isRun[byte] === 1 && view[at - 1] === byte && view[at + 1] === byte && view[at + 2] === byte;
  }

  /** A number begins with the digit at `at`, or a code with letters before it. */
  #atDigits(view: Buffer, at: number): void {
    const before = CHAIN_CLASSES[view[at - 1] ?? 0];
    if (before === LETTER) {
      const start = lettersStart(view, at);
      if (start >= 0) {
        this.#atCountry(view, at);
        this.#atChain(view, start);
      }
      if (isBehindName(view, at)) this.#atChain(view, at);
      return;
    }
    if (view[at - 1] === UNDERSCORE || continuesNumber(view, at)) return;
    const { plus, base58, number } = this.#detectors;
    if (number.length > 0) this.#tryPatterns(view, at, number, WINDOW_BYTES);
    if (view[at - 1] === PLUS && plus.length > 0) this.#tryPatterns(view, at - 1, plus, NUMBER_WINDOW_BYTES);
    this.#atCountry(view, at);
    if (base58.length > 0 && isLongWord(view, at)) this.#tryPatterns(view, at, base58, NUMBER_WINDOW_BYTES);
    for (let start = wordsStart(view, at); start < at; start = wordEnd(view, start) + 1) if (this.#atChain(view, start)) return;
    this.#atChain(view, at);
  }

  /** A name ends before the at sign at `at`. */
  #atName(view: Buffer, at: number): void {
    const start = nameStart(view, at);
    this.#tryPatterns(view, start === at ? otherStart(view, at) : start, this.#detectors.at_sign, WINDOW_BYTES);
  }

  /** The first colon of several, with or without hexadecimal digits before it. */
  #atColon(view: Buffer, at: number): void {
    let start = at;
    while (start > 0 && at - start <= HEXADECIMALS_MAX && IS_HEXADECIMAL[view[start - 1] as number] === 1) start--;
    const before = view[start - 1];
    if (at - start > HEXADECIMALS_MAX || isWord(before) || (before === COLON && !isBehindLabel(view, start))) return;
    if (!hasColonSoon(view, at, start === at)) return;
    this.#tryPatterns(view, start, this.#detectors.colon, NUMBER_WINDOW_BYTES);
  }

  /** Two check digits after a country. */
  #atCountry(view: Buffer, at: number): void {
    const { country_check, countries } = this.#detectors;
    if (country_check.length === 0 || CHAIN_CLASSES[view[at + 1] ?? 0] !== DIGIT) return;
    const start = countryStart(view, at);
    if (start >= 0 && countries.has(view, start) && isUpper(view[start]) === isUpper(view[start + 1]))
      this.#tryPatterns(view, start, country_check, ACCOUNT_WINDOW_BYTES);
  }

  /** Finds the longest form that a detector accepts; false if there is none. */
  #atChain(view: Buffer, at: number): boolean {
    if (this.#base + at < this.#foundTo) return true;
    const { chains } = this.#detectors;
    const count = chains.read(view, at, ends);
    if (count === 0 || ++this.#candidates > this.#candidatesMax) return false;
    let namedHere: Named<Detector> | undefined;
    for (let i = count - 1; i >= 0; i--) {
      const { end, detectors } = ends[i] as ChainEnd;
      const text = view.toString("latin1", at, end);
      if (continuesSeries(view, at, text) || goesOnAsSeries(view, end, text)) continue;
      let checks = 0;
      for (const detector of detectors) {
        if (detector.context !== undefined && detector.namedBehind === undefined) {
          // One look at the names is cheaper than the checks of many detectors, of which nearly all need one.
          if (checks++ === CHECKS_BEFORE_NAMES) namedHere ??= this.#namedBefore(view, at);
          if (namedHere?.has(detector) === false) continue;
        }
        if (!detector.accepts(text)) continue;
        if (detector.context !== undefined && !(namedHere ??= this.#namedBefore(view, at)).has(detector)) {
          if (detector.namedBehind?.test(view.toString("latin1", end, end + BEHIND_BYTES)) !== true) continue;
        }
        if (!this.#isPlaced(detector, view, at, text)) continue;
        this.#count(detector, view, at, text, namedHere);
        this.#foundTo = this.#base + end;
        return true;
      }
    }
    return false;
  }

  #atLiteral(view: Buffer, at: number, end: number, { bytes, word, needs, behindName, groups, isHint }: Literal): void {
    if (at < this.#next || at >= end || at + bytes.length > view.length) return;
    for (let i = 0; i < bytes.length; i++) if (view[at + i] !== bytes[i]) return;
    if (isHint) {
      this.#atHint(view, at);
      return;
    }
    if (word && at > 0 && isWord(view[at - 1])) return;
    if (needs !== undefined) {
      this.#candidates += FOLLOWING_CANDIDATES;
      if (!follows(view, at + bytes.length, needs)) return;
    }
    this.#tryPatterns(view, behindName ? nameStart(view, at) : at, groups, WINDOW_BYTES);
  }

  #atHint(view: Buffer, at: number): void {
    if (this.#hidden === undefined) return;
    this.#candidates += GLANCE_CANDIDATES;
    // The bytes shortly after such a position are rendered together with it.
    if (at < (this.#hidden.at(-1) ?? -HINT_BYTES) + HINT_BYTES || !mayTransform(view, at)) return;
    this.#candidates += HINT_CANDIDATES;
    if (isWorth(view, at)) this.#hidden.push(at);
  }

  #tryPatterns(view: Buffer, at: number, groups: readonly DetectorGroup[], windowBytes: number): void {
    if (++this.#candidates > this.#candidatesMax) return;
    const window = view.toString("latin1", at, Math.min(at + windowBytes, view.length));
    for (const group of groups) this.#tryGroup(view, at, group, window);
  }

  #tryGroup(view: Buffer, at: number, { patterns, detectors }: DetectorGroup, window: string): void {
    if (detectors[0]?.category === "custom" && (this.#customTries += detectors[0].tries ?? 1) > CUSTOM_TRIES_MAX) return;
    for (const pattern of patterns) {
      pattern.lastIndex = 0;
      const found = pattern.exec(window)?.[0];
      if (found === undefined) continue;
      const detector = detectors.find((one) => {
        if (!one.accepts(found) || !this.#isNamed(one, view, at)) return false;
        if (one.place !== undefined) this.#candidates += PLACE_CANDIDATES;
        return this.#isPlaced(one, view, at, found);
      });
      if (detector === undefined) continue;
      this.#count(detector, view, at, found);
      return;
    }
  }

  #isNamed(detector: Detector, view: Buffer, at: number): boolean {
    return detector.context === undefined || this.#namedBefore(view, at).has(detector);
  }

  /** Without a cost: a number is one candidate whatever is read for it. */
  #isPlaced({ place, valueIn }: Detector, view: Buffer, at: number, found: string): boolean {
    if (place === undefined) return true;
    const [from, to] = valueIn?.(found) ?? [0, found.length];
    return isInPlace(place, view, at + from, at + to, at + WINDOW_BYTES);
  }

  #namedBefore(view: Buffer, at: number): Named<Detector> {
    const before = textBefore(view, at);
    this.#candidates += before.length / LABEL_TEXT_A_CANDIDATE;
    return this.#detectors.named.in(before);
  }

  #count(detector: Detector, view: Buffer, at: number, text: string, named?: Named<Detector>): void {
    const from = this.#base + at;
    const { sureBeside, sureForm } = detector;
    const isSure = sureForm?.(text) === true || (sureBeside !== undefined && (named ?? this.#namedBefore(view, at)).has(detector));
    const [start, end] = detector.valueIn?.(text) ?? [0, text.length];
    const span = { from, to: from + text.length, valueFrom: from + start, valueTo: from + end };
    const found = { detector, ...span, value: end - start === text.length ? text : text.slice(start, end), isSure };
    if (detector.category !== "secrets" || text.length < WINDOW_BYTES || end < text.length) return this.#add(found);
    this.#candidates += this.#long.add(found, view, this.#base) / LONG_VALUE_A_CANDIDATE;
  }

  #add(found: FoundValue): void {
    const { from, to, valueFrom, valueTo } = found;
    if (this.#isCut && mayGoOn(this.#buffer.subarray(to - this.#base, this.#filled))) return;
    // A find near the start is found while the start is in the buffer.
    if (this.#startsInside && this.#base === 0 && mayGoBack(this.#buffer.subarray(0, from))) return;
    this.#onHit?.(valueFrom, valueTo);
    this.#tallies.add(found);
  }
}

const spanOf = (from: number, to: number): Pick<FoundValue, "from" | "to" | "valueFrom" | "valueTo"> => ({
  from,
  to,
  valueFrom: from,
  valueTo: to,
});

/** Hints this near to each other refer to the same value. */
const HINT_BYTES = 128;

/** Ends found by the last read; used before the next one. */
const ends: ChainEnd[] = [];

/** The rendered text, shared by all scans, which run one after another. */
const RENDERED_BYTES = 16 * 1024;
const rendered = renderBuffer(RENDERED_BYTES);

/** Bytes per call of the prefilter. */
const PART_BYTES = INPUT_BYTES - 4 * CONTEXT_BYTES;
const PLUS = 0x2b;

import { copyBytes } from "#kernel/copy-bytes.ts";
import type { BufferUser, BufferPool } from "./shared-buffers.ts";

/**
 * A queue of records in memory that two threads share: one writes, the other reads. Neither waits for the other, and
 * nothing is allocated or transferred. The reader is woken only while it sleeps, or dozes and much has come.
 */
export interface RingWriter {
  /** True if a record of so many bytes has room, besides the ends of all jobs that may be open. */
  hasRoom(bytes: number): boolean;
  /**
   * Appends `text` (one character per byte) and `bytes[start, end)` as one record. Returns false without room.
   * Long chunks are shared if possible, and copied otherwise; the caller may reuse its buffer at once either way. The
   * caller keeps text and copied bytes below RECORD_BYTES_MAX, and `label` below LABELS_MAX. `isEnd`: the last record of
   * the job.
   */
  write(job: number, label: number, text: string, bytes: Uint8Array, start: number, end: number, isEnd: boolean): boolean;
  /** True if a chunk would be shared instead of copied, if it were long enough. */
  lends(bytes: Uint8Array, start: number, end: number): boolean;
  /** Ends the job without a record. There is always room for `endsMax` of these. */
  end(job: number, how: JobEnd): void;
  /** Number of jobs that the reader has finished. */
  done(): number;
}

export interface RingReader {
  /**
   * Takes the oldest records until about `bytesMax` bytes were read or `take` returns false. Returns the number of bytes;
   * 0 without records.
   */
  read(bytesMax: number, take: (record: RingRecord) => unknown): number;
  /** True if more than half of the memory waits to be read. */
  isBehind(): boolean;
  /** The writer will call `wake` on its side for the next record. Returns false if there is one already. */
  sleep(): boolean;
  /** The reader looks again by itself: the writer calls `wake` only if a good part of the memory waits. */
  doze(): void;
  /** The reader is awake: the writer no longer calls `wake`. */
  stir(): void;
  /** Counts a finished job. If the reader's thread dies, the writer knows how many jobs were not finished. */
  done(): void;
}

/** The whole body has arrived, or it broke off, or it continues and its `done` must not count. */
export type JobEnd = "whole" | "broken" | "cut";

/** Valid during the call that gets it. */
export interface RingRecord {
  readonly job: number;
  /** As written; 0 for an end without a record. */
  readonly label: number;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly isEnd: boolean;
  /** The writer ended the job before the end of the body, and has counted it. */
  readonly isCut: boolean;
  /** The body broke off. */
  readonly isBroken: boolean;
}

export interface RingWriterOptions {
  /** Jobs that may be open at the same time. */
  readonly endsMax: number;
  readonly rewindBytes?: number;
  readonly lender?: BufferPool | null;
  /** Called at most once each time the reader sleeps or dozes. */
  wake(): void;
}

/** Limit of a piece of a body and its text, in bytes. */
export const RECORD_BYTES_MAX = 128 * 1024;

export const LABELS_MAX = 2 ** 24;

// Positions are bytes in the part after the control words; each word has its own cache line.
const [HEAD, TAIL, STATE] = [0, 16, 32];
// States of the reader, in the word STATE.
const [AWAKE, ASLEEP, DOZING] = [0, 1, 2];
/** Part of the memory that may wait for a dozing reader. */
const DOZING_PART = 1 / 8;
/** Written by the reader, like TAIL. */
const DONE = TAIL + 1;
const CONTROL_BYTES = 192;
// Four words: bytes of the text, bytes of the body, job, and kind with label. Records begin at multiples of it.
const RECORD = 16;
// The first word of a jump is the position to continue at. A shared chunk has two more words, which give its place.
const [END, JUMP, LENT, CUT, BROKEN] = [1, 2, 4, 8, 16];
const KIND_BITS = 5;
const ENDS: Readonly<Record<JobEnd, number>> = { whole: END, broken: END | BROKEN, cut: END | CUT };
const WORD_SHIFT = 2;
/** Shorter pieces cost about as much to copy as to share, and would occupy memory that long ones need. */
const LENT_BYTES_MIN = 16 * 1024;
/** If everything was read, writing returns to the front after so many bytes, so that the same memory stays in the CPU cache. */
const REWIND_BYTES = 512 * 1024;

/** `bytes`: room for records, a multiple of 16. */
export function createRing(bytes: number): SharedArrayBuffer {
  const ring = new SharedArrayBuffer(CONTROL_BYTES + bytes);
  Atomics.store(new Int32Array(ring), STATE, ASLEEP);
  return ring;
}

const recordBytes = (bytes: number): number => RECORD + ((bytes + RECORD - 1) & -RECORD);

export function createRingWriter(
  ring: SharedArrayBuffer,
  { endsMax, rewindBytes = REWIND_BYTES, lender = null, wake }: RingWriterOptions,
): RingWriter {
  const control = new Int32Array(ring, 0, CONTROL_BYTES >> WORD_SHIFT);
  const words = new Int32Array(ring, CONTROL_BYTES);
  const data = Buffer.from(ring, CONTROL_BYTES);
  const size = data.length;
  const reserved = (endsMax + 2) * RECORD;
  let head = 0;
  /** Position of the reader when writing returned to the front; -1 once the reader has followed. */
  let rewoundAt = -1;

  const jump = (to: number): void => {
    words[head >> WORD_SHIFT] = to;
    words[(head >> WORD_SHIFT) + 3] = JUMP;
    if (to === 0) rewoundAt = head;
    head = to;
  };

  /** Position for a record of so many bytes, or -1. `kept` bytes must stay free after it. */
  const place = (need: number, kept: number): number => {
    // An outdated value only makes the room look smaller, and an atomic load would cost more than the rest of this.
    const tail = control[TAIL] as number;
    if (tail !== rewoundAt) rewoundAt = -1;
    if (head < tail) {
      if (need + kept < tail - head) return head;
      // Until the reader has followed, everything after its position is free, except for the jump there.
      const beyond = tail + RECORD;
      return rewoundAt >= 0 && need + kept <= size - RECORD - beyond ? beyond : -1;
    }
    // Everything was read.
    if (head === tail && head >= rewindBytes && need + kept < tail) return 0;
    // The last record of the memory is a jump to the front.
    const behind = size - RECORD - head;
    // The records at the front were not read yet.
    if (rewoundAt >= 0) return need + kept <= behind ? head : -1;
    if (need <= behind) return behind - need + Math.max(0, tail - RECORD) >= kept ? head : -1;
    return need + kept < tail ? 0 : -1;
  };

  const waiting = (): number => {
    const bytes = head - (control[TAIL] as number);
    return bytes < 0 ? bytes + size : bytes;
  };

  const publish = (next: number): void => {
    head = next;
    Atomics.store(control, HEAD, head);
    const state = Atomics.load(control, STATE);
    if (state === AWAKE || (state === DOZING && waiting() < size * DOZING_PART)) return;
    if (Atomics.exchange(control, STATE, AWAKE) !== AWAKE) wake();
  };

  const header = (at: number, textBytes: number, bodyBytes: number, job: number, kind: number): void => {
    const word = at >> WORD_SHIFT;
    words[word] = textBytes;
    words[word + 1] = bodyBytes;
    words[word + 2] = job;
    words[word + 3] = kind;
  };

  const lends = (bytes: Uint8Array, start: number, end: number): boolean =>
    lender !== null && end - start >= LENT_BYTES_MIN && lender.canLend(bytes, end - start);

  return {
    hasRoom: (bytes) => place(recordBytes(bytes), reserved) >= 0,
    lends,
    write: (job, label, text, bytes, start, end, isEnd) => {
      const isLent = lends(bytes, start, end);
      const need = recordBytes(text.length + (isLent ? RECORD : end - start));
      const at = place(need, reserved);
      if (at < 0) return false;
      if (at !== head) jump(at);
      header(at, text.length, end - start, job, (isEnd ? END : 0) | (isLent ? LENT : 0) | (label << KIND_BITS));
      const textAt = isLent ? at + RECORD + RECORD : at + RECORD;
      if (text.length > 0) data.write(text, textAt, "latin1");
      if (isLent) {
        const word = (at + RECORD) >> WORD_SHIFT;
        words[word] = (lender as BufferPool).lend(end - start);
        words[word + 1] = start;
      } else copyBytes(bytes, start, end, data, textAt + text.length);
      publish(at + need);
      return true;
    },
    end: (job, how) => {
      const at = place(RECORD, 0);
      if (at < 0) throw new Error("more jobs were ended than may be open");
      if (at !== head) jump(at);
      header(at, 0, 0, job, ENDS[how]);
      publish(at + RECORD);
    },
    done: () => Atomics.load(control, DONE),
  };
}

export function createRingReader(ring: SharedArrayBuffer, borrower: BufferUser | null = null): RingReader {
  const control = new Int32Array(ring, 0, CONTROL_BYTES >> WORD_SHIFT);
  const words = new Int32Array(ring, CONTROL_BYTES);
  const data = Buffer.from(ring, CONTROL_BYTES);
  let tail = Atomics.load(control, TAIL);

  const isEmpty = (): boolean => Atomics.load(control, HEAD) === tail;

  return {
    read: (bytesMax, take) => {
      let read = 0;
      let goesOn = true;
      while (goesOn && read < bytesMax && !isEmpty()) {
        const word = tail >> WORD_SHIFT;
        const kind = words[word + 3] as number;
        if ((kind & JUMP) !== 0) {
          tail = words[word] as number;
        } else {
          const textBytes = words[word] as number;
          const bodyBytes = words[word + 1] as number;
          const lender = (kind & LENT) !== 0 ? borrower : null;
          const textAt = lender === null ? tail + RECORD : tail + RECORD + RECORD;
          const text = textBytes === 0 ? "" : data.toString("latin1", textAt, textAt + textBytes);
          const place = words[word + 4] as number;
          const bytes =
            lender === null
              ? data.subarray(textAt + textBytes, textAt + textBytes + bodyBytes)
              : lender.bytes(place, words[word + 5] as number, bodyBytes);
          const [isEnd, isCut, isBroken] = [(kind & END) !== 0, (kind & CUT) !== 0, (kind & BROKEN) !== 0];
          const record = { job: words[word + 2] as number, label: kind >> KIND_BITS, text, bytes, isEnd, isCut, isBroken };
          goesOn = take(record) !== false;
          lender?.giveBack(place, bodyBytes);
          tail += recordBytes(textBytes + (lender === null ? bodyBytes : RECORD));
          read += RECORD + bodyBytes;
        }
        Atomics.store(control, TAIL, tail);
      }
      return read;
    },
    isBehind: () => {
      const waiting = Atomics.load(control, HEAD) - tail;
      return (waiting < 0 ? waiting + data.length : waiting) > data.length / 2;
    },
    sleep: () => {
      Atomics.store(control, STATE, ASLEEP);
      // A record may have come before the state was set, and then nobody was woken for it.
      if (isEmpty()) return true;
      return Atomics.exchange(control, STATE, AWAKE) === AWAKE;
    },
    doze: () => void Atomics.store(control, STATE, DOZING),
    stir: () => void Atomics.store(control, STATE, AWAKE),
    done: () => void Atomics.add(control, DONE, 1),
  };
}

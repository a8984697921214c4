import { copyBytes } from "#kernel/copy-bytes.ts";
import type { BufferUser, BufferPool } from "./shared-buffers.ts";

/**
 * A queue of records in memory that two threads share: one writes, the other reads. Neither waits for the other, nothing is
 * allocated or handed over, and the reader is woken only where it has said that it sleeps, or dozes and much has come.
 */
export interface RingWriter {
  /** Whether a record of so many bytes has room, and an end of every job that may be open. */
  hasRoom(bytes: number): boolean;
  /**
   * Appends `text` (one char a byte) and `bytes[start, end)` as one record; false without room. Long ones are lent where they
   * can be, and copied otherwise: either way the caller may use its buffer again at once. It keeps text and bytes that are not lent
   * below RECORD_BYTES_MAX, and `label` below LABELS_MAX. With `isEnd`, nothing more comes of the job.
   */
  write(job: number, label: number, text: string, bytes: Uint8Array, start: number, end: number, isEnd: boolean): boolean;
  /** Whether a piece of any length would be lent instead of copied. */
  lends(bytes: Uint8Array, start: number, end: number): boolean;
  /** Says that no more comes of the job: there is room for as many as `endsMax` at any time. */
  end(job: number, how: JobEnd): void;
  /** How many jobs the reader has said to be done with. */
  done(): number;
}

export interface RingReader {
  /** Takes the oldest records until about so many bytes were read or `take` says false; the number of bytes, 0 where there are none. */
  read(bytesMax: number, take: (record: RingRecord) => unknown): number;
  /** Whether more than half of the memory waits to be read. */
  isBehind(): boolean;
  /** The writer calls `wake` (of its own side) for the next record. False where there is one already. */
  sleep(): boolean;
  /** The reader looks again by itself: the writer calls `wake` only when a good part of the memory waits. */
  doze(): void;
  /** The reader looks: the writer calls `wake` no more. */
  stir(): void;
  /** Says that one more job is done with: should the reader's thread die, the writer knows how many were not. */
  done(): void;
}

/** All of the body has come; it broke off, and goes no further; or it goes on and its `done` is not to be counted. */
export type JobEnd = "whole" | "broken" | "cut";

/** Good during the call that it is given to. */
export interface RingRecord {
  readonly job: number;
  /** As it was written; 0 of an end by itself. */
  readonly label: number;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly isEnd: boolean;
  /** The end came before that of the body, and the writer has counted it already. */
  readonly isCut: boolean;
  /** There would have been more. */
  readonly isBroken: boolean;
}

export interface RingWriterOptions {
  /** Jobs that may be open at the same time. */
  readonly endsMax: number;
  readonly rewindBytes?: number;
  readonly lender?: BufferPool | null;
  /** Called at most once for each time that the reader sleeps or dozes. */
  wake(): void;
}

/** A piece of a body, and what comes before it. */
export const RECORD_BYTES_MAX = 128 * 1024;

export const LABELS_MAX = 2 ** 24;

// Positions are bytes in the part behind the control words; each word has a cache line of its own.
const [HEAD, TAIL, STATE] = [0, 16, 32];
// What the reader is, in the word of that name.
const [AWAKE, ASLEEP, DOZING] = [0, 1, 2];
/** The part of the memory that may wait for a reader that dozes. */
const DOZING_PART = 1 / 8;
/** Written by the reader, as TAIL is. */
const DONE = TAIL + 1;
const CONTROL_BYTES = 192;
// Four words: bytes of the text, bytes of the body, job, then kind and label. Records begin at multiples of it.
const RECORD = 16;
// Of a jump, the first word says where it goes on. Of what is lent, two words behind these four say where it is.
const [END, JUMP, LENT, CUT, BROKEN] = [1, 2, 4, 8, 16];
const KIND_BITS = 5;
const ENDS: Readonly<Record<JobEnd, number>> = { whole: END, broken: END | BROKEN, cut: END | CUT };
const WORD_SHIFT = 2;
/** Less costs about as much to copy as to lend, and would keep memory from who has more. */
const LENT_BYTES_MIN = 16 * 1024;
/** Where all has been read, writing begins at the front again behind so many bytes: memory that is in the cache stays in use. */
const REWIND_BYTES = 512 * 1024;

/** `bytes` for records, a multiple of 16. */
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
  /** Where the reader was when writing began at the front again, until it is seen to have followed; then -1. */
  let rewoundAt = -1;

  const jump = (to: number): void => {
    words[head >> WORD_SHIFT] = to;
    words[(head >> WORD_SHIFT) + 3] = JUMP;
    if (to === 0) rewoundAt = head;
    head = to;
  };

  /** Where a record of so many bytes goes, or -1. What follows it leaves `kept` bytes free. */
  const place = (need: number, kept: number): number => {
    // An older one than there is says that there is less room; calls of `Atomics` cost more than the rest of this.
    const tail = control[TAIL] as number;
    if (tail !== rewoundAt) rewoundAt = -1;
    if (head < tail) {
      if (need + kept < tail - head) return head;
      // A reader that has not followed yet leaves all that lies behind its place free, the jump there aside.
      const beyond = tail + RECORD;
      return rewoundAt >= 0 && need + kept <= size - RECORD - beyond ? beyond : -1;
    }
    // Everything was read.
    if (head === tail && head >= rewindBytes && need + kept < tail) return 0;
    // The last record of the memory says that it goes on at the front.
    const behind = size - RECORD - head;
    // What stands at the front already was not read.
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
      // What came meanwhile found nobody asleep.
      if (isEmpty()) return true;
      return Atomics.exchange(control, STATE, AWAKE) === AWAKE;
    },
    doze: () => void Atomics.store(control, STATE, DOZING),
    stir: () => void Atomics.store(control, STATE, AWAKE),
    done: () => void Atomics.add(control, DONE, 1),
  };
}

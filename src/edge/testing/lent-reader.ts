import { parentPort, workerData } from "node:worker_threads";
import { BufferUser } from "#edge/detection/shared-buffers.ts";
import { createRingReader } from "#edge/detection/ring.ts";

/** What a reading thread is given, and what it has counted, by their places in `counts`. */
export interface LentReaderData {
  readonly ring: SharedArrayBuffer;
  readonly lent: SharedArrayBuffer;
  readonly counts: SharedArrayBuffer;
  /** Of records, before it stands still amid one that it was lent. */
  readonly recordsMax: number;
  /** Of each look, at most. */
  readonly slowMs: number;
}

export const [WHOLE, SHORT, LENT] = [0, 1, 2];
export const COUNTS = 3;

/** The body of this number, no two words of which are in another body or elsewhere in this one. */
export function bodyOf(number: number, length: number): Buffer {
  const words = Uint32Array.from({ length: Math.ceil(length / 4) }, (_, index) => number * 2 ** 18 + index);
  return Buffer.from(words.buffer, 0, length);
}

// A thread that reads as a detector does, slowly, and looks whether each body is what its request asked for: `/number-length`.

if (parentPort !== null) read(workerData as LentReaderData);

function read({ ring, lent, counts: memory, recordsMax, slowMs }: LentReaderData): void {
  const counts = new Int32Array(memory);
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  const rest = (ms: number): void => void Atomics.wait(nothing, 0, 0, ms);
  const jobs = new Map<number, { readonly body: Buffer; at: number }>();
  const borrower = new BufferUser(lent);
  let records = 0;
  let isLent = false;
  const counted = Object.assign(Object.create(borrower) as BufferUser, {
    bytes: (place: number, start: number, length: number) => {
      isLent = true;
      Atomics.add(counts, LENT, 1);
      return borrower.bytes(place, start, length);
    },
  });
  const reader = createRingReader(ring, counted);
  setInterval(() => {
    reader.read(Number.POSITIVE_INFINITY, ({ job: number, text, bytes, isEnd, isCut }) => {
      if (number === 0) return;
      const [, body, length] = /\n\/(\d+)-(\d+)\n/.exec(text) ?? [];
      if (body !== undefined) jobs.set(number, { body: bodyOf(Number(body), Number(length)), at: 0 });
      const job = jobs.get(number);
      if (job === undefined) throw new Error(`nothing is known of job ${number}`);
      const expected = job.body.subarray(job.at, job.at + bytes.length);
      const look = (): void => {
        if (!expected.equals(bytes)) throw new Error(`job ${number} has other bytes than its own behind ${job.at}`);
      };
      look();
      if (isLent && ++records >= recordsMax) {
        parentPort?.postMessage("stands still");
        rest(60_000);
      }
      rest(Math.random() * slowMs);
      look();
      isLent = false;
      job.at += bytes.length;
      if (!isEnd) return;
      jobs.delete(number);
      Atomics.add(counts, job.at === job.body.length ? WHOLE : SHORT, 1);
      if (!isCut) reader.done();
    });
  }, 1);
}

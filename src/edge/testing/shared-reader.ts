import { parentPort, workerData } from "node:worker_threads";
import { BufferUser } from "#edge/detection/shared-buffers.ts";
import { createRingReader } from "#edge/detection/ring.ts";

/** `workerData` of a reading thread. Its results are in `counts`, by index. */
export interface SharedReaderData {
  readonly ring: SharedArrayBuffer;
  readonly lent: SharedArrayBuffer;
  readonly counts: SharedArrayBuffer;
  /** Records read before it stops in the middle of a shared one. */
  readonly recordsMax: number;
  /** Longest time for one record, in milliseconds. */
  readonly slowMs: number;
}

export const [WHOLE, SHORT, LENT] = [0, 1, 2];
export const COUNTS = 3;

/** The body of this number. No two of its words are equal, or in another body. */
export function bodyOf(number: number, length: number): Buffer {
  const words = Uint32Array.from({ length: Math.ceil(length / 4) }, (_, index) => number * 2 ** 18 + index);
  return Buffer.from(words.buffer, 0, length);
}

// A thread that reads slowly, like a detector, and checks that each body belongs to its request: `/number-length`.

if (parentPort !== null) read(workerData as SharedReaderData);

function read({ ring, lent, counts: memory, recordsMax, slowMs }: SharedReaderData): void {
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

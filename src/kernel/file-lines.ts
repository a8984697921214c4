import { createReadStream } from "node:fs";

const LINE_END = 0x0a;
const CHUNK_BYTES = 1 << 20;

/**
 * The lines of a file with their ends, as bytes: a whole file could be longer than a string may be. Text after the last
 * line end is left out.
 */
export async function* readLines(path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
      const tail = chunk.subarray(start, end + 1);
      yield parts.length === 0 ? tail : Buffer.concat([...parts, tail]);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
}

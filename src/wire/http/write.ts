import { latin1 } from "./bytes.ts";
import type { Trailer } from "./chunked.ts";
import { FIELDS_MAX, type Head } from "./parsed-head.ts";

/** The field lines that are not dropped, each with CRLF. Consecutive lines are copied together. */
export function forwardedFields(buffer: Buffer, head: Head): string {
  const count = findKept(head);
  let text = "";
  for (let run = 0; run < count; run++) text += latin1(buffer, RUNS[run * 2]!, RUNS[run * 2 + 1]!);
  return text;
}

/** The same from a string that contains the lines. */
export function forwardedLines(lines: string, head: Head): string {
  const count = findKept(head);
  let text = "";
  for (let run = 0; run < count; run++) text += lines.slice(RUNS[run * 2]! - head.fieldsStart, RUNS[run * 2 + 1]! - head.fieldsStart);
  return text;
}

/** Start and end of each run of kept lines; valid until the next call. */
const RUNS = new Int32Array((FIELDS_MAX + 1) * 2);

/** Finds the runs of kept lines; returns their number. */
function findKept(head: Head): number {
  const stop = head.end - 2;
  let count = 0;
  let from = head.fieldsStart;
  for (let index = 0; index <= head.fieldCount; index++) {
    if (index < head.fieldCount && head.dropped[index] === 0) continue;
    const until = index < head.fieldCount ? head.offsets[index * 4]! : stop;
    if (until > from) {
      RUNS[count * 2] = from;
      RUNS[count * 2 + 1] = until;
      count++;
    }
    from = index + 1 < head.fieldCount ? head.offsets[index * 4 + 4]! : stop;
  }
  return count;
}

export function statusLine(buffer: Buffer, head: Head): string {
  const { status, reasonStart: start, reasonEnd: end } = head;
  // A constant for the most frequent status line avoids a new string.
  if (status === 200 && end - start === 2 && buffer[start] === 0x4f && buffer[start + 1] === 0x4b) return "HTTP/1.1 200 OK\r\n";
  return `HTTP/1.1 ${status} ${latin1(buffer, start, end)}\r\n`;
}

/** The size line of a chunk, whose bytes and CRLF follow. Never for an empty chunk, which would end the body. */
export const chunkStart = (bytes: number): string => `${bytes.toString(16)}\r\n`;

/** The end of a chunked body. */
export function lastChunk(trailers: readonly Trailer[]): string {
  if (trailers.length === 0) return "0\r\n\r\n";
  let text = "0\r\n";
  for (const { name, value } of trailers) text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}

/** The framing field of a message with a body of this length; null for chunked. */
export const framingField = (length: number | null): string =>
  length === null ? "Transfer-Encoding: chunked\r\n" : `Content-Length: ${length}\r\n`;

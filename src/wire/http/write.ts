import { latin1 } from "./bytes.ts";
import type { Trailer } from "./chunked.ts";
import type { Head } from "./head.ts";

/** The field lines that were not dropped, each with its CRLF. Lines that stand together are copied together. */
export const keptFields = (buffer: Buffer, head: Head): string => kept(head, (start, end) => latin1(buffer, start, end));

/** The same of lines that were read already. */
export const keptLines = (lines: string, head: Head): string =>
  kept(head, (start, end) => lines.slice(start - head.fieldsStart, end - head.fieldsStart));

function kept(head: Head, read: (start: number, end: number) => string): string {
  const stop = head.end - 2;
  let text = "";
  let from = head.fieldsStart;
  for (let index = 0; index < head.fieldCount; index++) {
    if (head.dropped[index] === 0) continue;
    const lineStart = head.offsets[index * 4]!;
    if (lineStart > from) text += read(from, lineStart);
    from = index + 1 < head.fieldCount ? head.offsets[index * 4 + 4]! : stop;
  }
  return stop > from ? text + read(from, stop) : text;
}

export function statusLine(buffer: Buffer, head: Head): string {
  const { status, reasonStart: start, reasonEnd: end } = head;
  // What most responses begin with is no new string.
  if (status === 200 && end - start === 2 && buffer[start] === 0x4f && buffer[start + 1] === 0x4b) return "HTTP/1.1 200 OK\r\n";
  return `HTTP/1.1 ${status} ${latin1(buffer, start, end)}\r\n`;
}

/** The size line of a chunk, whose bytes and CRLF follow. Never for an empty chunk: that one ends the body. */
export const chunkStart = (bytes: number): string => `${bytes.toString(16)}\r\n`;

/** What ends a chunked body. */
export function lastChunk(trailers: readonly Trailer[]): string {
  if (trailers.length === 0) return "0\r\n\r\n";
  let text = "0\r\n";
  for (const { name, value } of trailers) text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}

/** The framing fields of a message whose body has this length; null for chunked. */
export const framingField = (length: number | null): string =>
  length === null ? "Transfer-Encoding: chunked\r\n" : `Content-Length: ${length}\r\n`;

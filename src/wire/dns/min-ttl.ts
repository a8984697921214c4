import { readName } from "./name.ts";
import { WireReader } from "./wire-reader.ts";

/**
 * Seconds for which a response may be cached: the lowest TTL of its answers, or of its authorities without answers (RFC
 * 8484 §5.1), and 0 without records. Throws WireError if the bytes are not a message.
 */
export function minTtl(response: Uint8Array): number {
  const reader = new WireReader(response, { pointers: true });
  reader.take(4);
  const [questions, answers, authorities] = [reader.u16(), reader.u16(), reader.u16()];
  reader.take(2);
  const skipName = (): void => {
    reader.offset = readName(response, reader.offset, true).end;
  };
  for (let i = 0; i < questions; i++) {
    skipName();
    reader.take(4);
  }
  let least = Number.POSITIVE_INFINITY;
  // Each record has at least 11 bytes, so the reader ends the loop even if the counts are false.
  for (let i = 0; i < (answers > 0 ? answers : authorities); i++) {
    skipName();
    reader.take(4);
    least = Math.min(least, reader.u32());
    reader.take(reader.u16());
  }
  return least === Number.POSITIVE_INFINITY ? 0 : least;
}

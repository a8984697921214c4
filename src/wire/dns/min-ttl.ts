import { readName } from "./name.ts";
import { WireReader } from "./wire-reader.ts";

/**
 * Seconds for which a response may be kept: the least TTL of its answers, of its authorities where it has none
 * (RFC 8484 §5.1), and 0 where it holds no record. Throws WireError on what is no message.
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
  // Each record takes 11 bytes or more: the reader ends the loop whatever the counts claim.
  for (let i = 0; i < (answers > 0 ? answers : authorities); i++) {
    skipName();
    reader.take(4);
    least = Math.min(least, reader.u32());
    reader.take(reader.u16());
  }
  return least === Number.POSITIVE_INFINITY ? 0 : least;
}

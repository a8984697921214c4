import { FLAG, HEADER_BYTES, OPCODE_MASK, TYPE } from "#wire/dns/codes.ts";
import { OPT_BYTES } from "#wire/dns/message.ts";
import { echoedEdnsFlags, type EdnsClass, PAYLOAD_BYTES_MAX } from "./exchange.ts";

/** Type and class of a question. */
const QUESTION_TAIL_BYTES = 4;
const ECHOED = (OPCODE_MASK | FLAG.RD) >> 8;

/** Length of the output of `writeTruncated` before the OPT record. */
export const truncatedBytes = (start: number, nameEnd: number): number => nameEnd + QUESTION_TAIL_BYTES - start;

/**
 * Writes an empty, truncated response to the message at `start` of `input` whose query name ends at `nameEnd`: header,
 * question, and an OPT record without options unless `ednsClass` is 0. Returns its length. Does not allocate.
 */
export function writeTruncated(
  input: Uint8Array,
  start: number,
  nameEnd: number,
  ednsClass: EdnsClass,
  out: Uint8Array,
  outStart: number,
): number {
  const bytes = truncatedBytes(start, nameEnd);
  for (let i = 0; i < bytes; i++) out[outStart + i] = input[start + i] as number;
  out[outStart + 2] = ((FLAG.QR | FLAG.TC) >> 8) | ((input[start + 2] as number) & ECHOED);
  out[outStart + 3] = 0;
  // Answers and authorities are empty; OPT is the only additional record.
  for (let i = 6; i < HEADER_BYTES; i++) out[outStart + i] = 0;
  if (ednsClass === 0) return bytes;
  out[outStart + HEADER_BYTES - 1] = 1;
  const opt = outStart + bytes;
  for (let i = 0; i < OPT_BYTES; i++) out[opt + i] = 0;
  out[opt + 2] = TYPE.OPT;
  out[opt + 3] = PAYLOAD_BYTES_MAX >> 8;
  out[opt + 4] = PAYLOAD_BYTES_MAX & 0xff;
  out[opt + 7] = echoedEdnsFlags(ednsClass) >> 8;
  return bytes + OPT_BYTES;
}

import { CLASS, FLAG, HEADER_BYTES, MESSAGE_BYTES_MAX } from "#wire/dns/codes.ts";
import { MessageWriter, OPT_BYTES } from "#wire/dns/message.ts";
import type { Query } from "#wire/dns/query.ts";
import { echoedEdnsFlags, ednsClassOf } from "#nameserver/message/exchange.ts";
import type { Signature } from "#nameserver/tsig/tsig-check.ts";
import type { TransferRecord } from "./transfer-records.ts";

/** A response of many messages; each is made while the previous one is being sent. */
export interface MessageStream {
  /**
   * The next message without its length prefix. Null if it takes longer: let other work run before the next call.
   * Undefined after the last. Throws if the rest cannot be made; then close the connection.
   */
  next(): Buffer | null | undefined;
  /** Call when no more messages are needed, also after the last. */
  close(): void;
}

export interface AnswerStreamSpec {
  readonly packet: Buffer;
  readonly query: Query;
  /** In order; undefined if the next record takes longer. Closed with the stream. */
  readonly records: Iterator<TransferRecord | undefined, void>;
  /** Target size of a message: smaller if records take longer to make. */
  readonly messageBytes: number;
  /** Payload size in the OPT record of the answer, which only the first message has (RFC 5936 §2.2.5). */
  readonly payloadBytes: number;
  readonly signature: Signature;
}

/** Target size of a message: compression cannot refer to names beyond it, and other clients wait meanwhile. */
export const MESSAGE_BYTES = 0x4000;

/** Packs the records of a response into messages; the first contains the question (RFC 5936 §2.2). */
export function createAnswerStream(spec: AnswerStreamSpec): MessageStream {
  const { query, records, messageBytes, signature } = spec;
  const question = { name: Buffer.from(spec.packet.subarray(HEADER_BYTES, query.nameEnd)), type: query.type, class: query.class };
  const bytesMax = MESSAGE_BYTES_MAX - signature.bytes;
  const flags = FLAG.QR | FLAG.AA | (query.flags & FLAG.RD);
  let first = true;
  let ahead = records.next();

  const message = (): Buffer => {
    const withOpt = first && query.edns !== undefined;
    const writer = new MessageWriter(bytesMax, withOpt ? OPT_BYTES : 0);
    if (first) writer.question(question);
    let answers = 0;
    while (ahead.done !== true && ahead.value !== undefined && writer.length < messageBytes) {
      const { name, type, ttl, rdata } = ahead.value;
      if (!writer.record(name, type, CLASS.IN, ttl, rdata)) break;
      answers += 1;
      ahead = records.next();
    }
    if (answers === 0) throw new RangeError("a record does not fit into a message");
    if (withOpt) writer.opt(spec.payloadBytes, 0, echoedEdnsFlags(ednsClassOf(query)), NO_OPTIONS);
    const bytes = writer.finish(query.id, flags, [first ? 1 : 0, answers, 0, withOpt ? 1 : 0]);
    first = false;
    return signature.sign(bytes);
  };

  return {
    next: () => {
      if (ahead.done === true) return undefined;
      if (ahead.value !== undefined) return message();
      ahead = records.next();
      return null;
    },
    close: () => void records.return?.(),
  };
}

const NO_OPTIONS = Buffer.alloc(0);

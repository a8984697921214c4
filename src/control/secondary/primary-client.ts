import { randomInt } from "node:crypto";
import { backgroundTurn } from "#kernel/background-turn.ts";
import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import { CLASS, FLAG, OPCODE, opcodeOf, RCODE, TYPE } from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { decodeMessage, encodeMessage, type Message, type Question, type ResourceRecord } from "#wire/dns/message.ts";
import { type DnsName, keyOf } from "#wire/dns/name.ts";
import { soaSerial } from "#wire/dns/serial.ts";
import { createTransferReader, type Transfer, TransferError } from "#wire/dns/transfer-reader.ts";
import { type AnswerVerifier, createAnswerVerifier, signRequest, type TsigFault, type TsigKey } from "#wire/dns/tsig.ts";
import type { RecordBudget } from "./record-budget.ts";
import { createRecordPacker } from "./packed-record.ts";
import { type MessageStream, openMessageStream, type StreamLimits } from "./message-stream.ts";

/** A name server from which a zone is transferred. */
export interface Primary {
  readonly address: string;
  readonly port: number;
  /** Null if the peer is identified by its address; undefined if its key cannot be decrypted, so that it cannot be queried. */
  readonly key: TsigKey | null | undefined;
}

export interface PrimaryLimits extends StreamLimits {
  readonly recordsMax: number;
}

/** One connection to a primary. All methods throw TransferError with a message that can be displayed. */
export interface PrimaryConnection {
  /** The zone's SOA record at the server. Throws if the server is not authoritative for the zone. */
  soa(): Promise<ResourceRecord>;
  /** Transfers the zone: completely (AXFR), or the changes since the serial (IXFR) if the server supports that. */
  transfer(serial: number | null): Promise<Transfer>;
  /** Closes the connection and releases its records from the budget. */
  close(): void;
}

export interface PrimaryClientDeps {
  /** Whether a primary may have this address; called immediately before connecting. */
  readonly primaryAllowed: AddressPolicy;
  readonly limits: PrimaryLimits;
  readonly budget: RecordBudget;
  /** Account of the zone, whose share of the budget the transfer uses. */
  readonly accountId: string;
  nowSeconds(): number;
}

export async function connectPrimary(
  deps: PrimaryClientDeps,
  primary: Primary,
  zone: DnsName,
  signal: AbortSignal,
): Promise<PrimaryConnection> {
  const { limits, budget, accountId, nowSeconds, primaryAllowed } = deps;
  const { key } = primary;
  if (!primaryAllowed(primary.address, primary.port))
    throw new TransferError("this server sends no queries to its address (dns.primary_allow)");
  if (key === undefined) throw new TransferError("this server cannot decrypt its TSIG key: enter the secret again");
  const lease = budget.lease(accountId);
  const stream = await openMessageStream(primary, limits, lease.ahead, signal);

  const ask = (type: number, authorities: readonly ResourceRecord[]): AnswerReader => {
    const question: Question = { name: zone, type, class: CLASS.IN };
    const id = randomInt(0x1_0000);
    const bytes = encodeMessage({ id, flags: 0, questions: [question], answers: [], authorities, additionals: [] }) as Buffer;
    const signed = key && signRequest(bytes, key, nowSeconds());
    stream.send(signed?.bytes ?? bytes);
    const verifier = signed && key ? createAnswerVerifier(key, signed.mac, nowSeconds) : null;
    return createAnswerReader(stream, { id, question, verifier });
  };

  return {
    soa: async () => {
      const answer = ask(TYPE.SOA, []);
      const { flags, answers } = await answer.next();
      answer.end();
      const soa = answers.find(({ type, name }) => type === TYPE.SOA && keyOf(name) === keyOf(zone));
      if ((flags & FLAG.AA) === 0 || !soa) throw new TransferError("it is not authoritative for the zone");
      return soa;
    },
    transfer: async (serial) => {
      const answer = serial === null ? ask(TYPE.AXFR, []) : ask(TYPE.IXFR, [ownSoa(zone, serial)]);
      const reader = createTransferReader({ zone: keyOf(zone), serial, recordsMax: limits.recordsMax });
      const pack = createRecordPacker();
      while (!reader.transfer) {
        const { answers } = await answer.next();
        lease.take(answers);
        for (const record of answers) reader.take(pack(record));
        reader.endMessage();
      }
      answer.end();
      if (reader.transfer.kind === "current" && serial !== soaSerial(reader.transfer.soa.rdata))
        throw new TransferError("it has an older version of the zone");
      return reader.transfer;
    },
    close: () => {
      stream.close();
      lease.release();
    },
  };
}

/** Bytes of messages that are read without another turn; one message may have more. A message takes its time, however short it is. */
const BYTES_AT_ONCE = 8 * 1024;
const MESSAGE_BYTES = 32;

/** The SOA record in a request for differences, of which only the serial is used (RFC 1995 §3). */
function ownSoa(zone: DnsName, serial: number): ResourceRecord {
  const rdata = Buffer.alloc(22);
  rdata.writeUInt32BE(serial, 2);
  return { name: zone, type: TYPE.SOA, class: CLASS.IN, ttl: 0, rdata };
}

/** The messages of one response. */
interface AnswerReader {
  next(): Promise<Message>;
  /** Throws if the last message is not signed. */
  end(): void;
}

interface Expected {
  readonly id: number;
  readonly question: Question;
  readonly verifier: AnswerVerifier | null;
}

function createAnswerReader(stream: MessageStream, { id, question, verifier }: Expected): AnswerReader {
  let left = 0;
  return {
    next: async () => {
      const bytes = await stream.next();
      // Messages of all primaries that have arrived together would be read in one tick.
      const cost = bytes.length + MESSAGE_BYTES;
      if (left < cost) {
        await backgroundTurn();
        left = BYTES_AT_ONCE;
      }
      left -= cost;
      const { fault, message } = decoded(bytes, verifier);
      const rcode = message.flags & 0xf;
      if (rcode !== RCODE.NOERROR) throw new TransferError(`it answered ${rcodeName(rcode)}${fault ? ` (${FAULTS[fault]})` : ""}`);
      if (fault) throw new TransferError(FAULTS[fault]);
      if (message.id !== id || (message.flags & FLAG.QR) === 0 || opcodeOf(message.flags) !== OPCODE.QUERY || !asked(message, question))
        throw new TransferError("its response does not match the query");
      if ((message.flags & FLAG.TC) !== 0) throw new TransferError("its response is truncated");
      return message;
    },
    end: () => {
      if (verifier && !verifier.settled) throw new TransferError(FAULTS.unsigned);
    },
  };
}

/** Later messages of a transfer may omit the question (RFC 5936 §2.2.1). */
const asked = ({ questions }: Message, question: Question): boolean =>
  questions.every(({ name, type, class: of }) => keyOf(name) === keyOf(question.name) && type === question.type && of === question.class);

function decoded(bytes: Buffer, verifier: AnswerVerifier | null): { readonly fault: TsigFault | null; readonly message: Message } {
  try {
    return { fault: verifier?.accept(bytes) ?? null, message: decodeMessage(bytes) };
  } catch (error) {
    if (error instanceof WireError) throw new TransferError(`its response is ${error.message}`);
    throw error;
  }
}

const rcodeName = (rcode: number): string => Object.entries(RCODE).find(([, code]) => code === rcode)?.[0] ?? `RCODE ${rcode}`;

const FAULTS: Readonly<Record<TsigFault, string>> = {
  unsigned: "its response is not signed with the TSIG key",
  bad_key: "its response is signed with another TSIG key",
  bad_signature: "the TSIG signature of its response is wrong: the secrets differ, or the response was modified in transit",
  bad_time: "the time of the TSIG signature of its response is out of range: compare the clocks",
  truncated_signature: "the TSIG signature of its response is truncated",
  peer_bad_key: "it does not know the TSIG key (BADKEY): compare name and algorithm",
  peer_bad_signature: "it rejected the TSIG signature as wrong (BADSIG): compare the secrets",
  peer_bad_time: "it rejected the time of the TSIG signature (BADTIME): compare the clocks",
  peer_error: "it refused the TSIG signature",
};

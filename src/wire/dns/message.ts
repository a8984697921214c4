import { CLASS, HEADER_BYTES, MESSAGE_BYTES_MAX, TYPE } from "./codes.ts";
import { WireError } from "./errors.ts";
import { type DnsName, type NameKey, keyOf } from "./name.ts";
import { readRdata, recordTypeByCode } from "./record-types.ts";
import { WireReader } from "./wire-reader.ts";

export interface Question {
  readonly name: DnsName;
  readonly type: number;
  readonly class: number;
}

export interface ResourceRecord extends Question {
  /** Seconds. In OPT records these four bytes have another meaning (RFC 6891 §6.1.3). */
  readonly ttl: number;
  /** Uncompressed. */
  readonly rdata: Uint8Array;
}

export interface Message {
  readonly id: number;
  /** The header's second word: FLAG bits, opcode and RCODE. */
  readonly flags: number;
  readonly questions: readonly Question[];
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
}

/** Reads a whole message. Throws WireError, also on bytes after the last record. */
export function decodeMessage(bytes: Uint8Array): Message {
  const reader = new WireReader(bytes, { pointers: true });
  const id = reader.u16();
  const flags = reader.u16();
  const [questions, answers, authorities, additionals] = [reader.u16(), reader.u16(), reader.u16(), reader.u16()];
  const message = {
    id,
    flags,
    questions: readMany(questions, () => ({ name: reader.name(), type: reader.u16(), class: reader.u16() })),
    answers: readMany(answers, () => readRecord(reader)),
    authorities: readMany(authorities, () => readRecord(reader)),
    additionals: readMany(additionals, () => readRecord(reader)),
  };
  if (!reader.done) throw new WireError("trailing_bytes");
  return message;
}

/** Counts may be false; reading throws when the bytes end. */
function readMany<T>(count: number, read: () => T): T[] {
  const items: T[] = [];
  for (let i = 0; i < count; i++) items.push(read());
  return items;
}

function readRecord(reader: WireReader): ResourceRecord {
  const head = { name: reader.name(), type: reader.u16(), class: reader.u16(), ttl: reader.u32() };
  const length = reader.u16();
  const offset = reader.offset;
  reader.take(length);
  const rdata = readRdata(head.type, new WireReader(reader.bytes, { offset, end: offset + length, pointers: true }));
  return { ...head, rdata };
}

/** Encodes a whole message with compression; undefined if it is longer than 65535 bytes. */
export function encodeMessage(message: Message): Buffer | undefined {
  const writer = new MessageWriter(MESSAGE_BYTES_MAX, 0);
  for (const question of message.questions) writer.question(question);
  const sections = [message.answers, message.authorities, message.additionals] as const;
  for (const section of sections)
    for (const record of section) if (!writer.record(record.name, record.type, record.class, record.ttl, record.rdata)) return undefined;
  return writer.finish(message.id, message.flags, [message.questions.length, ...sections.map((section) => section.length)]);
}

// A record may exceed the limit before it is removed again, so there is room for two messages.
const scratch = Buffer.allocUnsafe(2 * MESSAGE_BYTES_MAX + 512);
const POINTER_TARGET_MAX = 0x3fff;
/** Length of an OPT record without options (RFC 6891 §6.1.2). */
export const OPT_BYTES = 11;

/**
 * Writes a message sequentially into memory that all writers share: finish one before starting the next. Records that
 * would exceed `bytesMax` are removed and reported by `false`.
 */
export class MessageWriter {
  #bytesMax: number;
  readonly #offsets = new Map<NameKey, number>();
  #offset = HEADER_BYTES;

  /** `reservedBytes` of the limit are kept free for `opt`. */
  constructor(bytesMax: number, reservedBytes: number) {
    this.#bytesMax = Math.min(bytesMax, MESSAGE_BYTES_MAX) - reservedBytes;
  }

  get length(): number {
    return this.#offset;
  }

  question(question: Question): void {
    this.#name(question.name);
    this.#u16(question.type);
    this.#u16(question.class);
  }

  /** Writes a record; returns false without writing if it does not fit. */
  record(name: Uint8Array, type: number, recordClass: number, ttl: number, rdata: Uint8Array): boolean {
    const start = this.#offset;
    this.#name(name);
    this.#u16(type);
    this.#u16(recordClass);
    this.#offset = scratch.writeUInt32BE(ttl, this.#offset);
    const lengthAt = this.#offset;
    this.#offset += 2;
    if (recordTypeByCode(type)?.compressible === true) this.#compressed(type, rdata);
    else this.#raw(rdata);
    scratch.writeUInt16BE(this.#offset - lengthAt - 2, lengthAt);
    if (this.#offset <= this.#bytesMax) return true;
    this.rewind(start);
    return false;
  }

  /** Writes a whole RRset; returns false without writing if it does not fit, because a part would mislead (RFC 2181 §9). */
  set(name: Uint8Array, type: number, ttl: number, rdatas: readonly Uint8Array[]): boolean {
    const start = this.#offset;
    for (const rdata of rdatas) {
      if (this.record(name, type, CLASS.IN, ttl, rdata)) continue;
      this.rewind(start);
      return false;
    }
    return true;
  }

  /**
   * Writes the server's OPT record (RFC 6891 §6.1) into the space reserved for it and its options. `extendedRcode`: the
   * upper eight bits; `flags`: bits of EDNS_FLAG.
   */
  opt(payloadBytes: number, extendedRcode: number, flags: number, options: Uint8Array): void {
    this.#bytesMax += OPT_BYTES + options.length;
    this.record(Buffer.of(0), TYPE.OPT, payloadBytes, extendedRcode * 0x1000000 + flags, options);
  }

  /** Removes everything from `offset` on. */
  rewind(offset: number): void {
    this.#offset = offset;
    for (const [key, at] of this.#offsets) if (at >= offset) this.#offsets.delete(key);
  }

  /** A copy of the message. */
  finish(id: number, flags: number, counts: readonly number[]): Buffer {
    scratch.writeUInt16BE(id, 0);
    scratch.writeUInt16BE(flags, 2);
    counts.forEach((count, i) => scratch.writeUInt16BE(count, 4 + i * 2));
    return Buffer.from(scratch.subarray(0, this.#offset));
  }

  #u16(value: number): void {
    this.#offset = scratch.writeUInt16BE(value, this.#offset);
  }

  #raw(bytes: Uint8Array): void {
    scratch.set(bytes, this.#offset);
    this.#offset += bytes.length;
  }

  #name(name: Uint8Array): void {
    const key = keyOf(name);
    for (let at = 0; name[at] !== 0; at += (name[at] as number) + 1) {
      const suffix = key.slice(at);
      const known = this.#offsets.get(suffix);
      if (known !== undefined) {
        this.#raw(name.subarray(0, at));
        this.#u16(0xc000 | known);
        return;
      }
      if (this.#offset + at <= POINTER_TARGET_MAX) this.#offsets.set(suffix, this.#offset + at);
    }
    this.#raw(name);
  }

  #compressed(type: number, rdata: Uint8Array): void {
    const reader = new WireReader(rdata, { pointers: false });
    for (const { codec } of recordTypeByCode(type)?.fields ?? []) {
      if (codec.isName) {
        this.#name(reader.name());
        continue;
      }
      const from = reader.offset;
      codec.read(reader);
      this.#raw(rdata.subarray(from, reader.offset));
    }
  }
}

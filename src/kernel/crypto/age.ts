import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { Transform } from "node:stream";
import { readHeader, writeHeader } from "./age-header.ts";
import { type AgeKey, type AgeLock, unwrapFileKey, wrapFileKey } from "./age-keys.ts";

// The file format of age (https://age-encryption.org/v1), whose own program opens these files as well.

const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const NONCE_BYTES = 16;

/** A stream that encrypts. Throws if a recipient is invalid. */
export function encryptAge(lock: AgeLock): Transform {
  const fileKey = randomBytes(16);
  const nonce = randomBytes(NONCE_BYTES);
  const head = Buffer.concat([writeHeader(fileKey, wrapFileKey(fileKey, lock)), nonce]);
  const key = payloadKey(fileKey, nonce);
  const chunks = createChunks(CHUNK_BYTES, (chunk, index, isLast) => {
    const cipher = createCipheriv("chacha20-poly1305", key, chunkNonce(index, isLast), { authTagLength: TAG_BYTES });
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  });
  let isBegun = false;
  const begin = (stream: Transform): void => {
    if (!isBegun) stream.push(head);
    isBegun = true;
  };
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      begin(this);
      for (const chunk of chunks.add(bytes)) this.push(chunk);
      done();
    },
    flush(done) {
      begin(this);
      this.push(chunks.end());
      done();
    },
  });
}

/**
 * A stream that decrypts: it returns only bytes that the key's holder encrypted, in their order. Fails with an Error for the
 * operator if the key does not fit, or if bytes are missing or changed; the bytes returned before are then incomplete.
 */
export function decryptAge(key: AgeKey): Transform {
  let held: Buffer[] = [];
  let chunks: Chunks | null = null;
  const begin = (): Buffer | null => {
    const bytes = Buffer.concat(held);
    held = [bytes];
    const header = readHeader(bytes);
    if (header === "incomplete" || bytes.length < header.length + NONCE_BYTES) return null;
    const fileKey = unwrapFileKey(header.stanzas, key);
    if (fileKey === undefined) throw new Error(`the ${"passphrase" in key ? "passphrase" : "identity"} does not decrypt the file`);
    if (!header.isWrittenWith(fileKey)) throw new Error(DAMAGED);
    const start = header.length + NONCE_BYTES;
    const payload = payloadKey(fileKey, bytes.subarray(header.length, start));
    chunks = createChunks(CHUNK_BYTES + TAG_BYTES, (chunk, index, isLast) => openChunk(payload, chunk, index, isLast));
    held = [];
    return bytes.subarray(start);
  };
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      try {
        if (chunks === null) held.push(bytes);
        const rest = chunks === null ? begin() : bytes;
        if (chunks !== null && rest !== null) for (const chunk of chunks.add(rest)) this.push(chunk);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      try {
        if (chunks === null) throw new Error(held.length === 0 ? "the file is empty" : DAMAGED);
        this.push(chunks.end());
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

const DAMAGED = "the encrypted file is damaged or incomplete";

const payloadKey = (fileKey: Buffer, nonce: Buffer): Buffer => Buffer.from(hkdfSync("sha256", fileKey, nonce, "payload", 32));

/** A counter, and a mark on the last chunk, so that a file that was truncated after a chunk is not accepted as complete. */
function chunkNonce(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(index, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function openChunk(key: Buffer, chunk: Buffer, index: number, isLast: boolean): Buffer {
  const end = chunk.length - TAG_BYTES;
  // Only an empty file has an empty chunk.
  if (end < 0 || (end === 0 && index > 0)) throw new Error(DAMAGED);
  const decipher = createDecipheriv("chacha20-poly1305", key, chunkNonce(index, isLast), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(chunk.subarray(end));
  const opened = decipher.update(chunk.subarray(0, end));
  try {
    decipher.final();
  } catch (error) {
    throw new Error(DAMAGED, { cause: error });
  }
  return opened;
}

interface Chunks {
  /** The full chunks in these bytes, without the last one. */
  add(bytes: Buffer): readonly Buffer[];
  end(): Buffer;
}

/** Splits bytes into chunks of one size. Holds a full chunk until more bytes arrive, since the last chunk is marked. */
function createChunks(size: number, work: (chunk: Buffer, index: number, isLast: boolean) => Buffer): Chunks {
  const pieces: Buffer[] = [];
  let length = 0;
  let index = 0;
  const take = (): Buffer => Buffer.concat(pieces.splice(0), length);
  return {
    add: (bytes) => {
      const done: Buffer[] = [];
      pieces.push(bytes);
      length += bytes.length;
      if (length <= size) return done;
      const all = take();
      let at = 0;
      for (; all.length - at > size; at += size) done.push(work(all.subarray(at, at + size), index++, false));
      pieces.push(all.subarray(at));
      length = all.length - at;
      return done;
    },
    end: () => work(take(), index++, true),
  };
}

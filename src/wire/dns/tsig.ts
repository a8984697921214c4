import { createHmac, type Hmac, timingSafeEqual } from "node:crypto";
import { CLASS } from "./codes.ts";
import { WireError } from "./errors.ts";
import { type DnsName, keyOf, nameOfKey, parseAbsoluteName } from "./name.ts";
import { appendTsig, readTsig, timers, TSIG_ERROR, type TsigFields, type TsigRecord, uint16, withoutTsig } from "./tsig-record.ts";

/** A secret that two servers share (RFC 8945). */
export interface TsigKey {
  /** Lower case. */
  readonly name: DnsName;
  /** The algorithm's name in lower case, without the final dot. */
  readonly algorithm: string;
  readonly secret: Uint8Array;
}

/** RFC 8945 §6 without MD5: hash, and length of the MAC in bytes. */
const ALGORITHMS: ReadonlyMap<string, { readonly hash: string; readonly macBytes: number }> = new Map([
  ["hmac-sha1", { hash: "sha1", macBytes: 20 }],
  ["hmac-sha224", { hash: "sha224", macBytes: 28 }],
  ["hmac-sha256", { hash: "sha256", macBytes: 32 }],
  ["hmac-sha384", { hash: "sha384", macBytes: 48 }],
  ["hmac-sha512", { hash: "sha512", macBytes: 64 }],
]);

/** Allowed difference between the two clocks (RFC 8945 §10). */
const FUDGE_SECONDS = 300;

/** Throws RangeError on an unknown algorithm, RdataError on an invalid name. */
export function createTsigKey(name: string, algorithm: string, secret: Uint8Array): TsigKey {
  if (!ALGORITHMS.has(algorithm)) throw new RangeError(`no TSIG algorithm: ${algorithm}`);
  return { name: nameOfKey(keyOf(parseAbsoluteName(name))), algorithm, secret };
}

/** Bytes that a signature with the key adds to a message. */
export const tsigBytes = ({ name, algorithm }: TsigKey): number => name.length + 26 + (algorithm.length + 2) + macBytesOf(algorithm);

/** Signs a request. `mac` is needed to verify the response. */
export function signRequest(request: Buffer, key: TsigKey, nowSeconds: number): { readonly bytes: Buffer; readonly mac: Buffer } {
  const fields = { timeSigned: nowSeconds, error: TSIG_ERROR.NONE, other: NOTHING };
  return sign(request, key, startHmac(key), fields, true);
}

/**
 * The result of verifying a request (RFC 8945 §5.2). `key`: the key that signed it, even if the time or length is wrong,
 * because that error is signed with the key.
 */
export interface TsigVerdict {
  /** One of TSIG_ERROR. */
  readonly error: number;
  readonly key: TsigKey | undefined;
}

/**
 * `keys` may contain several with one name, because accounts choose names independently; the one that matches is used.
 * Throws WireError if the MAC has an invalid length.
 */
export function verifyRequest(request: Buffer, record: TsigRecord, keys: Iterable<TsigKey>, nowSeconds: number): TsigVerdict {
  const named = Array.from(keys).filter((key) => keyOf(key.name) === record.keyName && key.algorithm === record.algorithm);
  if (named.length === 0) return { error: TSIG_ERROR.BADKEY, key: undefined };
  if (!hasLegalLength(record)) throw new WireError("bad_tsig");
  const unsigned = withoutTsig(request, record);
  const key = named.find((candidate) => {
    const hmac = startHmac(candidate).update(unsigned).update(variables(candidate, record));
    return macFits(hmac.digest(), record.mac);
  });
  if (!key) return { error: TSIG_ERROR.BADSIG, key: undefined };
  if (!isTimely(record, nowSeconds)) return { error: TSIG_ERROR.BADTIME, key };
  return { error: isWhole(record) ? TSIG_ERROR.NONE : TSIG_ERROR.BADTRUNC, key };
}

/** Signs the messages of one response in order: the first covers the request, the others the previous ones. */
export type AnswerSigner = (message: Buffer) => Buffer;

/** `nowSeconds` is called for each message, because a transfer may take long (RFC 8945 §5.3.1). */
export function createAnswerSigner(key: TsigKey, requestMac: Uint8Array, nowSeconds: () => number): AnswerSigner {
  let previous = requestMac;
  let first = true;
  return (message) => {
    const fields = { timeSigned: nowSeconds(), error: TSIG_ERROR.NONE, other: NOTHING };
    const { bytes, mac } = sign(message, key, startHmac(key, previous), fields, first);
    previous = mac;
    first = false;
    return bytes;
  };
}

/**
 * The response to a request whose signature was refused (RFC 8945 §5.2): `response` has RCODE NOTAUTH and no requested
 * data. Signed if the client has proved that it has the key.
 */
export function refuseSignature(response: Buffer, request: TsigRecord, { error, key }: TsigVerdict, nowSeconds: number): Buffer {
  const { timeSigned } = request;
  // Repeats the client's time, so that the client can verify the response, and adds the server's time (RFC 8945 §5.2.3).
  const other = error === TSIG_ERROR.BADTIME ? timers({ timeSigned: nowSeconds, fudgeSeconds: 0 }).subarray(0, 6) : NOTHING;
  if (key) return sign(response, key, startHmac(key, request.mac), { timeSigned, error, other }, true).bytes;
  return appendTsig(response, {
    keyName: nameOfKey(request.keyName),
    algorithmName: parseAbsoluteName(request.algorithm),
    timeSigned,
    fudgeSeconds: FUDGE_SECONDS,
    mac: NOTHING,
    originalId: response.readUInt16BE(0),
    error,
    other,
  });
}

/** Why a response is not trusted; `peer_…` means that the server reported an error in the request. */
export type TsigFault =
  | "unsigned"
  | "bad_key"
  | "bad_signature"
  | "bad_time"
  | "truncated_signature"
  | "peer_bad_key"
  | "peer_bad_signature"
  | "peer_bad_time"
  | "peer_error";

/** Not usable after the first fault. */
export interface AnswerVerifier {
  /**
   * Takes the messages of one response in order. Null: no fault so far, but messages since the last signed one are only
   * trustworthy when `settled` is true. Throws WireError like `readTsig`.
   */
  accept(message: Buffer): TsigFault | null;
  /** The last accepted message was signed, so all messages are verified. */
  readonly settled: boolean;
}

/** Unsigned messages allowed between two signed ones in a transfer (RFC 8945 §5.3.1). */
const UNSIGNED_MAX = 99;

/** Verifies the response, of one or several messages, to the request that `signRequest` signed with this MAC. */
export function createAnswerVerifier(key: TsigKey, requestMac: Uint8Array, nowSeconds: () => number): AnswerVerifier {
  let hmac = startHmac(key, requestMac);
  let first = true;
  let unsigned = 0;

  const acceptSigned = (message: Buffer, record: TsigRecord): TsigFault | null => {
    const peer = PEER_FAULTS.get(record.error);
    // An error without a MAC is unverified, but it is the only information available.
    if (peer !== undefined && record.mac.length === 0) return peer;
    if (keyOf(key.name) !== record.keyName || key.algorithm !== record.algorithm) return "bad_key";
    if (!hasLegalLength(record)) throw new WireError("bad_tsig");
    hmac.update(withoutTsig(message, record)).update(first ? variables(key, record) : timers(record));
    if (!macFits(hmac.digest(), record.mac)) return "bad_signature";
    if (!isWhole(record)) return "truncated_signature";
    if (!isTimely(record, nowSeconds())) return "bad_time";
    if (record.error !== TSIG_ERROR.NONE) return peer ?? "peer_error";
    hmac = startHmac(key, record.mac);
    first = false;
    unsigned = 0;
    return null;
  };

  return {
    accept: (message) => {
      const record = readTsig(message);
      if (record) return acceptSigned(message, record);
      unsigned += 1;
      if (first || unsigned > UNSIGNED_MAX) return "unsigned";
      hmac.update(message);
      return null;
    },
    get settled() {
      return !first && unsigned === 0;
    },
  };
}

const NOTHING = Buffer.alloc(0);

const PEER_FAULTS: ReadonlyMap<number, TsigFault> = new Map([
  [TSIG_ERROR.BADKEY, "peer_bad_key"],
  [TSIG_ERROR.BADSIG, "peer_bad_signature"],
  [TSIG_ERROR.BADTIME, "peer_bad_time"],
]);

function sign(
  message: Buffer,
  key: TsigKey,
  hmac: Hmac,
  given: Pick<TsigFields, "timeSigned" | "error" | "other">,
  whole: boolean,
): { bytes: Buffer; mac: Buffer } {
  const fields = { ...given, fudgeSeconds: FUDGE_SECONDS };
  const mac = hmac
    .update(message)
    .update(whole ? variables(key, fields) : timers(fields))
    .digest();
  const algorithmName = parseAbsoluteName(key.algorithm);
  return { bytes: appendTsig(message, { ...fields, keyName: key.name, algorithmName, mac, originalId: message.readUInt16BE(0) }), mac };
}

/** An HMAC that starts with the previous MAC, preceded by its length (RFC 8945 §4.3.1). */
function startHmac({ algorithm, secret }: TsigKey, previousMac?: Uint8Array): Hmac {
  const hmac = createHmac(ALGORITHMS.get(algorithm)?.hash ?? "", secret);
  return previousMac === undefined ? hmac : hmac.update(uint16(previousMac.length)).update(previousMac);
}

/** RFC 8945 §4.3.3. */
const variables = ({ name, algorithm }: TsigKey, fields: Pick<TsigFields, "timeSigned" | "fudgeSeconds" | "error" | "other">): Uint8Array =>
  Buffer.concat([
    name,
    uint16(CLASS.ANY),
    NO_TTL,
    parseAbsoluteName(algorithm),
    timers(fields),
    uint16(fields.error),
    uint16(fields.other.length),
    fields.other,
  ]);

const NO_TTL = Buffer.alloc(4);

const MAC_BYTES_MIN = 10;

const macBytesOf = (algorithm: string): number => ALGORITHMS.get(algorithm)?.macBytes ?? 0;

/** RFC 8945 §5.2.2.1. */
const hasLegalLength = ({ algorithm, mac }: TsigRecord): boolean =>
  mac.length <= macBytesOf(algorithm) && mac.length >= Math.max(MAC_BYTES_MIN, macBytesOf(algorithm) / 2);

/** Compares a truncated MAC up to its length. */
const macFits = (expected: Buffer, given: Buffer): boolean => timingSafeEqual(expected.subarray(0, given.length), given);

/** Truncated signatures are refused, because no one has configured them (RFC 8945 §5.2.4). */
const isWhole = ({ algorithm, mac }: TsigRecord): boolean => mac.length === macBytesOf(algorithm);

const isTimely = ({ timeSigned, fudgeSeconds }: TsigRecord, nowSeconds: number): boolean =>
  Math.abs(nowSeconds - timeSigned) <= fudgeSeconds;

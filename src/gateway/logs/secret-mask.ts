import type { IncomingHttpHeaders } from "node:http";
import type { Work } from "#kernel/process/slices.ts";
import { isSecretName } from "#gateway/http/secret-header.ts";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { BodyScanner, scanBuffer } from "#rules/detectors/engine/scan.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { findNamed, type OnHit, PART_BYTES } from "./named-secrets.ts";
import { createSensitiveNames } from "./sensitive-names.ts";
import { readingTexts, spansInStream } from "#gateway/streams/stream-texts.ts";

/** Masks secrets in logged data. */
export interface SecretMask {
  /**
   * Returns the chunks with every secret replaced by asterisks, byte for byte; a chunk without secrets is returned
   * unchanged. Secrets are the given ones, findings of the detectors, and values of fields with secret names; in a
   * response that is a stream of events or in another framing, also secrets that are split over several chunks. In steps:
   * ten megabytes of the worst text take more than a second.
   */
  mask(parts: readonly Buffer[], secrets: readonly string[], answer?: AnswerForm): Work<readonly Buffer[]>;
}

export interface AnswerForm {
  /** Start of the answer in the parts. */
  readonly from: number;
  readonly isOtherStream: boolean;
}

const WHOLE: AnswerForm = { from: 0, isOtherStream: false };
const ASTERISK = 0x2a;
/** Marks bodies that are streams of events. */
const EVENT = Buffer.from("\ndata:");
/** Shorter values could be ordinary words. */
const SECRET_CHARACTERS_MIN = 6;
const SECRETS_MAX = 64;
/** Measured cost of a byte: of the worst text for the detectors, and for a given secret. */
const SCAN_UNITS = 1 / 40;
const SECRET_UNITS = 1 / 400;
const SPANS_AT_ONCE = 8192;

export function createSecretMask(): SecretMask {
  const detectors = compileDetectors(DETECTORS.filter((detector) => detector.category === "secrets"));
  const buffer = scanBuffer();
  const hasWord = createSensitiveNames();
  function* find(bytes: Buffer, secrets: readonly string[], onHit: OnHit): Work<void> {
    // Another scan may use the shared buffer before the next step.
    const scanner = new BodyScanner(detectors, {
      buffer: bytes.length > PART_BYTES ? scanBuffer() : buffer,
      candidatesMax: Infinity,
      onHit,
    });
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      scanner.push(bytes.subarray(at, at + PART_BYTES));
      if (bytes.length > PART_BYTES) yield PART_BYTES * SCAN_UNITS;
    }
    scanner.end();
    for (const secret of secrets) yield* findSecret(bytes, secret, onHit);
    if (hasWord(bytes)) yield* findNamed(bytes, onHit);
  }
  function* holdsAny(bytes: Buffer, secrets: readonly string[]): Work<boolean> {
    let isHit = false;
    yield* find(bytes, secrets, () => (isHit = true));
    return isHit;
  }
  return {
    *mask(parts, secrets, { from, isOtherStream } = WHOLE) {
      const whole = parts.length === 1 ? (parts[0] as Buffer) : inOne(parts);
      const isEvents = whole.includes(EVENT);
      const texts = isEvents || isOtherStream ? yield* readingTexts(whole, { from, isEvents: !isOtherStream }) : undefined;
      // Events repeat most of their bytes, so their texts are searched first, and all bytes only if one has a secret.
      if (texts !== undefined && !(yield* holdsAny(texts.said, secrets))) return parts;
      const spans: number[] = [];
      const onHit = (from: number, to: number): void => void spans.push(from, to);
      yield* find(whole, secrets, onHit);
      // A secret may be split over several chunks.
      for (const joined of texts?.joined() ?? []) yield* find(joined.bytes, secrets, (from, to) => spansInStream(joined, from, to, onHit));
      return spans.length === 0 ? parts : cutLike(yield* masked(whole, spans), parts);
    },
  };
}

/** Most bodies fit into this buffer, which is reused. */
const room = Buffer.allocUnsafeSlow(64 * 1024);

/** Valid until the next call. */
function inOne(parts: readonly Buffer[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length > room.length) return Buffer.concat(parts, length);
  let at = 0;
  for (const part of parts) at += part.copy(room, at);
  return room.subarray(0, length);
}

function* masked(whole: Buffer, spans: readonly number[]): Work<Buffer> {
  // The given bytes may still be sent to a client.
  const copy = Buffer.from(whole);
  for (let i = 0; i < spans.length; i += 2) {
    copy.fill(ASTERISK, spans[i], spans[i + 1]);
    if (i % SPANS_AT_ONCE === 0) yield SPANS_AT_ONCE / 10;
  }
  return copy;
}

function cutLike(whole: Buffer, parts: readonly Buffer[]): readonly Buffer[] {
  let at = 0;
  return parts.map((part) => whole.subarray(at, (at += part.length)));
}

/** Finds given secrets anywhere in an answer, also as JSON and queries write them. */
function* findSecret(whole: Buffer, secret: string, onHit: OnHit): Work<void> {
  const bytes = Buffer.from(secret);
  for (let next = 0; next < whole.length;) {
    const end = next + PART_BYTES;
    const part = whole.subarray(next, end + bytes.length - 1);
    let to = 0;
    for (let at = part.indexOf(bytes); at >= 0; at = part.indexOf(bytes, to)) {
      to = at + bytes.length;
      onHit(next + at, next + to);
    }
    next = Math.max(end, next + to);
    if (next < whole.length) yield PART_BYTES * SECRET_UNITS;
  }
}

/** Credentials in the request's fields, in the fields sent to the provider (names and values alternate) and in the query. */
export function credentialsOf(headers: IncomingHttpHeaders, sent: readonly string[], target: string): readonly string[] {
  const found: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === "string" && isSecretName(name)) addCredentials(found, value);
  }
  for (let i = 0; i + 1 < sent.length; i += 2)
    if (isSecretName((sent[i] as string).toLowerCase())) addCredentials(found, sent[i + 1] as string);
  const query = target.indexOf("?");
  if (query >= 0)
    for (const [name, value] of new URLSearchParams(target.slice(query)))
      if (isSecretName(name.toLowerCase())) addCredentials(found, value);
  return found;
}

function addCredentials(found: string[], value: string): void {
  for (const secret of secretsIn(value)) if (found.length < SECRETS_MAX && !found.includes(secret)) found.push(secret);
}

/** Secrets by header value, because busy clients send the same values with each request. */
const known = new Map<string, readonly string[]>();
const KNOWN_MAX = 1000;
const KNOWN_CHARACTERS_MAX = 512;

/** A credential without its scheme; for cookies, the value of each. */
function secretsIn(value: string): readonly string[] {
  let secrets = known.get(value);
  if (secrets !== undefined) return secrets;
  secrets = value
    .split(/[\s;,]+/)
    .map((part) => part.slice(/^[\w.-]{1,40}=(?=.)/.exec(part)?.[0].length ?? 0))
    .filter((secret) => secret.length >= SECRET_CHARACTERS_MIN && !/^(bearer|basic|digest)$/i.test(secret));
  if (known.size >= KNOWN_MAX) known.clear();
  if (value.length <= KNOWN_CHARACTERS_MAX) known.set(value, secrets);
  return secrets;
}

import type { IncomingHttpHeaders } from "node:http";
import { isSecretName } from "#gateway/http/secret-header.ts";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { BodyScanner, scanBuffer } from "#rules/detectors/engine/scan.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { createSensitiveNames } from "./sensitive-names.ts";
import { spansInStream, textsOfStream } from "#gateway/streams/stream-texts.ts";

/** Masks secrets in logged data. */
export interface SecretMask {
  /**
   * Returns the chunks with every secret replaced by asterisks, byte for byte; a chunk without secrets is returned
   * unchanged. Secrets are the given ones, findings of the detectors, and values of fields with secret names; in a
   * response that is a stream of events or in another framing, also secrets that are split over several chunks.
   */
  mask(parts: readonly Buffer[], secrets: readonly string[], answer?: AnswerForm): readonly Buffer[];
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

export function createSecretMask(): SecretMask {
  const detectors = compileDetectors(DETECTORS.filter((detector) => detector.category === "secrets"));
  const buffer = scanBuffer();
  const hasWord = createSensitiveNames();
  const find = (bytes: Buffer, secrets: readonly string[], onHit: OnHit): void => {
    const scanner = new BodyScanner(detectors, { buffer, candidatesMax: Infinity, onHit });
    scanner.push(bytes);
    scanner.end();
    for (const secret of secrets) findSecret(bytes, secret, onHit);
    if (hasWord(bytes)) findNamed(bytes, onHit);
  };
  const holdsAny = (bytes: Buffer, secrets: readonly string[]): boolean => {
    let isHit = false;
    find(bytes, secrets, () => (isHit = true));
    return isHit;
  };
  return {
    mask: (parts, secrets, { from, isOtherStream } = WHOLE) => {
      const whole = parts.length === 1 ? (parts[0] as Buffer) : inOne(parts);
      const isEvents = whole.includes(EVENT);
      const texts = isEvents || isOtherStream ? textsOfStream(whole, { from, isEvents: !isOtherStream }) : undefined;
      // Events repeat most of their bytes, so their texts are searched first, and all bytes only if one has a secret.
      if (texts !== undefined && !holdsAny(texts.said, secrets)) return parts;
      const spans: number[] = [];
      const onHit = (from: number, to: number): void => void spans.push(from, to);
      find(whole, secrets, onHit);
      // A secret may be split over several chunks.
      for (const joined of texts?.joined() ?? []) find(joined.bytes, secrets, (from, to) => spansInStream(joined, from, to, onHit));
      return spans.length === 0 ? parts : cutLike(masked(whole, spans), parts);
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

function masked(whole: Buffer, spans: readonly number[]): Buffer {
  // The given bytes may still be sent to a client.
  const copy = Buffer.from(whole);
  for (let i = 0; i < spans.length; i += 2) copy.fill(ASTERISK, spans[i], spans[i + 1]);
  return copy;
}

function cutLike(whole: Buffer, parts: readonly Buffer[]): readonly Buffer[] {
  let at = 0;
  return parts.map((part) => whole.subarray(at, (at += part.length)));
}

type OnHit = (from: number, to: number) => void;

/** Finds given secrets anywhere in an answer, also as JSON and queries write them. */
function findSecret(whole: Buffer, secret: string, onHit: OnHit): void {
  for (let at = whole.indexOf(secret); at >= 0; at = whole.indexOf(secret, at + secret.length)) onHit(at, at + Buffer.byteLength(secret));
}

const NAMES =
  "(?:api[_-]?key|apikey|access[_-]?key|secret|passw(?:or)?d|passphrase|access[_-]?token|auth[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?token|authorization|private[_-]?key|credentials?|client[_-]?secret|x-api-key)";
const NAMED: readonly RegExp[] = [
  // A member of JSON, also inside a JSON string, whose quotes have backslashes before them; it takes all of them, so that
  // no run is tried twice.
  // linear: pumped
  new RegExp(String.raw`((?<!\\)\\*"[\w-]{0,40}${NAMES}[\w-]{0,40}\\*"\s*:\s*\\*")((?:[^"\\]|\\+[^"\\])+)`, "gi"),
  // A query, a form, or an assignment as in configuration files and code.
  new RegExp(String.raw`(${NAMES}[\w.-]{0,40}\\*["']?\]?[ \t]{0,4}(?:=>|:=|[:=])[ \t]{0,4}\\*["']?)([^\s"'\\&,;]{6,})`, "gi"),
  // linear: pumped
  new RegExp(String.raw`((?:authorization|x-api-key|api-key)\s*:\s*(?:bearer\s+|basic\s+)?)([^\s"'\\,;]{6,})`, "gi"),
  /(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)([^-]{16,})/g,
  /(\bbearer\s+)([A-Za-z0-9._~+/=-]{12,})/gi,
];

function findNamed(whole: Buffer, onHit: OnHit): void {
  const text = whole.toString("latin1");
  for (const pattern of NAMED)
    for (const { index, 1: before = "", 2: value = "" } of text.matchAll(pattern)) {
      const from = index + before.length;
      onHit(from, from + value.length);
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

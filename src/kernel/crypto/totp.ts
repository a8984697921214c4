import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { fromBase32, toBase32 } from "./base32.ts";

/** RFC 6238 with the values that authenticator programs assume: SHA-1, six digits, 30 seconds. */
const STEP_MS = 30_000;
const DIGITS = 6;
/** RFC 4226 §4 requires 128 bits and recommends 160. */
const SECRET_BYTES = 20;
/** Steps before and after the current one whose codes are valid, for clocks that differ and people who type slowly (RFC 6238 §5.2). */
const SKEW_STEPS = 1;

/** A new secret in base32 (RFC 4648 §6, without padding), as authenticator programs take it. */
export const newTotpSecret = (): string => toBase32(randomBytes(SECRET_BYTES));

/** The address behind the QR code that authenticator programs read. */
export const totpAddress = (secret: string, issuer: string, user: string): string =>
  `otpauth://totp/${encodeURIComponent(`${issuer}:${user}`)}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;

/**
 * The step whose code this is, or undefined. Codes of `afterStep` and earlier steps are not valid, so that each code works
 * once (RFC 6238 §5.2).
 */
export function totpStep(secret: string, code: string, nowMs: number, afterStep: number): number | undefined {
  const now = Math.floor(nowMs / STEP_MS);
  const given = Buffer.from(code);
  let found: number | undefined;
  for (let step = now - SKEW_STEPS; step <= now + SKEW_STEPS; step++) {
    const wanted = Buffer.from(totpCode(secret, step));
    if (step > afterStep && given.length === wanted.length && timingSafeEqual(given, wanted)) found = step;
  }
  return found;
}

/** RFC 4226 §5.3. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 0x0f) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

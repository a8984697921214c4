import type { IncomingHttpHeaders } from "node:http";
import { PlatformError } from "#kernel/errors/errors.ts";

const REASON_LENGTH_MAX = 500;

/**
 * The reason for a write from the header `<vendor>-change-reason`, or undefined. A header instead of a body field, so
 * that any client can send it with any call. Throws `invalid_input` if it is too long or not text.
 */
export function readReason(headers: IncomingHttpHeaders, vendorPrefix: string): string | undefined {
  const name = `${vendorPrefix}-change-reason`;
  const header = headers[name];
  if (header === undefined) return undefined;
  const reason = fromUtf8(Array.isArray(header) ? header.join(", ") : header).trim();
  if ([...reason].length > REASON_LENGTH_MAX)
    throw new PlatformError("invalid_input", { message: `The header ${name} has more than ${REASON_LENGTH_MAX} characters.` });
  if (/[\0-\x1f\x7f]/.test(reason))
    throw new PlatformError("invalid_input", { message: `The header ${name} must not contain control characters.` });
  return reason === "" ? undefined : reason;
}

/** Node decodes a header's octets as Latin-1; clients write UTF-8 into them (RFC 9110 §5.5 leaves the meaning open). */
function fromUtf8(header: string): string {
  const text = Buffer.from(header, "latin1").toString("utf8");
  return text.includes("\ufffd") ? header : text;
}

import { DeliveryError } from "./delivery-error.ts";

/** nodemailer's error for a failed exchange. */
interface SmtpError extends Error {
  readonly code?: string;
  /** Code of the system or of TLS, if that failed. */
  readonly originalCode?: string;
  /** Code of the server's reply, if any. */
  readonly responseCode?: number;
  readonly response?: string;
  /** The command that failed. */
  readonly command?: string;
}

/** Codes of errors about the message; all others concern the operator's server and its login. */
const OF_MESSAGE: ReadonlySet<string> = new Set(["EENVELOPE", "EMESSAGE"]);

/** The second part of an enhanced status code (RFC 3463 §3). */
const SUBJECTS: Readonly<Record<string, string>> = {
  1: "the address",
  2: "the mailbox",
  3: "the recipient's mail system",
  4: "the network",
  5: "the protocol",
  6: "the content",
  7: "security or policy",
};

/**
 * The account sees the codes of a reply but never its text, which may contain names of the operator's servers. A 5xx
 * reply to the message is final (RFC 5321 §4.2.1); a refused login can be fixed by the operator, so it is retried.
 */
export function mailFault(error: unknown): DeliveryError {
  const { code = "", originalCode = code, responseCode, response, command = "", message } = error as SmtpError;
  if (responseCode !== undefined && OF_MESSAGE.has(code)) {
    const status = statusOf(responseCode, response);
    const isFinal = responseCode >= 500;
    const told = `the mail server ${isFinal ? "refuses" : "does not take"} the message${isFinal ? "" : " for now"} (${status})`;
    return new DeliveryError(told, { logged: `${command}: ${status}`, isFinal, cause: error });
  }
  const told =
    code === "EAUTH"
      ? "the mail server refuses the login of this installation"
      : /CERT|SIGNATURE|ISSUER|ETLS|SSL|EPROTO/.test(originalCode)
        ? "no trusted TLS connection to the mail server could be established"
        : "the mail server could not be reached or did not respond in time";
  return new DeliveryError(told, { logged: oneLine(`${command} ${originalCode}: ${message}`), isFinal: false, cause: error });
}

/** `550 5.1.1, the address` */
function statusOf(code: number, response = ""): string {
  const [, enhanced, subject = ""] = /^\d{3}[ -]([245]\.(\d{1,3})\.\d{1,3})(?!\S)/.exec(response) ?? [];
  if (enhanced === undefined) return String(code);
  const about = SUBJECTS[subject];
  return `${code} ${enhanced}${about === undefined ? "" : `, ${about}`}`;
}

const LOGGED_MAX = 300;

const oneLine = (text: string): string =>
  text
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, LOGGED_MAX);

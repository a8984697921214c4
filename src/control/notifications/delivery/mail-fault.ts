import { DeliveryError } from "./delivery-error.ts";

/** What nodemailer says of an exchange that failed. */
interface SmtpError extends Error {
  readonly code?: string;
  /** Of the system or of TLS, where that is what failed. */
  readonly originalCode?: string;
  /** Of the server's reply, where there was one. */
  readonly responseCode?: number;
  readonly response?: string;
  /** What the reply was to. */
  readonly command?: string;
}

/** Replies to these are about the message; all others about the operator's server and its login. */
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
 * An account is told the codes of a reply and never its text, which names the operator's servers. A 5xx to the message is
 * the last word on it (RFC 5321 §4.2.1); a login that is refused is the operator's to mend, and tried again.
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

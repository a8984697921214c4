import { connect, type Socket } from "node:net";
import type { Transporter } from "nodemailer";
import { classifyIp } from "#kernel/net/ip-class.ts";
import { parseIp } from "#kernel/net/ip.ts";
import type { Alert } from "#control/notifications/alerts/alert.ts";
import { mailFault } from "./mail-fault.ts";

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** Empty if the server requires no login. */
  readonly username: string;
  readonly password: string;
  /** The sender's address. */
  readonly from: string;
}

/** Sends a message once; rejects with a DeliveryError. */
export type SendEmail = (to: string, alert: Alert, id: string) => Promise<void>;

const CONNECT_MS = 10_000;
const IDLE_MS = 20_000;
/** Time limit of a whole message: a server that sends a little at a time could otherwise delay it forever. */
const MESSAGE_MS = 60_000;
/** RFC 8314 §3.3: this port uses TLS from the first byte. */
const SUBMISSIONS_PORT = 465;

/**
 * Sends through the operator's mail server, with TLS from the first byte on port 465 and with STARTTLS otherwise. Without
 * TLS, or with an untrusted certificate, nothing is sent.
 */
export function createEmailSender(server: MailServer, messageMs = MESSAGE_MS, submissionsPort = SUBMISSIONS_PORT): SendEmail {
  // linear: pumped
  const domain = /@([^\s@<>]+)>?\s*$/.exec(server.from)?.[1] ?? "localhost";
  let transport: Promise<Transporter> | undefined;
  return async (to, { subject, text, data }, id) => {
    const facts = Object.entries(data).map(([name, value]) => `${name}: ${value}`);
    transport ??= openTransport(server, messageMs, submissionsPort);
    const message = {
      from: server.from,
      // As an object, so that the address cannot be parsed as several.
      to: { name: "", address: to },
      subject,
      text: `${text}\n\n${facts.join("\n")}\n`,
      // The same for each attempt, so that mail programs recognize repetitions.
      messageId: `<${id}@${domain}>`,
      headers: { "Auto-Submitted": "auto-generated" },
    };
    await (await transport).sendMail(message).catch((error: unknown) => {
      throw mailFault(error);
    });
  };
}

/** Loads the library with the first e-mail. */
async function openTransport(server: MailServer, messageMs: number, submissionsPort: number): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const secure = server.port === submissionsPort;
  const isLocal = isOnThisMachine(server.host);
  return createTransport({
    host: server.host,
    port: server.port,
    secure,
    requireTLS: !secure && !isLocal,
    // Mail servers on loopback often have self-signed certificates, and the connection cannot be intercepted.
    ...(isLocal ? { tls: { rejectUnauthorized: false } } : {}),
    ...(server.username === "" ? {} : { auth: { user: server.username, pass: server.password } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: IDLE_MS,
    getSocket: (_, done) => dial(server, messageMs, done),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

type Dialled = (error: Error | null, socket?: { readonly connection: Socket }) => void;

/** Opens a connection for one message. */
function dial({ host, port }: MailServer, messageMs: number, done: Dialled): void {
  const socket = connect({ host, port });
  const endWith = (reason: string) => () => void socket.destroy(new Error(`the mail server ${reason}`));
  const connecting = setTimeout(endWith(`did not answer within ${CONNECT_MS / 1000} s`), Math.min(CONNECT_MS, messageMs));
  const sending = setTimeout(endWith(`did not take the message within ${messageMs / 1000} s`), messageMs);
  socket.once("close", () => {
    clearTimeout(connecting);
    clearTimeout(sending);
  });
  socket.once("error", done);
  socket.once("connect", () => {
    clearTimeout(connecting);
    socket.off("error", done);
    done(null, { connection: socket });
  });
}

function isOnThisMachine(host: string): boolean {
  const address = parseIp(host);
  return address === undefined ? host === "localhost" : classifyIp(address) === "loopback";
}

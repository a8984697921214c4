import { connect, type Socket } from "node:net";
import type { Transporter } from "nodemailer";
import { classifyIp } from "#kernel/net/ip-class.ts";
import { parseIp } from "#kernel/net/ip.ts";
import type { Alert } from "#control/notifications/alerts/alert.ts";
import { mailFault } from "./mail-fault.ts";

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** Empty where the server asks for no login. */
  readonly username: string;
  readonly password: string;
  /** The sender's address. */
  readonly from: string;
}

/** Sends once; rejects with a DeliveryError. */
export type SendEmail = (to: string, alert: Alert, id: string) => Promise<void>;

const CONNECT_MS = 10_000;
const IDLE_MS = 20_000;
/** Of a message in all: a server that says a little now and then would otherwise keep it for ever. */
const MESSAGE_MS = 60_000;
/** RFC 8314 §3.3: this port speaks TLS from the first byte. */
const SUBMISSIONS_PORT = 465;

/**
 * Through the operator's mail server: TLS from the first byte at port 465, by STARTTLS elsewhere. Without TLS, or with a
 * certificate that is not trusted, nothing leaves this machine.
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
      // As an object nothing in it is read as a second address.
      to: { name: "", address: to },
      subject,
      text: `${text}\n\n${facts.join("\n")}\n`,
      // The same for each attempt, so that mail programs can tell a repetition.
      messageId: `<${id}@${domain}>`,
      headers: { "Auto-Submitted": "auto-generated" },
    };
    await (await transport).sendMail(message).catch((error: unknown) => {
      throw mailFault(error);
    });
  };
}

/** The library is loaded with the first letter. */
async function openTransport(server: MailServer, messageMs: number, submissionsPort: number): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const secure = server.port === submissionsPort;
  const isLocal = isOnThisMachine(server.host);
  return createTransport({
    host: server.host,
    port: server.port,
    secure,
    requireTLS: !secure && !isLocal,
    // Mail servers on loopback offer STARTTLS with a certificate that they made for themselves, and nobody is in between.
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

/** A connection for one message. */
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

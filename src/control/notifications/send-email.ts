import type { Transporter } from "nodemailer";
import { classifyIp } from "#kernel/ip-class.ts";
import { parseIp } from "#kernel/ip.ts";
import type { Alert } from "./alert.ts";

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** Empty where the server asks for no login. */
  readonly username: string;
  readonly password: string;
  /** The sender's address. */
  readonly from: string;
}

/** Sends once; rejects with the server's reason. */
export type SendEmail = (to: string, alert: Alert, id: string) => Promise<void>;

const CONNECT_MS = 10_000;
const IDLE_MS = 20_000;
/** RFC 8314 §3.3: this port speaks TLS from the first byte. */
const SUBMISSIONS_PORT = 465;

/**
 * Through the operator's mail server: TLS from the first byte at port 465, by STARTTLS elsewhere. Without TLS nothing
 * leaves this machine.
 */
export function createEmailSender(server: MailServer): SendEmail {
  let transport: Promise<Transporter> | undefined;
  return async (to, { subject, text, data }, id) => {
    const facts = Object.entries(data).map(([name, value]) => `${name}: ${value}`);
    transport ??= openTransport(server);
    await (
      await transport
    ).sendMail({
      from: server.from,
      // As an object nothing in it is read as a second address.
      to: { name: "", address: to },
      subject,
      text: `${text}\n\n${facts.join("\n")}\n`,
      // The same for each attempt, so that mail programs can tell a repetition.
      messageId: `<${id}@${server.from.split("@")[1] ?? "localhost"}>`,
      headers: { "Auto-Submitted": "auto-generated" },
    });
  };
}

/** The library is loaded with the first letter. */
async function openTransport(server: MailServer): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const secure = server.port === SUBMISSIONS_PORT;
  return createTransport({
    host: server.host,
    port: server.port,
    secure,
    requireTLS: !secure && !isOnThisMachine(server.host),
    ...(server.username === "" ? {} : { auth: { user: server.username, pass: server.password } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: IDLE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function isOnThisMachine(host: string): boolean {
  const address = parseIp(host);
  return address === undefined ? host === "localhost" : classifyIp(address) === "loopback";
}

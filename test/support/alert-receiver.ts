import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

// A separate program: `node alert-receiver.ts SECRET`. It accepts webhooks and mail on loopback, and writes a line of
// JSON with its ports, then one for each message.

const [secret = ""] = process.argv.slice(2);
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** As in the guide: the HMAC-SHA-256 of `SECONDS.BODY` under the secret. */
function isSigned(field: string, body: string): boolean {
  const [, seconds = "", given = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(field) ?? [];
  const wanted = createHmac("sha256", secret).update(`${seconds}.${body}`).digest();
  return given !== "" && timingSafeEqual(Buffer.from(given, "hex"), wanted);
}

const hooks = createServer(async (req, res) => {
  const body = await text(req);
  const signed = isSigned(String(req.headers["svc-webhook-signature"]), body);
  say({ by: "webhook", path: req.url, signed, id: req.headers["svc-webhook-id"], message: JSON.parse(body) });
  res.writeHead(signed ? 204 : 401).end();
}).listen(0, "127.0.0.1");

const mail = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  onData: async (stream, session, done) => {
    const source = await text(stream);
    say({ by: "email", to: session.envelope.rcptTo.map(({ address }) => address), source });
    done();
  },
});
mail.listen(0, "127.0.0.1");
await Promise.all([once(hooks, "listening"), once(mail.server, "listening")]);
say({ http: (hooks.address() as AddressInfo).port, smtp: (mail.server.address() as AddressInfo).port });

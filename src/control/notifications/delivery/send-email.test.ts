import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { SMTPServer } from "smtp-server";
import { createEmailSender } from "./send-email.ts";

const ALERT = { subject: "Security events in one.example", text: "Many.\r\nBcc: other@example.net", data: { count: 7 } };

/** A mail server that takes everything; what it took. */
async function takesAll(t: TestContext) {
  const sources: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, _, done) => {
      let source = "";
      stream.setEncoding("utf8").on("data", (part: string) => (source += part));
      stream.on("end", () => {
        sources.push(source);
        done();
      });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  t.after(() => server.close());
  return { sources, port: (server.server.address() as AddressInfo).port };
}

/** A server of bare TCP. */
async function listening(t: TestContext, onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const to = (port: number, from = "alerts@edge.example") => ({ host: "127.0.0.1", port, username: "", password: "", from });

test("the Message-ID has the sender's domain, whatever the sender's display name is", async (t) => {
  const { sources, port } = await takesAll(t);
  for (const from of ["alerts@edge.example", "Edge alerts <alerts@edge.example>"])
    await createEmailSender(to(port, from))("someone@example.net", ALERT, "01ABC");
  assert.equal(sources.length, 2);
  for (const source of sources) {
    assert.match(source, /^Message-ID: <01ABC@edge\.example>\r$/m);
    const [head = ""] = source.split("\r\n\r\n", 1);
    assert.doesNotMatch(head, /^Bcc:/m, "what the text holds is no header");
  }
});

test("a mail server that sends a little now and then is disconnected at the timeout", async (t) => {
  const closed = Promise.withResolvers<void>();
  const port = await listening(t, (socket) => {
    socket.on("close", () => closed.resolve());
    const drip = setInterval(() => socket.write("220-wait\r\n"), 20);
    socket.on("close", () => clearInterval(drip));
  });
  await assert.rejects(createEmailSender(to(port), 400)("someone@example.net", ALERT, "1"), {
    logged: /did not take the message within 0\.4 s/,
  });
  await closed.promise;
});

test("the operator sees the system's reason why a server is unreachable", async () => {
  await assert.rejects(createEmailSender(to(1))("someone@example.net", ALERT, "1"), { logged: /ECONNREFUSED/ });
});

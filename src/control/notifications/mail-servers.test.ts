import assert from "node:assert/strict";
import dns from "node:dns";
import { once } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import tls from "node:tls";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { createLocalCa, createRoot, type IssuedCertificate } from "#acme/local-ca.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { policyById } from "#store/events/notifications.ts";
import { deliveriesOf } from "#store/events/notification-deliveries.ts";
import { controlOver } from "../../../test/support/control.ts";
import { fc } from "../../../test/support/property.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createDeliveries } from "#control/notifications/delivery/deliveries.ts";
import { DeliveryError } from "#control/notifications/delivery/delivery-error.ts";
import { createNotificationPolicies } from "#control/notifications/policies/policies.ts";
import { createEmailSender, type MailServer } from "#control/notifications/delivery/send-email.ts";

const ALERT = { subject: "Security events in one.example", text: "Many.", data: { count: 7 } };
/** Elsewhere, as far as the sender knows: names of it lead to loopback here. */
const REMOTE = "mail.example.com";
const LOGIN = { username: "edge", password: "pass word-canary" };

let trusted: IssuedCertificate;
let otherName: IssuedCertificate;
let distrusted: IssuedCertificate;
const { lookup } = dns;

before(async () => {
  const root = await createRoot(systemClock);
  const [ours, theirs] = [root, await createRoot(systemClock)].map((one) => createLocalCa({ root: one, clock: systemClock }));
  trusted = (await ours?.issue([REMOTE])) ?? assert.fail();
  otherName = (await ours?.issue(["other.example.com"])) ?? assert.fail();
  distrusted = (await theirs?.issue([REMOTE])) ?? assert.fail();
  tls.setDefaultCACertificates([root.certificate]);
  // Only what the sender asks for: servers of this test listen at addresses.
  dns.lookup = ((name: string, options: object, done: (error: null, found: unknown, family?: number) => void) => {
    if (name !== REMOTE) return lookup(name, options, done as never);
    setImmediate(() => ("all" in options && options.all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4)));
  }) as never;
  syncBuiltinESMExports();
});
after(() => {
  dns.lookup = lookup;
  syncBuiltinESMExports();
});

interface Taken {
  readonly source: string;
  readonly secure: boolean;
  readonly user: string | undefined;
}

async function mailServer(t: TestContext, options: SMTPServerOptions) {
  const taken: Taken[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    onAuth: ({ method, username, password }, _session, done) => {
      logins.push(method);
      if (username === LOGIN.username && password === LOGIN.password) return done(null, { user: username });
      return done(new Error("5.7.8 who are you, 10.0.0.9?"));
    },
    onData: (stream, session, done) => {
      let source = "";
      stream.setEncoding("utf8").on("data", (part: string) => (source += part));
      stream.on("end", () => {
        taken.push({ source, secure: session.secure, user: session.user });
        done();
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  t.after(() => server.close());
  return { taken, logins, port: (server.server.address() as AddressInfo).port };
}

const certificate = ({ chain, privateKey }: IssuedCertificate) => ({ cert: chain, key: privateKey });
const at = (port: number, more: Partial<MailServer> = {}): MailServer => ({
  ...{ host: REMOTE, port, username: "", password: "", from: "Edge <alerts@edge.example>" },
  ...more,
});
const send = (server: MailServer, alert = ALERT, messageMs = 60_000): Promise<void> =>
  createEmailSender(server, messageMs)("someone@example.net", alert, "01ABC");
const faultOf = (sent: Promise<void>): Promise<DeliveryError> =>
  sent.then(
    () => assert.fail("it was taken"),
    (error: unknown) => (error instanceof DeliveryError ? error : assert.fail(String(error))),
  );

test("remote servers are used over TLS, with every login method", async (t) => {
  for (const method of ["PLAIN", "LOGIN"]) {
    const { taken, logins, port } = await mailServer(t, { ...certificate(trusted), authMethods: [method], authOptional: false });
    await send(at(port, LOGIN));
    assert.deepEqual(
      taken.map(({ secure, user }) => [secure, user]),
      [[true, "edge"]],
    );
    assert.deepEqual(logins, [method]);
  }
});

test("implicit TLS starts with the first byte", async (t) => {
  const { taken, port } = await mailServer(t, { ...certificate(trusted), secure: true });
  await createEmailSender(at(port), 60_000, port)("someone@example.net", ALERT, "01ABC");
  assert.equal(taken[0]?.secure, true);
});

test("neither message nor password is sent to a remote server without trusted TLS", async (t) => {
  const refused: Readonly<Record<string, SMTPServerOptions>> = {
    "no STARTTLS": { disabledCommands: ["STARTTLS"] },
    "another authority": certificate(distrusted),
    "another name": certificate(otherName),
  };
  for (const [what, options] of Object.entries(refused)) {
    const { taken, logins, port } = await mailServer(t, options);
    const { message, isFinal, logged } = await faultOf(send(at(port, LOGIN)));
    assert.match(message, /^no trusted TLS connection to the mail server/, `${what}: ${message} (${logged})`);
    assert.deepEqual([isFinal, taken, logins], [false, [], []], what);
  }
  for (const one of [distrusted, otherName]) {
    const { taken, port } = await mailServer(t, { ...certificate(one), secure: true });
    const { message, logged } = await faultOf(createEmailSender(at(port), 60_000, port)("someone@example.net", ALERT, "01ABC"));
    assert.match(message, /^no trusted TLS connection to the mail server/, logged);
    assert.deepEqual(taken, []);
  }
});

test("a server on this machine may use a self-signed certificate or no TLS", async (t) => {
  for (const options of [certificate(distrusted), { disabledCommands: ["STARTTLS"] }]) {
    const { taken, port } = await mailServer(t, options);
    for (const host of ["127.0.0.1", "localhost"]) await send(at(port, { host, ...LOGIN, username: "" }));
    assert.deepEqual(
      taken.map(({ secure }) => secure),
      ["cert" in options, "cert" in options],
    );
  }
});

test("a refused login is retried later, and no message contains its password", async (t) => {
  const { taken, port } = await mailServer(t, { ...certificate(trusted), authOptional: false });
  const { message, logged, isFinal } = await faultOf(send(at(port, { username: "edge", password: "wrong-canary" })));
  assert.deepEqual([message, isFinal, taken], ["the mail server refuses the login of this installation", false, []]);
  assert.doesNotMatch(logged, /canary/);
  assert.match(logged, /^AUTH /);
});

const replying = (responseCode: number, text: string): Error => Object.assign(new Error(text), { responseCode });

test("a 4xx is temporary and a 5xx permanent, and the account gets the code without the server's text", async (t) => {
  const cases: readonly (readonly [SMTPServerOptions, RegExp, boolean])[] = [
    [
      { onRcptTo: (_to, _s, done) => done(replying(451, "4.7.1 greylisted by mx.internal")) },
      /for now \(451 4\.7\.1, security or policy\)$/,
      false,
    ],
    [
      { onRcptTo: (_to, _s, done) => done(replying(550, "5.1.1 <someone@example.net> 10.0.0.9")) },
      /refuses the message \(550 5\.1\.1, the address\)$/,
      true,
    ],
    [{ onMailFrom: (_from, _s, done) => done(replying(553, "who?")) }, /refuses the message \(553\)$/, true],
    [
      { onMailFrom: (_from, _s, done) => done(replying(421, "4.3.2 closing")) },
      /for now \(421 4\.3\.2, the recipient's mail system\)$/,
      false,
    ],
    [
      { onData: (stream, _s, done) => void stream.resume().on("end", () => done(replying(554, "5.6.0 spam"))) },
      /\(554 5\.6\.0, the content\)$/,
      true,
    ],
    [
      { onData: (stream, _s, done) => void stream.resume().on("end", () => done(replying(452, "4.2.2 full"))) },
      /\(452 4\.2\.2, the mailbox\)$/,
      false,
    ],
  ];
  for (const [options, told, isFinal] of cases) {
    const { port } = await mailServer(t, { ...certificate(trusted), ...options });
    const fault = await faultOf(send(at(port)));
    assert.match(fault.message, told);
    assert.equal(fault.isFinal, isFinal, fault.message);
    assert.doesNotMatch(`${fault.message} ${fault.logged}`, /someone|internal|10\.0/);
  }
});

test("a server that never responds is abandoned at the timeout", async (t) => {
  const { port } = await mailServer(t, { ...certificate(trusted), onConnect: () => undefined });
  const { message, isFinal } = await faultOf(send(at(port), ALERT, 300));
  assert.deepEqual([message, isFinal], ["the mail server could not be reached or did not respond in time", false]);
  const busy = await mailServer(t, { ...certificate(trusted), onConnect: (_s, done) => done(replying(554, "5.3.2 not today")) });
  assert.equal((await faultOf(send(at(busy.port)))).isFinal, false, "a greeting is not about the message");
});

storeTest(
  "permanently refused messages are not sent again, temporarily refused ones are, and the history shows both",
  async ({ store }) => {
    const clock = fixedClock("2026-01-15T10:00:00Z");
    const { account_id, call } = await controlOver(store, { clock });
    const final = { logged: "RCPT TO: 550 5.1.1", isFinal: true };
    let attempts = 0;
    const deliveries = createDeliveries({
      ...{ store, clock, sealer: createSealer(Buffer.alloc(32, 7)), sendWebhook: async () => undefined },
      sendEmail: async (to) => {
        attempts += 1;
        if (to === "gone@example.net") throw new DeliveryError("the mail server refuses the message (550)", final);
        if (attempts < 4) throw new DeliveryError("for now", { ...final, isFinal: false });
      },
    });
    const { id } = await createNotificationPolicies({ store, clock, deliveries, ready: { email: true } }).create(call(), account_id, {
      ...{ name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly" },
      mechanisms: { email: [{ id: "gone@example.net" }, { id: "here@example.net" }] },
    });
    const policy = (await policyById(store.read, account_id, id)) ?? assert.fail();
    await store.write((unit) => deliveries.add(unit, policy, ALERT));
    for (let n = 0; n < 8; n++) {
      await deliveries.sendDue();
      clock.advance(7_200_000);
    }
    const rows = await deliveriesOf(store.read, account_id, {}, { limit: 10, offset: 0 });
    assert.deepEqual(rows.map(({ mechanism, status, attempts: made, error }) => [mechanism, status, made, error]).toSorted(), [
      ["gone@example.net", "failed", 1, "the mail server refuses the message (550)"],
      ["here@example.net", "sent", 3, null],
    ]);
  },
);

/** The fields of the message's head, unfolded, with encoded words read (RFC 2047 §6.2). */
function fieldsOf(source: string): ReadonlyMap<string, string> {
  const [head = ""] = source.split("\r\n\r\n", 1);
  const fields = head.replaceAll(/\r\n[ \t]/g, " ").split("\r\n");
  return new Map(
    fields.map((field) => {
      const colon = field.indexOf(":");
      const words = field
        .slice(colon + 1)
        .trim()
        .replaceAll(/(=\?[^?]+\?[QB]\?[^?]*\?=)\s+(?==\?)/gi, "$1")
        .replaceAll(/(?:=\?utf-8\?([QB])\?([^?]*)\?=)+/gi, (run) => decoded(run));
      return [field.slice(0, colon).toLowerCase(), words] as const;
    }),
  );
}

const decoded = (run: string): string =>
  Buffer.concat(
    Array.from(run.matchAll(/=\?utf-8\?([QB])\?([^?]*)\?=/gi), ([, kind = "", text = ""]) =>
      kind.toUpperCase() === "B"
        ? Buffer.from(text, "base64")
        : Buffer.from(
            text.replaceAll("_", " ").replaceAll(/=([0-9A-F]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            "latin1",
          ),
    ),
  ).toString();

test("names with any content appear only in the subject, encoded in lines that every server accepts", async (t) => {
  const { taken, port } = await mailServer(t, { disabledCommands: ["STARTTLS"] });
  const sender = createEmailSender(at(port, { host: "127.0.0.1" }));
  const name = fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 255 }),
    fc.string({
      unit: fc.constantFrom(
        "\r",
        "\n",
        "\r\n",
        "\r\nBcc: a@b.example",
        ":",
        "x",
        " ",
        "ü",
        "=?utf-8?Q?x?=",
        "<a@b.example>",
        ",",
        "\0",
        '"',
      ),
      maxLength: 60,
    }),
    fc.constantFrom("a".repeat(255), "ü".repeat(255), "😀".repeat(127), "\r\n\r\nbody", "\r\n.\r\nMAIL FROM:<a@b.example>\r\n"),
  );
  await fc.assert(
    fc.asyncProperty(name, async (any) => {
      const subject = `Test of ${any}`;
      taken.length = 0;
      await sender("someone@example.net", { subject, text: `of ${subject}`, data: { zone: subject } }, "01ABC");
      assert.equal(taken.length, 1);
      const [{ source } = assert.fail()] = taken;
      const fields = fieldsOf(source);
      assert.deepEqual(
        [...fields.keys()].toSorted(),
        ["auto-submitted", "content-transfer-encoding", "content-type", "date", "from", "message-id", "mime-version", "subject", "to"],
        source,
      );
      assert.equal(fields.get("to"), "someone@example.net");
      const plain = (text: string): string =>
        text
          .toWellFormed()
          .replaceAll(/[\s\0]+/g, " ")
          .trim();
      if (!subject.includes("=?")) assert.equal(plain(fields.get("subject") ?? ""), plain(subject));
      for (const line of source.split("\r\n"))
        assert.ok(Buffer.byteLength(line) <= 998, `${Buffer.byteLength(line)} octets (RFC 5322 §2.1.1)`);
    }),
    { numRuns: 50 },
  );
});

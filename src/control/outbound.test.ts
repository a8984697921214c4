import assert from "node:assert/strict";
import dns from "node:dns";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { createAddressPolicy } from "#kernel/net/address-policy.ts";
import { systemClock } from "#kernel/clock.ts";
import { fc } from "../../test/support/property.ts";
import { outboundFault } from "./outbound-faults.ts";
import { readOutboundUrl, sendOutbound } from "./outbound.ts";

const IN_PUBLIC = createAddressPolicy("0.0.0.0", [], undefined);
const ON_LOOPBACK = createAddressPolicy("127.0.0.1", [], undefined);

/** Gives the port. */
async function listen(t: TestContext, server: Server, host = "127.0.0.1", port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => undefined)));
  server.on("tlsClientError", () => undefined);
  await once(server.listen(port, host), "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const send = (url: string, allowed = ON_LOOPBACK, totalMs = 5_000): Promise<number> =>
  sendOutbound({ method: "POST", url: new URL(url), headers: {}, body: "{}", totalMs }, allowed);

const faultOf = (sent: Promise<number>): Promise<string> =>
  sent.then(
    (status) => assert.fail(`status ${status}`),
    (error: Error) => error.message,
  );

/** Ways to write an IPv4 address that URLs know: parts of any base, the last of them holding what is left. */
const spelled = fc
  .tuple(fc.ipV4(), fc.integer({ min: 1, max: 4 }), fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }), fc.boolean())
  .map(([address, parts, bases, dot]) => {
    const bytes = address.split(".").map(Number);
    const numbers = [...bytes.slice(0, parts - 1), bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0)];
    const prefix: Readonly<Record<number, string>> = { 8: "0", 10: "", 16: "0x" };
    const text = numbers.map((number, i) => `${prefix[bases[i] ?? 10]}${number.toString(bases[i])}`).join(".");
    return { address, text: dot ? `${text}.` : text };
  });

test("every spelling of an address gives that address", () => {
  fc.assert(
    fc.property(spelled, ({ address, text }) => {
      for (const allowed of [IN_PUBLIC, ON_LOOPBACK]) {
        const read = readOutboundUrl(`https://${text}/`, allowed);
        assert.equal(read instanceof URL, allowed(address, 443), `${text} is ${address}`);
        if (read instanceof URL) assert.equal(read.hostname, address);
      }
    }),
    { numRuns: 500 },
  );
});

test("forbidden webhook addresses, credentials, sockets and ports of other services are refused when parsed", () => {
  const refused = [
    ...["https://0.0.0.0/", "https://127.0.0.1/", "https://0x7f.1/", "https://0177.0.0.1/", "https://2130706433/", "https://127.1/"],
    ...["https://[::1]/", "https://[::]/", "https://[::ffff:10.0.0.1]/", "https://[::ffff:a00:1]/", "https://[0:0:0:0:0:ffff:7f00:1]/"],
    ...["https://[64:ff9b::a00:1]/", "https://[64:ff9b:1::a00:1]/", "https://[2002:a00:1::]/", "https://[2001:0:a00:1::]/"],
    ...[
      "https://[fd00::1]/",
      "https://[fe80::1]/",
      "https://[fec0::1]/",
      "https://[2001:db8::1]/",
      "https://[ff02::1]/",
      "https://[::a00:1]/",
    ],
    ...[
      "https://169.254.169.254/",
      "https://100.64.0.1/",
      "https://100.100.100.200/",
      "https://168.63.129.16/",
      "https://[fd00:ec2::254]/",
    ],
    ...["https://224.0.0.1/", "https://255.255.255.255/", "https://192.0.2.1/", "https://127。0。0。1/", "https://①②⑦.0.0.1/"],
    ...["https://user@example.com/", "https://user:pass@example.com/", "https://:pass@example.com/", "https://example.com:25/"],
    ...[
      "https://example.com:6667/",
      "https://example.com:0/",
      "unix:/run/docker.sock",
      "http://unix:/run/docker.sock:/x",
      "file:///etc/passwd",
    ],
    ...[
      "http://example.com/",
      "http://localhost./",
      "http://example.com./",
      "//example.com/",
      "https://",
      "https:///",
      "https://[fe80::1%25eth0]/",
    ],
  ];
  for (const url of refused) assert.ok(!(readOutboundUrl(url, IN_PUBLIC) instanceof URL), url);
  for (const url of [
    "https://example.com:8443/",
    "https://example.com./",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://localhost./",
  ])
    assert.ok(readOutboundUrl(url, IN_PUBLIC) instanceof URL, url);
});

test("names that resolve to this machine, with or without a trailing dot, are refused like names that do not exist", async () => {
  const faults = new Set<string>();
  for (const host of ["localhost", "localhost.", "LOCALHOST", "nobody.invalid", "nobody.invalid."])
    faults.add(await faultOf(send(`https://${host}:8443/`, IN_PUBLIC)));
  assert.deepEqual([...faults], ["its name does not resolve to an address that this server may connect to"]);
});

test("error messages do not distinguish ports of the private network", async (t) => {
  const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
  const { chain: cert, privateKey: key } = await ca.issue(["localhost"]);
  const silent = await listen(t, createServer());
  const closed = await listen(
    t,
    createServer((socket) => socket.destroy()),
  );
  const mail = await listen(
    t,
    createServer((socket) => socket.end("220 mail.example ESMTP\r\n")),
  );
  const tls = await listen(t, createTlsServer({ cert, key }));
  const gone = createServer();
  const shut = await listen(t, gone);
  await new Promise((resolve) => gone.close(resolve));
  const faults = new Map<string, string>();
  for (const [name, port] of Object.entries({ silent, closed, mail, tls, shut }))
    for (const scheme of ["http", "https"])
      for (const host of ["127.0.0.1", "localhost"])
        faults.set(`${scheme} ${host} ${name}`, await faultOf(send(`${scheme}://${host}:${port}/`, ON_LOOPBACK, 1_000)));
  assert.equal(new Set(faults.values()).size, 1, JSON.stringify([...faults], null, 1));
  assert.doesNotMatch([...faults.values()].join(), /127|::1|ECONN|\d/);
});

test("a failure at an Internet address is reported without the address", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED 198.51.100.7:443"), { code: "ECONNREFUSED" });
  const known = { isGlobal: true, totalMs: 10_000 };
  assert.equal(outboundFault(new AggregateError([refused, refused]), known), "it refuses connections");
  assert.equal(outboundFault(new Error("x", { cause: refused }), known), "it refuses connections");
  assert.equal(outboundFault(new DOMException("late", "TimeoutError"), known), "it did not respond within 10 seconds");
  const distrusted = Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  assert.equal(outboundFault(distrusted, known), "its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)");
  assert.equal(outboundFault(new Error("at 198.51.100.7"), known), "the request failed");
});

test("the connection goes to the checked address, even if the name changes afterwards", async (t) => {
  const hosts: string[] = [];
  const answer = (host: string) => createHttpServer((req, res) => void (hosts.push(`${host} ${req.headers.host}`), res.end()));
  const port = await listen(t, answer("checked"));
  await listen(t, answer("other"), "127.0.0.2", port);
  let asked = 0;
  t.mock.method(dns, "lookup", (_name: string, _options: object, done: (error: null, found: dns.LookupAddress[]) => void) => {
    asked += 1;
    setImmediate(done, null, [{ address: asked === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }]);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  assert.equal(await send(`http://localhost:${port}/`, (address) => address === "127.0.0.1"), 200);
  assert.deepEqual([asked, hosts], [1, [`checked localhost:${port}`]]);
  assert.equal(
    await faultOf(send(`http://localhost:${port}/`, (address) => address === "127.0.0.1")),
    "its name does not resolve to an address that this server may connect to",
  );
  assert.equal(hosts.length, 1);
});

test("a redirect to a forbidden address is an ordinary response and is not followed", async (t) => {
  let reached = 0;
  const inside = await listen(
    t,
    createHttpServer((_req, res) => void (reached++, res.end())),
  );
  for (const status of [301, 302, 303, 307, 308]) {
    const outside = await listen(
      t,
      createHttpServer((_req, res) => res.writeHead(status, { location: `http://127.0.0.1:${inside}/` }).end()),
    );
    assert.equal(await send(`http://127.0.0.1:${outside}/`), status);
  }
  assert.equal(reached, 0);
});

test("an abort by the caller is reported as such", async (t) => {
  const port = await listen(t, createServer());
  const early = AbortSignal.timeout(50);
  const sent = sendOutbound(
    { method: "POST", url: new URL(`http://127.0.0.1:${port}/`), headers: {}, body: "", totalMs: 60_000, signal: early },
    ON_LOOPBACK,
  );
  await assert.rejects(sent, { name: "TimeoutError" });
});

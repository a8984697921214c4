import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect as connectTcp, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { fc } from "../../../test/support/property.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import type { Op } from "#snapshot/entries.ts";
import { httpOrigin, rawClient, siteOps, startEdge, type TestEdge, type TestOrigin, TLS_WAYS } from "#edge/testing/edge.ts";
import { rulesetOp, zoneOp } from "#edge/testing/entries.ts";

for (const [way, socketCalls] of TLS_WAYS) {
  describe(way, () => {
    let origin: TestOrigin;
    /** Two threads on one port, from a client's point of view. */
    let edges: readonly [TestEdge, TestEdge];
    let ca: string;
    let root: Awaited<ReturnType<typeof createRoot>>;
    let certificateOp: (edge: TestEdge) => Op;

    before(async () => {
      root = await createRoot(systemClock);
      ca = root.certificate;
      origin = await httpOrigin((_req, res) => res.end("here"));
      const issued = await createLocalCa({ root, clock: systemClock }).issue(["example.com", "*.example.com"]);
      certificateOp = (edge) => ({
        kind: "certificate",
        id: "c1",
        value: {
          zone_id: "zone",
          hosts: ["example.com", "*.example.com"],
          chain: issued.chain,
          private_key: edge.sealer.seal(issued.privateKey, "certificate:c1"),
          not_after: issued.notAfter,
        },
      });
      const start = async (): Promise<TestEdge> => {
        const edge = await startEdge(siteOps(origin.port), { socketCalls }, { headTimeoutMs: 2_000, lingerMs: 100 });
        edge.replica.apply([certificateOp(edge)]);
        return edge;
      };
      edges = [await start(), await start()];
    });
    after(async () => {
      for (const edge of edges) assert.deepEqual(edge.errors, []);
      for (const edge of edges) await edge.close();
      origin.close();
    });

    async function freePort(): Promise<number> {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      server.close();
      return port;
    }

    const zoneWith = (settings: Partial<EdgeSettings>): Op => zoneOp("zone", "example.com", { edge: settings });

    interface Visit {
      readonly protocol: string | null;
      readonly isResumed: boolean;
      readonly session: Buffer;
      readonly answer: string;
    }

    /** Sends one request over a separate connection, and waits for a session that can be resumed. */
    function visit(edge: TestEdge, options: ConnectionOptions = {}): Promise<Visit> {
      return new Promise((resolve, reject) => {
        const socket: TLSSocket = connect({ port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca, ...options });
        let session = Buffer.alloc(0);
        let answer = "";
        socket.on("session", (bytes) => (session = bytes));
        socket.on("secureConnect", () => socket.write("GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n"));
        socket.on("data", (bytes) => (answer += bytes.toString()));
        socket.on("error", reject);
        socket.on("close", () => resolve({ protocol, isResumed, session, answer }));
        let protocol: string | null = null;
        let isResumed = false;
        socket.on("secureConnect", () => {
          protocol = socket.getProtocol();
          isResumed = socket.isSessionReused();
        });
      });
    }

    const OLD = { maxVersion: "TLSv1.2" } as const;
    const NEW = { minVersion: "TLSv1.3" } as const;

    test("min_tls_version refuses older handshakes with an alert, and tls_1_3 off limits all clients to TLS 1.2", async () => {
      const [edge] = edges;
      assert.equal((await visit(edge, OLD)).protocol, "TLSv1.2");
      edge.replica.apply([zoneWith({ min_tls_version: "1.3" })]);
      await assert.rejects(visit(edge, OLD), { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" });
      assert.match((await visit(edge)).answer, /here$/);
      edge.replica.apply([zoneWith({ tls_1_3: false })]);
      const { protocol, answer } = await visit(edge);
      assert.deepEqual([protocol, answer.slice(-4)], ["TLSv1.2", "here"]);
      await assert.rejects(visit(edge, NEW), { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" });
      edge.replica.apply([zoneWith({})]);
      assert.equal((await visit(edge)).protocol, "TLSv1.3");
    });

    test("a client can resume its session in another thread as long as the ticket key is valid", async () => {
      const [one, other] = edges;
      const keys = [randomBytes(48), randomBytes(48), randomBytes(48)];
      const use = (...newest: Buffer[]): void => edges.forEach((edge) => edge.useTicketKeys(newest));
      for (const version of [OLD, NEW]) {
        use(keys[0]!);
        const { session, isResumed } = await visit(one, version);
        assert.ok(!isResumed && session.length > 0);
        assert.equal((await visit(other, { ...version, session })).isResumed, true, "at the other one");
        use(keys[1]!, keys[0]!);
        assert.equal((await visit(other, { ...version, session })).isResumed, true, "with the key before the newest");
        const renewed = await visit(one, version);
        use(keys[2]!, keys[1]!);
        assert.equal((await visit(one, { ...version, session })).isResumed, false, "the key is gone");
        assert.equal((await visit(other, { ...version, session: renewed.session })).isResumed, true);
      }
    });

    test(
      "a session of one certificate is not resumed under a name of another one, in either version",
      { skip: toolOrSkip("openssl") },
      async (t) => {
        const [edge] = edges;
        const other = await createLocalCa({ root, clock: systemClock }).issue(["other.test"]);
        const value = {
          zone_id: "other",
          hosts: ["other.test"],
          chain: other.chain,
          private_key: edge.sealer.seal(other.privateKey, "certificate:c2"),
          not_after: other.notAfter,
        };
        edge.replica.apply([zoneOp("other", "other.test"), { kind: "certificate", id: "c2", value }]);
        edge.useTicketKeys([randomBytes(48)]);
        const folder = await mkdtemp(join(tmpdir(), "sessions-"));
        t.after(() => rm(folder, { recursive: true }));
        /** Whether OpenSSL's client, which checks no names, has resumed its session. */
        const isResumed = async (version: string, name: string, ...session: string[]): Promise<boolean> => {
          const child = spawn("openssl", [
            "s_client",
            "-connect",
            `127.0.0.1:${edge.https}`,
            `-${version}`,
            "-servername",
            name,
            ...session,
          ]);
          child.stdin.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
          const said = await text(child.stdout);
          assert.match(said, /^(New|Reused), /m);
          return /^Reused, /m.test(said);
        };
        for (const version of ["tls1_2", "tls1_3"]) {
          const file = join(folder, version);
          await isResumed(version, "www.example.com", "-sess_out", file);
          const again = (name: string): Promise<boolean> => isResumed(version, name, "-sess_in", file);
          assert.equal(await again("www.example.com"), true, version);
          assert.equal(await again("other.test"), false, version);
          assert.equal(await again("example.com"), true, `${version}, a name of the same certificate`);
        }
      },
    );

    test("a client cannot renegotiate, and other clients are not affected", async () => {
      const [edge] = edges;
      const client = connect({ port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca, ...OLD });
      client.on("error", () => undefined);
      const ended = new Promise((resolve) => client.on("close", resolve));
      await once(client, "secureConnect");
      const began = await new Promise<boolean>((resolve) => {
        client.renegotiate({}, (error) => resolve(error === null));
        client.on("error", () => resolve(false)).on("close", () => resolve(false));
      });
      assert.equal(began, false);
      client.destroy();
      await ended;
      assert.match((await visit(edge, OLD)).answer, /here$/);
    });

    test("a client cannot resume a session with a TLS version that its zone refuses by now", async () => {
      const [edge] = edges;
      const { session } = await visit(edge, OLD);
      edge.replica.apply([zoneWith({ min_tls_version: "1.3" })]);
      await assert.rejects(visit(edge, { ...OLD, session }), { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" });
      edge.replica.apply([zoneWith({})]);
    });

    test("rules see the negotiated TLS version and cipher suite", async () => {
      const [edge] = edges;
      const expression = 'cf.tls_version eq "TLSv1.2" and cf.tls_cipher eq "ECDHE-ECDSA-CHACHA20-POLY1305"';
      edge.replica.apply([rulesetOp("tls", "zone", "zone", "http_request_firewall_custom", [{ action: "block", expression }])]);
      const status = async (options: ConnectionOptions): Promise<string> => (await visit(edge, options)).answer.slice(9, 12);
      assert.equal(await status({ ...OLD, ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305" }), "403");
      assert.equal(await status({ ...OLD, ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" }), "200");
      assert.equal(await status(NEW), "200");
      edge.replica.apply([{ kind: "ruleset", id: "tls", value: null }]);
    });

    const u16 = (value: number): string => String.fromCharCode(value >> 8, value & 255);
    const sized = (text: string): string => u16(text.length) + text;

    /** A TLS 1.2 hello that offers these suites. */
    function hello(serverName: string, suites: readonly number[]): string {
      const names = serverName === "" ? "" : u16(0) + sized(sized(`\0${sized(serverName)}`));
      const groups = u16(10) + sized(sized(u16(23))) + u16(11) + sized("\x01\0") + u16(13) + sized(sized(u16(0x0403)));
      const body = `\x03\x03${"r".repeat(32)}\0${sized(suites.map(u16).join(""))}\x01\0${sized(names + groups)}`;
      return `\x16\x03\x01${sized(`\x01\0${sized(body)}`)}`;
    }

    const alert = (number: number): string => `\x15\x03\x03\0\x02\x02${String.fromCharCode(number)}`;

    async function answerTo(bytes: string): Promise<string> {
      const client = rawClient(edges[0].https);
      client.send(bytes);
      return client.closed();
    }

    // 2023-07-01: no standard ever had the draft variants; RFC 7905 defines the others.
    test("SPEC 9: the edge accepts ChaCha20-Poly1305 suites of RFC 7905, and not those of drafts", async () => {
      for (const suites of [[0xcc13], [0xcc14], [0xcc13, 0xcc14, 0xcc15]])
        assert.equal(await answerTo(hello("www.example.com", suites)), alert(40), "handshake_failure");
      const client = rawClient(edges[0].https);
      client.send(hello("www.example.com", [0xcc14, 0xcca9]));
      // ServerHello: version, random, empty or given session id, the suite.
      assert.match(await client.until(/^\x16\x03\x03..\x02/s), /^\x16\x03\x03..\x02...\x03\x03.{32}(?:\0|\x20.{32})\xcc\xa9/s);
      client.socket.destroy();
    });

    test("a ClientHello that has no name, has an unknown name or is invalid gets an alert", async () => {
      const refused = (): number =>
        edges[0].metrics.samples().find(({ name }) => name === "selvedge_edge_tls_names_refused_total")?.value ?? -1;
      const before = refused();
      assert.equal(await answerTo(hello("www.example.org", [0xc02b])), alert(112));
      assert.equal(await answerTo(hello("no name at all", [0xc02b])), alert(112));
      assert.equal(refused(), before + 2);
      assert.equal(await answerTo(hello("", [0xc02b])), alert(109));
      assert.equal(await answerTo("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n"), alert(50));
    });

    test("the edge releases a client that disconnects during a handshake at once", async () => {
      const client = rawClient(edges[0].https);
      client.send(hello("www.example.com", [0xc02b]));
      await client.until(/^\x16/);
      client.socket.end();
      // The handshake limit of Node.js would be longer than this test waits.
      await client.closed();
    });

    test("the edge releases a client that disconnects before its ClientHello is complete at once", async () => {
      const edge = await startEdge([], { socketCalls }, { headTimeoutMs: 3_600_000 });
      try {
        for (const bytes of ["", hello("www.example.com", [0xc02b]).slice(0, 30)]) {
          const client = rawClient(edge.https);
          if (bytes !== "") client.send(bytes);
          client.socket.end();
          assert.equal(await client.closed(), "");
        }
      } finally {
        await edge.close();
      }
    });

    test("the edge keeps connections from one client port to two of its addresses apart", { timeout: 300_000 }, async () => {
      const edge = await startEdge([], { socketCalls, host: "0.0.0.0" });
      try {
        edge.replica.apply([zoneOp("zone", "example.com"), certificateOp(edge)]);
        const from = { localAddress: "127.0.0.1", localPort: await freePort() };
        const first = connectTcp({ port: edge.https, host: "127.0.0.1", ...from });
        await once(first, "connect");
        const second = connectTcp({ port: edge.https, host: "127.0.0.2", ...from });
        await once(second, "connect");
        for (const [socket, servername] of [
          [first, "www.example.com"],
          [second, "example.com"],
        ] as const) {
          const secured = connect({ socket, servername, ca });
          await once(secured, "secureConnect");
          secured.write(`GET / HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
          assert.match(String((await once(secured, "data"))[0]), /^HTTP\/1.1 530 /);
          secured.destroy();
        }
      } finally {
        await edge.close();
      }
    });

    test("property: for any first message, the client gets an alert, a ServerHello or a close, and the edge serves the next client", async () => {
      const good = Buffer.from(hello("www.example.com", [0xc02b, 0xcca9]), "latin1");
      const changes = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
      const messages = fc.sample(fc.tuple(changes, fc.nat(good.length)), { numRuns: 150, seed: 11 }).map(([edits, cut]) => {
        const bytes = Buffer.from(good);
        for (const [at, value] of edits) bytes[at] = value;
        return bytes.toString("latin1", 0, cut % 3 === 0 ? cut : bytes.length);
      });
      await Promise.all(
        messages.map(async (bytes) => {
          const client = rawClient(edges[0].https);
          client.send(bytes);
          const answer = await client.until(/^\x16\x03\x03/);
          client.socket.destroy();
          assert.match(answer, /^(?:$|\x15\x03[\x01\x03]\0\x02\x02|\x16\x03\x03)/, JSON.stringify(bytes));
        }),
      );
      assert.match((await visit(edges[0])).answer, /here$/);
    });

    test("the edge closes a connection in time if the client sends nothing, half a ClientHello, or does not continue its handshake", async () => {
      const whole = hello("www.example.com", [0xc02b]);
      await Promise.all(
        ["", whole.slice(0, 30), whole].map(async (bytes) => {
          const client = rawClient(edges[0].https);
          client.send(bytes);
          assert.equal((await client.closed()).length > 0, bytes === whole);
        }),
      );
    });
  });
}

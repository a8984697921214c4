import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { connectPrimary } from "#control/secondary/primary-client.ts";
import { createRecordBudget } from "#control/secondary/record-budget.ts";
import { systemClock } from "#kernel/clock.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { soaSerial } from "#wire/dns/serial.ts";
import { createTsigKey } from "#wire/dns/tsig.ts";
import { freePort } from "../bench/program.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { startCutRelay } from "../support/cut-relay.ts";
import { askTcp, queryFor } from "../support/dns-client.ts";
import { eventually } from "../support/eventually.ts";
import { startKnotPrimary } from "../support/primaries.ts";
import { roundsOf } from "../support/rounds.ts";
import { KNOT, NSD, type SecondaryProgram, type SharedKey, startSecondary } from "../support/secondary-nameservers.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";
import { lineOf } from "../support/transfers.ts";

// One of two servers is killed in the middle of a zone transfer. The promise: its secondary ends with exactly the zone
// that the primary has acknowledged, and serves no half of it before.

const ZONE = "killed.example";
const TIMEOUT_MS = 600_000;

/** All records of a server, one a line, but for the SOA. */
async function recordsAt(port: number, key?: SharedKey): Promise<readonly string[]> {
  const limits = { idleTimeoutMs: 60_000, totalTimeoutMs: 60_000, bytesMax: 1 << 26, recordsMax: 200_000 };
  const tsig = key ? createTsigKey(key.name, key.algorithm, Buffer.from(key.secret, "base64")) : null;
  const connection = await connectPrimary(
    { limits, budget: createRecordBudget(1 << 28), accountId: "account", primaryAllowed: () => true, nowSeconds: seconds },
    { address: "127.0.0.1", port, key: tsig },
    parseAbsoluteName(ZONE),
    AbortSignal.timeout(TIMEOUT_MS),
  );
  try {
    const transfer = await connection.transfer(null);
    if (transfer.kind !== "full") throw new Error(`a transfer of kind ${transfer.kind}`);
    return transfer.records.map(lineOf).sort();
  } finally {
    connection.close();
  }
}

const seconds = (): number => Math.floor(systemClock.nowMs() / 1000);

/** Null while the server does not serve the zone. */
async function serialAt(port: number): Promise<number | null> {
  const [response] = await askTcp(port, [queryFor(ZONE, TYPE.SOA, 1)], 5_000).catch(() => []);
  const soa = response && decodeMessage(response).answers[0];
  return soa ? soaSerial(soa.rdata) : null;
}

const sameSerial = (ours: number, theirs: number): Promise<void> =>
  eventually(async () => {
    const serial = await serialAt(theirs);
    return serial !== null && serial === (await serialAt(ours));
  }, 100);

async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-killed-transfers-"));
  t.after(() => removeDirectory(directory));
  return directory;
}

/** A server that can be killed and started again with its state and port. */
async function restartable(t: TestContext, directory: string, dnsPort: number) {
  const options = { dataDir: join(directory, "state"), args: ["--dns-port", String(dnsPort)] };
  let server: Selvedge = await startSelvedge(options);
  const { token = "", account_id } = server.ready;
  t.after(() => server.kill());
  return {
    account_id,
    call: (method: string, path: string, body?: object): Promise<any> => succeed(apiCaller(server.ready, token)(method, path, body)),
    restart: async () => {
      await server.kill();
      server = await startSelvedge(options);
    },
    kill: () => server.kill(),
    start: async () => void (server = await startSelvedge(options)),
  };
}

const HOSTS = 2_000;

for (const program of [KNOT, NSD] satisfies readonly SecondaryProgram[])
  test(
    `kill -9 of the primary during AXFR and IXFR: ${program.tool} ends with exactly the acknowledged zone`,
    {
      skip: toolOrSkip(program.tool),
      timeout: TIMEOUT_MS,
    },
    async (t) => {
      const directory = await temporaryDirectory(t);
      const [dnsPort, relayPort, port] = [await freePort(), await freePort(), await freePort()];
      const server = await restartable(t, directory, dnsPort);
      const relay = await startCutRelay(relayPort, dnsPort);
      t.after(() => relay.close());
      const key = {
        name: `key.${ZONE}`,
        algorithm: "hmac-sha256",
        secret: Buffer.from("a secret that two servers share").toString("base64"),
      };
      const account = `/accounts/${server.account_id}/secondary_dns`;
      const { id } = await server.call("POST", "/zones", { name: ZONE, account: { id: server.account_id } });
      await server.call("PATCH", `/zones/${id}`, { plan: { id: "enterprise" } });
      const post = async (from: number, count: number): Promise<void> => {
        const posts = Array.from({ length: count }, (_, i) => ({
          type: "TXT",
          name: `h${from + i}`,
          content: `"${"x".repeat(100)}"`,
          ttl: 300,
        }));
        await server.call("POST", `/zones/${id}/dns_records/batch`, { posts });
      };
      for (let from = 0; from < HOSTS; from += 500) await post(from, 500);
      const tsig = await server.call("POST", `${account}/tsigs`, { name: `${key.name}.`, algo: "hmac-sha256.", secret: key.secret });
      const peer = await server.call("POST", `${account}/peers`, { name: "peer", ip: "127.0.0.1", port, tsig_id: tsig.id });
      await server.call("POST", `/zones/${id}/secondary_dns/outgoing`, { name: `${ZONE}.`, peers: [peer.id] });
      await server.call("POST", `/zones/${id}/secondary_dns/outgoing/enable`, {});

      const spec = { home: join(directory, program.tool), port, primaryPort: relayPort, zone: ZONE, key };
      const announce = (): Promise<unknown> => server.call("POST", `/zones/${id}/secondary_dns/outgoing/force_notify`, {});
      /** All of it is acknowledged: the server has it after its restart. */
      const same = async (): Promise<void> => {
        await announce();
        await sameSerial(dnsPort, port);
        const [ours, theirs] = [await recordsAt(dnsPort, key), await recordsAt(port)];
        assert.equal(theirs.length, ours.length);
        assert.ok(theirs.join("\n") === ours.join("\n"), "the secondary has other records");
      };

      const cut = relay.cutAfter(60_000, server.restart);
      const secondary = await startSecondary(program, spec);
      t.after(() => secondary.stop());
      await cut;
      // It may have asked again already.
      assert.ok((await serialAt(port)) === null || (await recordsAt(port)).length >= HOSTS, "half a zone is served");
      await same();
      for (let round = 0; round < roundsOf(2); round++) {
        const before = await serialAt(port);
        // The differences of hundreds of records, of which some bytes arrive.
        const killed = relay.cutAfter(10_000, server.restart);
        await post(HOSTS + round * 400, 300);
        await killed;
        assert.equal(await serialAt(port), before, "half of a change is served");
        await post(HOSTS + round * 400 + 300, 100);
        await same();
        assert.equal((await recordsAt(port)).filter((line) => line.startsWith("h")).length, HOSTS + (round + 1) * 400);
      }
    },
  );

test(
  "kill -9 of the secondary while it writes a transfer, and a primary that ends during AXFR and IXFR: exactly the primary's zone",
  {
    skip: toolOrSkip("knotd"),
    timeout: TIMEOUT_MS,
  },
  async (t) => {
    const directory = await temporaryDirectory(t);
    const [dnsPort, relayPort, primaryPort] = [await freePort(), await freePort(), await freePort()];
    const hosts = Array.from({ length: 5_000 }, (_, i) => `h${i} 300 TXT "${"x".repeat(50)}"`);
    const head = `$ORIGIN ${ZONE}.\n@ 3600 SOA ns1 hostmaster 7 7200 900 1209600 300\n@ 3600 NS ns1\nns1 300 A 192.0.2.53\n`;
    const options = { directory, zone: ZONE, text: `${head}${hosts.join("\n")}\n`, notifyPort: dnsPort, port: primaryPort };
    let primary = await startKnotPrimary(options);
    t.after(() => primary.stop());
    const relay = await startCutRelay(relayPort, primaryPort);
    t.after(() => relay.close());
    const server = await restartable(t, directory, dnsPort);
    const { id: peer } = await server.call("POST", `/accounts/${server.account_id}/secondary_dns/peers`, {
      name: "primary",
      ip: "127.0.0.1",
      port: relayPort,
      ixfr_enable: true,
    });
    const { id } = await server.call("POST", "/zones", { name: ZONE, account: { id: server.account_id }, type: "secondary" });
    await server.call("PATCH", `/zones/${id}`, { plan: { id: "enterprise" } });
    const force = (): Promise<unknown> => server.call("POST", `/zones/${id}/secondary_dns/force_axfr`, {});
    const same = async (): Promise<void> => {
      await sameSerial(primaryPort, dnsPort);
      const theirs = await recordsAt(primaryPort);
      await eventually(async () => (await written()) === theirs.length - 1, 100);
      const stored = await server.call("GET", `/zones/${id}/dns_records?per_page=50000`);
      const names = (lines: readonly string[]): string => lines.toSorted().join();
      const expected = theirs.map((line) => line.split(" ")[0]!).filter((name) => name !== ZONE);
      assert.ok(names(stored.map(({ name }: { name: string }) => name)) === names(expected), "the secondary has other records");
    };
    const written = async (): Promise<number> => (await server.call("GET", `/zones/${id}/dns_records?per_page=50000`)).length;

    // The primary ends in the middle of the whole zone, and comes back.
    const ended = relay.cutAfter(100_000, async () => {
      await primary.stop();
      primary = await startKnotPrimary(options);
    });
    await server.call("POST", `/zones/${id}/secondary_dns/incoming`, { name: `${ZONE}.`, peers: [peer], auto_refresh_seconds: 86_400 });
    await ended;
    assert.equal(await serialAt(dnsPort), null, "half a zone is served");
    assert.equal(await written(), 0);

    // This server is killed once it has written some of the records.
    await force();
    await eventually(async () => (await written()) >= 500, 20);
    await server.kill();
    await server.start();
    await force();
    await same();

    for (let round = 0; round < roundsOf(2); round++) {
      const before = await serialAt(dnsPort);
      const lost = relay.cutAfter(200, async () => {
        assert.equal(await serialAt(dnsPort), before, "half of a change is served");
        if (round % 2 === 0) await server.restart();
        else {
          await primary.stop();
          primary = await startKnotPrimary({ ...options, text: options.text.replace(" 7 7200", ` ${100 + round} 7200`) });
        }
      });
      await primary.change({ remove: [`h${round} TXT`], add: Array.from({ length: 20 }, (_, i) => `new${round}-${i} 300 A 192.0.2.7`) });
      await lost;
      await force();
      await same();
    }
  },
);

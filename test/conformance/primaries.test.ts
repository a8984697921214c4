import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { openStore } from "#store/database/open.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, type Message } from "#wire/dns/message.ts";
import { soaSerial } from "#wire/dns/serial.ts";
import { controlOver } from "../support/control.ts";
import { askTcp, queryFor } from "../support/dns-client.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { type SharedKey, startBind, startKnotPrimary } from "../support/primaries.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";
import { readUntil } from "../support/eventually.ts";
import { removeDirectory } from "../support/temporary.ts";

const KEY: SharedKey = { name: "transfers.example", secret: Buffer.from("a secret that two servers share").toString("base64") };

const masterFile = (zone: string, serial: number): string => `$TTL 600
$ORIGIN ${zone}.
@ 3600 IN SOA ns1 hostmaster ${serial} 7200 900 1209600 300
@ IN NS ns1
@ IN NS ns2.elsewhere.example.
ns1 IN A 192.0.2.53
www 300 IN A 192.0.2.1
www 300 IN AAAA 2001:db8::1
mail IN MX 10 mx.${zone}.
txt IN TXT "one" "two"
_sip._tcp IN SRV 1 2 5060 sip
odd IN TYPE65400 \\# 3 010203
*.wild IN A 192.0.2.7
sub IN NS ns.sub
ns.sub IN A 192.0.2.99
`;

/** A server of ours. */
function operator(selvedge: Selvedge, token = selvedge.ready.token ?? "") {
  const { account_id, dns } = selvedge.ready;
  const port = Number(dns.split(":").at(-1));
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const res = await api(selvedge, token, method, path, body);
    assert.equal(res.status, 200, `${method} ${path}: ${JSON.stringify(res.body)}`);
    return res.body.result;
  };
  const account = `/accounts/${account_id}/secondary_dns`;
  return {
    port,
    call,
    account,
    account_id,
    /** Has a zone fetched from a primary on this machine. */
    secondary: async (name: string, peer: { readonly port: number; readonly ixfr_enable: boolean }, tsig?: SharedKey) => {
      const key = tsig && (await call("POST", `${account}/tsigs`, { name: `${tsig.name}.`, algo: "hmac-sha256.", secret: tsig.secret }));
      const { id: peerId } = await call("POST", `${account}/peers`, {
        name: "primary",
        ip: "127.0.0.1",
        ...peer,
        ...(key && { tsig_id: key.id }),
      });
      const { id } = await call("POST", "/zones", { name, account: { id: account_id }, type: "secondary" });
      const path = `/zones/${id}`;
      await call("POST", `${path}/secondary_dns/incoming`, { name: `${name}.`, peers: [peerId], auto_refresh_seconds: 86_400 });
      return { id, path, peerId, status: () => call("GET", `${path}/secondary_dns/incoming`) };
    },
    ask: async (name: string, type: number): Promise<Message> =>
      decodeMessage((await askTcp(port, [queryFor(name, type, 1)]))[0] as Buffer),
  };
}

const serialIn = ({ answers }: Message): number | undefined =>
  answers.filter(({ type }) => type === TYPE.SOA).map(({ rdata }) => soaSerial(rdata))[0];
const addresses = ({ answers }: Message): string[] => answers.filter(({ type }) => type === TYPE.A).map(({ rdata }) => rdata.join("."));

async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-primary-"));
  t.after(() => removeDirectory(directory));
  return directory;
}

describe("zones of external primaries", () => {
  let selvedge: Selvedge;
  let ours: ReturnType<typeof operator>;
  before(async () => {
    selvedge = await startSelvedge({ env: { SELVEDGE_API_RATE_LIMIT_REQUESTS: "0" } });
    ours = operator(selvedge);
  });
  after(() => selvedge?.stop());
  /** The API shows a fetched zone some milliseconds before it is on disk, and only then does the nameserver get it. */
  const untilServed = (zone: string): Promise<Message> =>
    readUntil(
      () => ours.ask(zone, TYPE.SOA),
      (message) => message.answers.length === 1,
    );

  test(
    "BIND with TSIG: the zone transfers once, then its changes by NOTIFY and IXFR",
    { skip: toolOrSkip("named") || toolOrSkip("nsupdate") },
    async (t) => {
      const zone = "bind.example";
      const bind = await startBind(
        { directory: await temporaryDirectory(t), zone, text: masterFile(zone, 2026), notifyPort: ours.port },
        KEY,
      );
      t.after(() => bind.stop());
      const { path, status } = await ours.secondary(zone, { port: bind.port, ixfr_enable: true }, KEY);
      await readUntil(status, ({ status: is }) => is === "ok");
      await untilServed(zone);
      const names: readonly (readonly [string, number])[] = [
        [zone, TYPE.SOA],
        [zone, TYPE.NS],
        [`www.${zone}`, TYPE.A],
        [`www.${zone}`, TYPE.AAAA],
        [`mail.${zone}`, TYPE.MX],
        [`txt.${zone}`, 16],
        [`_sip._tcp.${zone}`, TYPE.SRV],
        [`odd.${zone}`, 65_400],
        [`any.wild.${zone}`, TYPE.A],
        [`below.sub.${zone}`, TYPE.A],
        [`nothing.${zone}`, TYPE.A],
      ];
      for (const [name, type] of names) {
        const theirs = decodeMessage((await askTcp(bind.port, [queryFor(name, type, 1)]))[0] as Buffer);
        const mine = await ours.ask(name, type);
        for (const section of ["answers", "authorities"] as const) {
          const lines = (message: Message): string[] =>
            message[section]
              .map(
                (record) => `${record.name.toString("latin1")} ${record.type} ${record.ttl} ${Buffer.from(record.rdata).toString("hex")}`,
              )
              .toSorted();
          assert.deepEqual(lines(mine), lines(theirs), `${name} ${type} ${section}`);
        }
        assert.equal(mine.flags & 0xf, theirs.flags & 0xf, name);
      }
      const forbidden = await api(selvedge, selvedge.ready.token ?? "", "POST", `${path}/dns_records`, {
        type: "A",
        name: "x",
        content: "192.0.2.1",
      });
      assert.deepEqual([forbidden.status, forbidden.body.errors[0].code], [400, 10420]);

      await bind.change({ add: [`new.${zone} 300 A 192.0.2.8`], remove: [`www.${zone} AAAA`] });
      await readUntil(
        () => ours.ask(`new.${zone}`, TYPE.A),
        (message) => addresses(message)[0] === "192.0.2.8",
      );
      assert.equal((await ours.ask(`www.${zone}`, TYPE.AAAA)).answers.length, 0);
      assert.equal(serialIn(await ours.ask(zone, TYPE.SOA)), 2027);
      const { transfer_method, soa_serial, last_error } = await status();
      assert.deepEqual([transfer_method, soa_serial, last_error], ["IXFR", 2027, null]);
      const records = await ours.call("GET", `${path}/dns_records?name=new.${zone}`);
      assert.deepEqual(
        records.map(({ content, ttl }: { content: string; ttl: number }) => [content, ttl]),
        [["192.0.2.8", 300]],
      );
      const [newest] = await ours.call("GET", `${path}/dns_versions`);
      assert.deepEqual([newest.kind, newest.created, newest.deleted], ["transfer", 1, 1]);
    },
  );

  test("BIND refuses a transfer under the wrong secret, and the status shows it", { skip: toolOrSkip("named") }, async (t) => {
    const zone = "wrong-key.example";
    const bind = await startBind({ directory: await temporaryDirectory(t), zone, text: masterFile(zone, 1), notifyPort: ours.port }, KEY);
    t.after(() => bind.stop());
    const wrong = { ...KEY, secret: Buffer.from("a secret that only one of them has").toString("base64") };
    const { status } = await ours.secondary(zone, { port: bind.port, ixfr_enable: false }, wrong);
    const { last_error, soa_serial } = await readUntil(status, ({ status: is }) => is === "failing");
    assert.match(last_error, /TSIG signature wrong|BADSIG|NOTAUTH/);
    assert.equal(soa_serial, 0);
    assert.equal((await ours.ask(`www.${zone}`, TYPE.A)).flags & 0xf, 2, "SERVFAIL: there is nothing yet");
  });

  test("Knot by address: the zone and its changes arrive by AXFR and NOTIFY", { skip: toolOrSkip("knotd") }, async (t) => {
    const zone = "knot.example";
    const knot = await startKnotPrimary({ directory: await temporaryDirectory(t), zone, text: masterFile(zone, 7), notifyPort: ours.port });
    t.after(() => knot.stop());
    const { status } = await ours.secondary(zone, { port: knot.port, ixfr_enable: false });
    await readUntil(status, ({ status: is }) => is === "ok");
    await untilServed(zone);
    assert.deepEqual(addresses(await ours.ask(`www.${zone}`, TYPE.A)), ["192.0.2.1"]);
    await knot.change({ add: ["www 300 A 192.0.2.44"] });
    await readUntil(
      () => ours.ask(`www.${zone}`, TYPE.A),
      (message) => addresses(message).length === 2,
    );
    const { transfer_method, soa_serial } = await status();
    assert.deepEqual([transfer_method, soa_serial], ["AXFR", 8]);
  });

  test(
    "SPEC 2.5: an override proxies a name of Knot's zone, also after Knot changes its address",
    { skip: toolOrSkip("knotd") },
    async (t) => {
      const zone = "proxied.example";
      const origin = createServer((req, res) => res.end(`origin of ${req.headers.host}`)).listen(0, "127.0.0.1");
      await once(origin, "listening");
      t.after(() => origin.close());
      const file = masterFile(zone, 7).replace("www 300 IN A 192.0.2.1", "www 300 IN A 127.0.0.2");
      const knot = await startKnotPrimary({ directory: await temporaryDirectory(t), zone, text: file, notifyPort: ours.port });
      t.after(() => knot.stop());
      const { path, status } = await ours.secondary(zone, { port: knot.port, ixfr_enable: true });
      await readUntil(status, ({ status: is }) => is === "ok");
      await ours.call("PUT", `${path}/rulesets/phases/http_request_origin/entrypoint`, {
        rules: [{ action: "route", action_parameters: { origin: { port: (origin.address() as AddressInfo).port } }, expression: "true" }],
      });
      const [record] = await ours.call("GET", `${path}/dns_records?name=www.${zone}&type=A`);
      await ours.call("PATCH", `${path}/dns_settings`, { secondary_overrides: true });
      await ours.call("PATCH", `${path}/dns_records/${record.id}`, { proxied: true });
      assert.deepEqual(addresses(await ours.ask(`www.${zone}`, TYPE.A)), ["127.0.0.1"], "the edge's address");
      await knot.change({ add: ["www 300 A 127.0.0.1", "new 300 A 192.0.2.8"], remove: ["www 300 A 127.0.0.2"] });
      await readUntil(
        () => ours.ask(`new.${zone}`, TYPE.A),
        (message) => addresses(message).length === 1,
      );
      assert.deepEqual(addresses(await ours.ask(`www.${zone}`, TYPE.A)), ["127.0.0.1"]);
      const visit = request(selvedge.ready.http, { headers: { host: `www.${zone}` }, timeout: 10_000 }).end();
      const [response] = (await once(visit, "response")) as [IncomingMessage];
      assert.equal(await text(response), `origin of www.${zone}`);
    },
  );

  test("our own primary at another operator: differences arrive under TSIG as soon as they are announced", async (t) => {
    const other = await startSelvedge({ env: { SELVEDGE_API_RATE_LIMIT_REQUESTS: "0" } });
    t.after(() => other.stop());
    const theirs = operator(other);
    const zone = "ours.example";
    const tsig = await theirs.call("POST", `${theirs.account}/tsigs`, { name: KEY.name, algo: "hmac-sha256.", secret: KEY.secret });
    const { id: peerId } = await theirs.call("POST", `${theirs.account}/peers`, {
      name: "secondary",
      ip: "127.0.0.1",
      port: ours.port,
      tsig_id: tsig.id,
    });
    const { id } = await theirs.call("POST", "/zones", { name: zone, account: { id: theirs.account_id } });
    const path = `/zones/${id}`;
    await theirs.call("POST", `${path}/dns_records`, { type: "A", name: "www", content: "192.0.2.1", ttl: 300 });
    for (let i = 0; i < 20; i++)
      await theirs.call("POST", `${path}/dns_records`, { type: "TXT", name: `t${i}`, content: `"text ${i}"`, ttl: 300 });
    await theirs.call("POST", `${path}/secondary_dns/outgoing`, { name: zone, peers: [peerId] });
    await theirs.call("POST", `${path}/secondary_dns/outgoing/enable`);
    const { status, path: copyPath } = await ours.secondary(zone, { port: theirs.port, ixfr_enable: true }, KEY);
    const { transfer_method: first } = await readUntil(status, ({ status: is }) => is === "ok");
    assert.equal(first, "AXFR");
    await theirs.call("POST", `${path}/dns_records`, { type: "A", name: "new", content: "192.0.2.2", ttl: 300 });
    await readUntil(
      () => ours.ask(`new.${zone}`, TYPE.A),
      (message) => addresses(message)[0] === "192.0.2.2",
    );
    const { transfer_method, soa_serial } = await status();
    assert.deepEqual([transfer_method, soa_serial], ["IXFR", serialIn(await theirs.ask(zone, TYPE.SOA))]);
    const shown = async (of: ReturnType<typeof operator>, at: string): Promise<string[]> =>
      (await of.call("GET", `${at}/dns_records?per_page=100`))
        .map(({ name, type, ttl, content }: Record<string, unknown>) => `${name} ${ttl} ${type} ${content}`)
        .toSorted();
    assert.deepEqual(await shown(ours, copyPath), await shown(theirs, path));
  });
});

test(
  "while Knot is down the zone is retried and then expires to SERVFAIL, and it is served again once Knot is back",
  { skip: toolOrSkip("knotd") },
  async (t) => {
    const zone = "away.example";
    const directory = await temporaryDirectory(t);
    const clock = fixedClock(systemClock.nowMs());
    const store = await openStore({ url: `sqlite:${join(directory, "store.db")}`, clock });
    t.after(() => store.close());
    const { control, account_id, call } = await controlOver(store, { clock, secondaryLimits: { idleTimeoutMs: 2_000 } });
    t.after(() => control.secondaries.close());
    const replica = createMemoryReplica([]);
    const nameserver = createNameserver({
      ...NAMESERVER_PARTS,
      replica,
      metrics: createMetrics(),
      config: nameserverConfig(),
      onNotified: (zoneId, from) => void control.secondaries.notified(zoneId, from),
    });
    const { tcp: port } = await nameserver.listen();
    t.after(() => nameserver.close(0));
    let rev = 0;
    /** Takes the time, does what is due then, and asks the nameserver. */
    const after = async (seconds: number): Promise<Message> => {
      // Knot announces its start; a write of that check would seem to have waited all the time that passes here.
      await control.secondaries.idle();
      clock.advance(seconds * 1000);
      await control.secondaries.startDue();
      await control.secondaries.idle();
      for (const set of (await store.changesSince(rev, 10_000)) ?? []) {
        replica.apply(set.changes as readonly Op[]);
        rev = set.rev;
      }
      return decodeMessage((await askTcp(port, [queryFor(`www.${zone}`, TYPE.A, 1)]))[0] as Buffer);
    };

    const options = { directory, zone, text: masterFile(zone, 7), notifyPort: port };
    const first = await startKnotPrimary(options);
    const { id } = await control.zones.create(call(), { name: zone, account: { id: account_id }, type: "secondary" });
    const peer = await control.transfers.peers.create(call(), account_id, { name: "knot", ip: "127.0.0.1", port: first.port });
    const ref = { id, name: zone, account_id };
    await control.transfers.incoming.create(call(), ref, { peers: [peer.id] });
    const status = async () => (await control.transfers.incoming.get(ref)).status;
    assert.deepEqual(addresses(await after(0)), ["192.0.2.1"]);
    await first.stop();

    // masterFile: refresh 7200, retry 900, expire 1209600.
    assert.deepEqual([addresses(await after(7200)), await status()], [["192.0.2.1"], "failing"]);
    assert.match((await control.transfers.incoming.get(ref)).last_error ?? "", /sent no DNS response: nothing listens there/);
    assert.deepEqual(addresses(await after(900)), ["192.0.2.1"], "tried again");
    assert.deepEqual(addresses(await after(1_209_600 - 7200 - 900 - 60)), ["192.0.2.1"], "a minute before it expires");
    const expired = await after(60);
    assert.deepEqual([expired.flags & 0xf, expired.answers.length, await status()], [2, 0, "expired"]);

    const second = await startKnotPrimary({ ...options, port: first.port });
    t.after(() => second.stop());
    assert.deepEqual([addresses(await after(900)), await status()], [["192.0.2.1"], "ok"]);
  },
);

test(
  "a killed server serves the fetched zone after its next start, and knows the time of the fetch",
  { skip: toolOrSkip("knotd") },
  async (t) => {
    const zone = "kept.example";
    const directory = await temporaryDirectory(t);
    const options = { dataDir: join(directory, "data") };
    const first = await startSelvedge(options);
    const before = operator(first);
    const knot = await startKnotPrimary({ directory, zone, text: masterFile(zone, 7), notifyPort: before.port });
    const { status, path } = await before.secondary(zone, { port: knot.port, ixfr_enable: false });
    const fetched = await readUntil(status, ({ status: is }) => is === "ok");
    await first.kill();
    await knot.stop();
    const second = await startSelvedge(options);
    t.after(() => second.stop());
    const again = operator(second, first.ready.token);
    const answer = await again.ask(`www.${zone}`, TYPE.A);
    assert.deepEqual([answer.flags & 0xf, addresses(answer)], [0, ["192.0.2.1"]]);
    assert.deepEqual(await again.call("GET", `${path}/secondary_dns/incoming`), fetched, "nothing was due");
  },
);

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Op } from "#snapshot/entries.ts";
import { runClient } from "../support/client.ts";
import { startNsd } from "../support/peer-nameservers.ts";
import { anchorText, type SignedServer, startSignedServer } from "../support/signed-server.ts";
import { toolOrSkip } from "../support/tools.ts";
import { startValidator } from "../support/validator.ts";

// Results of other validators for answers, negative ones and whole zones.

const skipWithout = (...tools: readonly string[]): string | false => tools.map(toolOrSkip).find((reason) => reason !== false) ?? false;

/** Question, and whether its answer is data. */
const SECURE: readonly (readonly [name: string, type: string, found: boolean])[] = [
  ["signed.test", "SOA", true],
  ["signed.test", "DNSKEY", true],
  ["signed.test", "CDS", true],
  ["signed.test", "CDNSKEY", true],
  ["signed.test", "A", false],
  ["mail.signed.test", "AAAA", true],
  ["mail.signed.test", "MX", false],
  ["www.signed.test", "A", true],
  ["broken.signed.test", "A", false],
  ["nothing.signed.test", "A", false],
  ["deeply.nothing.signed.test", "TXT", false],
  ["proxied.signed.test", "A", true],
  ["proxied.signed.test", "TXT", false],
  ["deep.ent.signed.test", "TXT", false],
  ["x.wild.signed.test", "TXT", true],
  ["x.wild.signed.test", "A", false],
  ["x.y.wild.signed.test", "TXT", true],
  ["www.moved.signed.test", "A", true],
  ["odd\\000\\046name.signed.test", "TXT", true],
  ["capitals.signed.test", "SRV", true],
  ["unknown.signed.test", "TYPE65280", true],
  ["large.signed.test", "TXT", true],
  ["child.signed.test", "DS", true],
  ["plain.signed.test", "DS", false],
  ["www.child.signed.test", "A", true],
  ["gone.child.signed.test", "A", false],
];
const INSECURE: typeof SECURE = [
  ["www.plain.signed.test", "A", true],
  ["gone.plain.signed.test", "A", false],
];

interface World {
  readonly server: SignedServer;
  readonly directory: string;
  /** Anchors as Unbound, drill and ldns read them. */
  readonly anchor: string;
}

async function world(t: TestContext, more: readonly Op[] = []): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-dnssec-"));
  const server = await startSignedServer({}, more);
  t.after(async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });
  const anchor = join(directory, "anchor");
  await writeFile(anchor, anchorText("signed.test", server.key));
  return { server, directory, anchor };
}

/** A zone below the signed one that has no delegation; only a server that has both can answer for it. */
const UNWRITTEN: typeof SECURE = [
  ["www.unwritten.signed.test", "A", true],
  ["gone.unwritten.signed.test", "A", false],
];

/** Asks every question of a fresh Unbound. `port` is where signed.test is served, its children are ours. */
async function assertTrusted(t: TestContext, { server, directory }: World, port: number): Promise<void> {
  const zones = { "signed.test.": [port], "child.signed.test.": [server.port], "plain.signed.test.": [server.port] };
  const validator = await startValidator({ directory, zones, anchor: anchorText("signed.test", server.key) });
  t.after(() => validator.stop());
  for (const [rows, secure] of [
    [SECURE, true],
    [port === server.port ? [...INSECURE, ...UNWRITTEN] : INSECURE, false],
  ] as const)
    for (const [name, type, found] of rows) {
      const { status, authentic, records } = await validator.ask(name, type);
      assert.ok(["NOERROR", "NXDOMAIN"].includes(status), `${name} ${type}: ${status}`);
      assert.equal(authentic, secure, `${name} ${type} is authentic`);
      const last = records.findLast((line) => !/\s(?:CNAME|DNAME)\s/.test(line));
      assert.equal(last !== undefined, found, `${name} ${type} has data`);
    }
}

test("Unbound validates answers of every kind", { skip: skipWithout("unbound", "dig") }, async (t) => {
  const made = await world(t);
  await assertTrusted(t, made, made.server.port);
});

test("delv validates answers of every kind", { skip: skipWithout("delv") }, async (t) => {
  const { server, directory } = await world(t);
  const anchors = join(directory, "delv");
  await writeFile(anchors, `trust-anchors { signed.test. static-key 257 3 13 "${server.key.public_key}"; };\n`);
  const delv = (name: string, type: string): Promise<string> =>
    runClient("delv", ["@127.0.0.1", "-p", String(server.port), "-a", anchors, "+root=signed.test", name, type]);
  for (const [name, type] of SECURE) assert.match(await delv(name, type), /^; (?:negative response, )?fully validated/m, `${name} ${type}`);
  for (const [name, type] of [...INSECURE, ...UNWRITTEN])
    assert.match(await delv(name, type), /^; (?:negative response, )?unsigned answer/m, `${name} ${type}`);
});

test("drill chases signatures to the key it trusts", { skip: skipWithout("drill") }, async (t) => {
  const { server, anchor } = await world(t);
  const drill = (...args: readonly string[]): Promise<string> =>
    runClient("drill", [...args, "-k", anchor, "@127.0.0.1", "-p", String(server.port)]);
  for (const [name, type, found] of [
    ["mail.signed.test", "A", true],
    ["www.child.signed.test", "A", true],
    ["x.wild.signed.test", "TXT", true],
    ["nothing.signed.test", "A", false],
    ["mail.signed.test", "MX", false],
  ] as const) {
    const chased = await drill("-S", name, type);
    assert.match(chased, /;; Chase successful/, `${name} ${type}\n${chased}`);
    assert.equal(/Existence denied/.test(chased), !found, `${name} ${type}`);
  }
  assert.match(await drill("-D", "-b", "1232", "mail.signed.test", "A"), /VALIDATED by id = \d+, owner = signed\.test\./);
  assert.match(await drill("-D", "-b", "1232", "nothing.signed.test", "A"), /Existence denied for nothing\.signed\.test\./);
});

test("DNSViz reports no error or warning for the zone", { skip: skipWithout("dnsviz") }, async (t) => {
  const { server, directory } = await world(t);
  const probe = join(directory, "probe.json");
  const servers = ["signed.test+", "child.signed.test", "plain.signed.test"].flatMap((zone) => [
    "-x",
    `${zone}:ns1.signed.test=127.0.0.1:${server.port}`,
  ]);
  const names = ["mail", "nothing", "x.wild", "deep.ent", "www.child", "www.plain"].map((name) => `${name}.signed.test`);
  await runClient("dnsviz", ["probe", "-A", "-a", "signed.test", ...servers, "-o", probe, ...names]);
  const found = JSON.parse(await runClient("dnsviz", ["grok", "-r", probe, "-l", "info"])) as unknown;
  const { statuses, complaints } = readGrok(found);
  assert.deepEqual(complaints, []);
  const signatures = statuses.filter(([path]) => path.includes("/rrsig/"));
  assert.ok(signatures.length >= 20, `${signatures.length} signatures seen`);
  assert.deepEqual(
    signatures.filter(([, status]) => status !== "VALID"),
    [],
  );
  const delegation = (zone: string): string | undefined => statuses.find(([path]) => path === `/${zone}./delegation`)?.[1];
  assert.deepEqual([delegation("child.signed.test"), delegation("plain.signed.test")], ["SECURE", "INSECURE"]);
});

/** Statuses by where they stand in what `dnsviz grok` prints, and what it holds against the zone. */
function readGrok(found: unknown): { statuses: [path: string, status: string][]; complaints: string[] } {
  const statuses: [string, string][] = [];
  const complaints: string[] = [];
  const walk = (path: string, value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (key === "status" && typeof member === "string") statuses.push([path, member]);
      else if (key === "errors" || key === "warnings")
        complaints.push(
          // The servers of the test are on the loopback address.
          ...(member as { code: string; description: string }[])
            .filter(({ code }) => code !== "NS_NAME_PRIVATE_IP")
            .map(({ description }) => `${path}: ${description}`),
        );
      else walk(`${path}/${key}`, member);
    }
  };
  walk("", found);
  return { statuses, complaints };
}

const TRANSFERS: Op = {
  kind: "transfer",
  id: "parent",
  value: { outgoing: { peers: [{ ip: "127.0.0.1", port: 53, tsig: null }], acl: [] }, incoming: null },
};

/** The zone as other servers get it. */
const transferred = ({ server }: World): Promise<string> =>
  runClient("dig", ["@127.0.0.1", "-p", String(server.port), "+onesoa", "+nocomments", "+nocmd", "+nostats", "signed.test", "AXFR"]);

test("ldns-verify-zone finds a transferred zone complete", { skip: skipWithout("ldns-verify-zone", "dig") }, async (t) => {
  const made = await world(t, [TRANSFERS]);
  const zone = await transferred(made);
  const file = join(made.directory, "signed.zone");
  await writeFile(file, zone);
  assert.match(await runClient("ldns-verify-zone", ["-k", made.anchor, "-V", "3", file]), /Zone is verified and complete/);
  // It does see what is missing.
  await writeFile(file, zone.replace(/^mail\.signed\.test\.\s.*\sNSEC\s.*\n/m, ""));
  await assert.rejects(runClient("ldns-verify-zone", ["-k", made.anchor, "-V", "3", file]));
});

test("Unbound validates answers of a server that got the zone by transfer", { skip: skipWithout("unbound", "nsd", "dig") }, async (t) => {
  const made = await world(t, [TRANSFERS]);
  const nsd = await startNsd(made.directory, { "signed.test.": await transferred(made) });
  t.after(() => nsd.stop());
  await assertTrusted(t, made, nsd.port);
});

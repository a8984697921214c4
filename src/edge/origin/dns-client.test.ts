import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Answer, decode, encode, type Packet } from "dns-packet";
import { createHostsFile } from "./hosts-file.ts";
import { createLookUp, type LookUp } from "./dns-client.ts";

const a = (name: string, data: string, ttl: number): Answer => ({ type: "A", name, data, ttl });
const aaaa = (name: string, data: string, ttl: number): Answer => ({ type: "AAAA", name, data, ttl });
const SERVFAIL = 2;
const NXDOMAIN = 3;

/** The server's answers by name and type. A number is a response code; queries that are missing here get no answer. */
const ANSWERS: Readonly<Record<string, readonly Answer[] | number>> = {
  "both.example A": [a("both.example", "192.0.2.1", 300), a("both.example", "192.0.2.2", 60)],
  "both.example AAAA": [aaaa("both.example", "2001:db8::1", 120)],
  "alias.example A": [{ type: "CNAME", name: "alias.example", data: "end.example", ttl: 20 }, a("end.example", "192.0.2.3", 300)],
  "alias.example AAAA": [{ type: "CNAME", name: "alias.example", data: "end.example", ttl: 20 }],
  "none.example A": NXDOMAIN,
  "none.example AAAA": NXDOMAIN,
  "empty.example A": [],
  "empty.example AAAA": [],
  "half.example A": [a("half.example", "192.0.2.4", 300)],
  "half.example AAAA": SERVFAIL,
  "broken.example A": SERVFAIL,
  "broken.example AAAA": [],
  "many.example A": Array.from({ length: 25 }, (_, i) => a("many.example", `192.0.2.${i}`, 300)),
  "many.example AAAA": [],
};

const socket = createSocket("udp4");
let directory: string;
let lookUp: LookUp;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), "selvedge-hosts-"));
  await writeFile(
    join(directory, "hosts"),
    "# comment\n127.0.0.1 localhost\n192.0.2.9\tLocal.Example other # both.example\n::9 local.example\nbad line\n",
  );
  socket.on("message", (message, from) => {
    const query = decode(message);
    const { name, type } = query.questions![0]!;
    const answer = ANSWERS[`${name} ${type}`];
    if (answer === undefined) return;
    const flags = 0x180 | (typeof answer === "number" ? answer : 0);
    const packet: Packet = {
      type: "response",
      id: query.id!,
      flags,
      questions: query.questions!,
      answers: typeof answer === "number" ? [] : [...answer],
    };
    socket.send(encode(packet), from.port, from.address);
  });
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done));
  lookUp = createLookUp({
    hosts: createHostsFile(join(directory, "hosts")),
    servers: [`127.0.0.1:${(socket.address() as AddressInfo).port}`],
    timeoutMs: 2_000,
  });
});
after(async () => {
  socket.close();
  await rm(directory, { recursive: true });
});

test("a look-up gives the addresses of both families with the lowest TTL, and follows aliases", async () => {
  assert.deepEqual(await lookUp("both.example"), { addresses: ["192.0.2.1", "192.0.2.2", "2001:db8::1"], ttlSeconds: 60 });
  assert.deepEqual((await lookUp("alias.example")).addresses, ["192.0.2.3"]);
  assert.equal((await lookUp("many.example")).addresses.length, 25);
});

test("a missing name and a name without addresses give an empty answer", async () => {
  assert.deepEqual(await lookUp("none.example"), { addresses: [], ttlSeconds: 0 });
  assert.deepEqual(await lookUp("empty.example"), { addresses: [], ttlSeconds: 0 });
});

test("a look-up succeeds with one family, and fails if no server answers for certain", async () => {
  assert.deepEqual((await lookUp("half.example")).addresses, ["192.0.2.4"]);
  await assert.rejects(lookUp("broken.example"));
});

test("a look-up fails if the server does not answer in time", async () => {
  await assert.rejects(lookUp("silent.example"));
});

test("a look-up reads the hosts file first, and reads it again after a change", async () => {
  assert.deepEqual((await lookUp("local.example")).addresses, ["192.0.2.9", "::9"]);
  assert.deepEqual((await lookUp("other")).addresses, ["192.0.2.9"]);
  await writeFile(join(directory, "hosts"), "192.0.2.77 both.example");
  assert.deepEqual((await lookUp("both.example")).addresses, ["192.0.2.77"]);
  await rm(join(directory, "hosts"));
  assert.equal((await lookUp("both.example")).addresses.length, 3);
});

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Op } from "#snapshot/entries.ts";
import { runClient } from "../support/client.ts";
import { anchorText, startSignedServer } from "../support/signed-server.ts";
import { toolOrSkip } from "../support/tools.ts";
import { transferOp } from "../support/transfers.ts";
import { startValidator } from "../support/validator.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";

// Control changes the addresses of edges while nameservers run.

const edges = (...addresses: readonly string[]): Op => ({ kind: "edge_addresses", id: "edge", value: { addresses } });
const NO_EDGES: Op = { kind: "edge_addresses", id: "edge", value: null };
const SECONDARY = { ip: "127.0.0.1", port: 53, tsig: null };
const UNSIGNED: readonly Op[] = [
  zoneOp("unsigned", "unsigned.test"),
  serialOp("unsigned", 7),
  transferOp("unsigned", [SECONDARY]),
  ...Array.from({ length: 30 }, (_, i) => recordOp("unsigned", `host${i}.unsigned.test`, "A", `198.51.100.${i}`)),
  recordOp("unsigned", "www.unsigned.test", "A", "192.0.2.1", { proxied: true }),
];

const skip = toolOrSkip("unbound") || toolOrSkip("dig");

test("answers for proxied names have the edges' addresses of the moment, signed, and Unbound trusts them", { skip }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-edges-"));
  t.after(() => rm(directory, { recursive: true }));
  const server = await startSignedServer({ edgeProtocols: { alpn: ["h2", "http/1.1"], port: 443 } });
  t.after(server.close);
  const options = { directory, zones: { "signed.test.": [server.port] }, anchor: anchorText("signed.test", server.key) };
  const ask = async (type: string): Promise<readonly string[]> => {
    const direct = await runClient("dig", ["@127.0.0.1", "-p", String(server.port), "proxied.signed.test", type, "+short", "+time=30"]);
    const validator = await startValidator(options);
    try {
      const { status, authentic, records } = await validator.ask("proxied.signed.test", type);
      assert.deepEqual([status, authentic], ["NOERROR", true]);
      const found = records.map((line) => line.split(/\s+/).slice(4).join(" ")).sort();
      assert.deepEqual(direct.split("\n").filter(Boolean).sort(), found);
      return found;
    } finally {
      await validator.stop();
    }
  };
  assert.deepEqual([await ask("A"), await ask("AAAA")], [["203.0.113.7"], ["2001:db8::7"]]);
  server.replica.apply([edges("203.0.113.8", "203.0.113.9", "2001:db8::8")]);
  assert.deepEqual([await ask("A"), await ask("AAAA")], [["203.0.113.8", "203.0.113.9"], ["2001:db8::8"]]);
  server.replica.apply([edges("203.0.113.9")]);
  assert.deepEqual([await ask("A"), await ask("AAAA")], [["203.0.113.9"], []]);
  server.replica.apply([NO_EDGES]);
  assert.deepEqual([await ask("A"), await ask("AAAA")], [["203.0.113.7"], ["2001:db8::7"]]);
});

test("a secondary that asks for the differences gets the edges' new addresses too", { skip }, async (t) => {
  const server = await startSignedServer({}, UNSIGNED);
  t.after(server.close);
  const differences = async (serial: number): Promise<readonly string[]> => {
    const port = String(server.port);
    const text = await runClient("dig", [
      "@127.0.0.1",
      "-p",
      port,
      "unsigned.test",
      `IXFR=${serial}`,
      "+time=30",
      "+onesoa",
      "+noall",
      "+answer",
    ]);
    return text.split("\n").flatMap((line) => (/^www\S*\s+\d+\s+IN\s+A+\s+(\S+)/.exec(line) ?? []).slice(1));
  };
  server.replica.apply([recordOp("unsigned", "new.unsigned.test", "A", "192.0.2.2"), serialOp("unsigned", 8)]);
  assert.deepEqual(await differences(7), [], "nothing about unchanged names");
  server.replica.apply([edges("203.0.113.9")]);
  server.replica.apply([serialOp("unsigned", 9)]);
  assert.deepEqual([await differences(7), await differences(8)], [["203.0.113.9"], ["203.0.113.9"]]);
  server.replica.apply([recordOp("unsigned", "newer.unsigned.test", "A", "192.0.2.3"), serialOp("unsigned", 10)]);
  assert.deepEqual([await differences(8), await differences(9)], [["203.0.113.9"], []]);
});

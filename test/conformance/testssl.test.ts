import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { startEdge } from "#edge/testing/edge.ts";
import { zoneOp } from "#edge/testing/entries.ts";
import { systemClock } from "#kernel/clock.ts";
import type { Op } from "#snapshot/entries.ts";
import { toolOrSkip } from "../support/tools.ts";

const run = promisify(execFile);
/** It computes for twelve seconds, and a busy machine takes its time over them. */
const TIMEOUT_MS = 180_000;

interface Finding {
  readonly id: string;
  readonly severity: string;
  readonly finding: string;
}

// The rest of what testssl asks takes minutes: vulnerabilities of other stacks, and the handshakes of forty browsers.
test(
  "testssl finds only current protocols and ciphers, in the edge's order, and no vulnerability",
  { skip: toolOrSkip("testssl") },
  async (t) => {
    const edge = await startEdge([]);
    t.after(() => edge.close());
    const hosts = ["www.example.com"];
    const issued = await createLocalCa({ root: await createRoot(systemClock), clock: systemClock }).issue(hosts);
    const private_key = edge.sealer.seal(issued.privateKey, "certificate:c");
    edge.replica.apply([
      zoneOp("zone", "example.com"),
      {
        kind: "certificate",
        id: "c",
        value: { zone_id: "zone", hosts, chain: issued.chain, private_key, not_after: issued.notAfter },
      } as Op,
    ]);
    const directory = await mkdtemp(join(tmpdir(), "selvedge-testssl-"));
    t.after(() => rm(directory, { recursive: true }));
    const report = join(directory, "report.json");
    const asked = ["--protocols", "--std", "--server-preference"];
    const args = [
      "--quiet",
      "--warnings",
      "batch",
      "--color",
      "0",
      "--ip",
      "127.0.0.1",
      "--jsonfile",
      report,
      ...asked,
      `www.example.com:${edge.https}`,
    ];
    // It ends with the number of its findings.
    await run("testssl", args, { timeout: TIMEOUT_MS }).catch((error: { killed?: boolean }) => assert.ok(error.killed !== true, "in time"));
    const findings = JSON.parse(await readFile(report, "utf8")) as Finding[];
    const of = (id: string): string | undefined => findings.find((finding) => finding.id === id)?.finding;
    // Its own machine may lack an engine, which is none of ours.
    const objections = findings.filter(({ id, severity }) => !["OK", "INFO"].includes(severity) && id !== "engine_problem");
    assert.deepEqual(objections, []);
    assert.deepEqual([of("SSLv2"), of("SSLv3"), of("TLS1"), of("TLS1_1")], Array(4).fill("not offered"));
    assert.deepEqual([of("TLS1_2"), of("TLS1_3")], ["offered", "offered with final"]);
    assert.deepEqual([of("cipherlist_AVERAGE"), of("cipherlist_STRONG"), of("cipher_order")], ["not offered", "offered", "server"]);
    assert.equal(of("cipherorder_TLSv1_2"), "ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-ECDSA-CHACHA20-POLY1305");
  },
);

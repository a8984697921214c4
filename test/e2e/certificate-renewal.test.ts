import assert from "node:assert/strict";
import { connect, type TLSSocket } from "node:tls";
import { startEdge } from "#edge/testing/edge.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { renewCertificates } from "#jobs/renew-certificates.ts";
import type { Op } from "#snapshot/entries.ts";
import { controlOver } from "../support/control.ts";
import { storeTest } from "../support/store.ts";

const DAY_MS = 86_400_000;

/** Opens a connection; the certificate was made by another clock than the machine's. */
const open = (port: number): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", servername: "www.renewed.example", rejectUnauthorized: false }, () =>
      resolve(socket),
    );
    socket.on("error", reject);
  });

/** The status of one more request over a connection. */
const ask = (socket: TLSSocket): Promise<string> =>
  new Promise((resolve, reject) => {
    socket.once("data", (bytes) => resolve(bytes.toString("latin1", 9, 12)));
    socket.once("close", () => reject(new Error("the connection is gone")));
    socket.write("GET / HTTP/1.1\r\nHost: www.renewed.example\r\n\r\n");
  });

storeTest("new connections get the renewed certificate, and open connections continue", async ({ store }) => {
  const clock = fixedClock(systemClock.nowMs());
  const { control, sealer, account_id, call } = await controlOver(store, { clock });
  const edge = await startEdge([]);
  const rev = async (): Promise<number> => store.revision();
  /** The planes' changes, opened with the edge's own key. */
  const pass = async (from: number): Promise<void> => {
    for (const { changes } of (await store.changesSince(from, 10)) ?? []) {
      const ops = changes as readonly Op[];
      edge.replica.apply(
        ops.map((op) => {
          if (op.kind !== "certificate" || op.value === null) return op;
          const context = `certificate:${op.id}`;
          return { ...op, value: { ...op.value, private_key: edge.sealer.seal(sealer.open(op.value.private_key, context), context) } };
        }),
      );
    }
  };
  try {
    let at = await rev();
    await control.zones.create(call(), { name: "renewed.example", account: { id: account_id } });
    await pass(at);
    const old = await open(edge.https);
    assert.equal(await ask(old), "530");
    const { fingerprint256 } = old.getPeerCertificate();

    at = await rev();
    clock.advance(61 * DAY_MS);
    assert.deepEqual(await renewCertificates(control).run(), { renewed: 2 });
    await pass(at);
    assert.equal(await ask(old), "530");
    const fresh = await open(edge.https);
    assert.notEqual(fresh.getPeerCertificate().fingerprint256, fingerprint256);
    assert.equal(fresh.getPeerX509Certificate()?.checkHost("www.renewed.example"), "*.renewed.example");
    assert.equal(await ask(fresh), "530");
    for (const socket of [old, fresh]) socket.destroy();
  } finally {
    await edge.close();
  }
});

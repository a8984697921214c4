import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { createLocalCa, createRoot, type LocalCa } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import type { Op } from "#snapshot/entries.ts";
import { httpOrigin, routeOp, siteOps, startEdge, type TestEdge, type TestOrigin, TLS_WAYS } from "#edge/testing/edge.ts";
import { zoneOp } from "#edge/testing/entries.ts";
import { eventually } from "../../test/support/eventually.ts";

const run = promisify(execFile);
for (const [way, socketCalls] of TLS_WAYS) {
  describe(way, () => {
    let directory: string;
    let origin: TestOrigin;
    let edge: TestEdge;
    let rootPem: string;
    let ca: LocalCa;

    async function certificateOp(id: string, hosts: readonly string[], zone_id = "zone"): Promise<Op> {
      const issued = await ca.issue(hosts);
      return {
        kind: "certificate",
        id,
        value: {
          zone_id,
          hosts,
          chain: issued.chain,
          private_key: edge.sealer.seal(issued.privateKey, `certificate:${id}`),
          not_after: issued.notAfter,
        },
      };
    }

    before(async () => {
      const root = await createRoot(systemClock);
      rootPem = root.certificate;
      ca = createLocalCa({ root, clock: systemClock });
      origin = await httpOrigin((req, res) => res.end(JSON.stringify(req.headers)));
      edge = await startEdge(siteOps(origin.port), { socketCalls });
      edge.replica.apply([await certificateOp("c1", ["example.com", "*.example.com"])]);
      directory = await mkdtemp(join(tmpdir(), "selvedge-edge-"));
      await writeFile(join(directory, "ca.pem"), rootPem);
    });
    after(async () => {
      await edge.close();
      origin.close();
      await rm(directory, { recursive: true });
    });

    const handshake = (options: ConnectionOptions): Promise<TLSSocket> =>
      new Promise((resolve, reject) => {
        const socket = connect({ port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca: rootPem, ...options }, () =>
          resolve(socket),
        );
        socket.on("error", reject);
      });

    test("curl fetches the site over HTTPS with the local authority's root", async () => {
      const { stdout } = await run("curl", [
        "-sS",
        "--max-time",
        "60",
        "--cacert",
        join(directory, "ca.pem"),
        "--resolve",
        `www.example.com:${edge.https}:127.0.0.1`,
        `https://www.example.com:${edge.https}/path?q`,
      ]);
      const headers = JSON.parse(stdout) as Record<string, string>;
      assert.equal(headers["x-forwarded-proto"], "https");
      assert.equal(headers["svc-visitor"], '{"scheme":"https"}');
      assert.equal(headers["host"], `www.example.com:${edge.https}`);
      await eventually(() => edge.requests.some((row) => row.scheme === "https" && row.path === "/path" && row.query === "q"));
    });

    test("large bodies pass in both directions over HTTPS", async () => {
      const echo = await httpOrigin((req, res) => void req.pipe(res));
      const body = join(directory, "body");
      await writeFile(body, Buffer.alloc(5_000_000, "0123456789"));
      edge.replica.apply([routeOp(echo.port)]);
      const name = `www.example.com:${edge.https}`;
      const args = [
        "-sS",
        "--max-time",
        "120",
        "--cacert",
        join(directory, "ca.pem"),
        "--resolve",
        `${name}:127.0.0.1`,
        "-o",
        `${body}.back`,
      ];
      try {
        for (const chunked of [[], ["-H", "Transfer-Encoding: chunked"]]) {
          await run("curl", [...args, ...chunked, "--data-binary", `@${body}`, `https://${name}/`]);
          assert.ok((await readFile(body)).equals(await readFile(`${body}.back`)));
        }
      } finally {
        edge.replica.apply([routeOp(origin.port)]);
        echo.close();
      }
    });

    test("the server name selects the certificate, and an unknown or missing name gets none", async () => {
      const socket = await handshake({});
      assert.equal(socket.authorized, true);
      assert.equal(socket.getProtocol(), "TLSv1.3");
      socket.destroy();
      (await handshake({ servername: "example.com" })).destroy();
      for (const servername of ["www.example.org", "a.b.example.com"])
        await assert.rejects(handshake({ servername }), { code: "ERR_SSL_TLSV1_UNRECOGNIZED_NAME" }, servername);
      await assert.rejects(handshake({ servername: "" }), /alert number 109/);
    });

    test("the edge accepts TLS 1.2 only with AEAD suites and forward secrecy, and nothing older", async () => {
      const cipher = (await handshake({ maxVersion: "TLSv1.2" })).getCipher();
      assert.match(cipher.name, /^ECDHE-ECDSA-.*(?:GCM|POLY1305)/);
      (await handshake({ maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305" })).destroy();
      for (const ciphers of ["ECDHE-ECDSA-AES128-SHA256", "AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-SHA"])
        await assert.rejects(handshake({ maxVersion: "TLSv1.2", ciphers: `${ciphers}:@SECLEVEL=0` }), ciphers);
      await assert.rejects(handshake({ minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" }));
    });

    test("the edge serves certificates as the snapshot has them, and a key that cannot be decrypted costs only its own name", async () => {
      await assert.rejects(handshake({ servername: "other.example.org" }));
      edge.replica.apply([await certificateOp("c2", ["other.example.com.test"])]);
      await assert.rejects(handshake({ servername: "other.example.com.test" }), "no zone serves the name");
      edge.replica.apply([zoneOp("zone-2", "example.org")]);
      edge.replica.apply([await certificateOp("c2", ["other.example.org"], "zone-2")]);
      (await handshake({ servername: "other.example.org" })).destroy();
      edge.replica.apply([{ kind: "certificate", id: "c2", value: null }]);
      await assert.rejects(handshake({ servername: "other.example.org" }));
      const moved = await certificateOp("c3", ["moved.example.org"], "zone-2");
      edge.replica.apply([{ ...moved, id: "c4" } as Op]);
      await assert.rejects(handshake({ servername: "moved.example.org" }));
      (await handshake({})).destroy();
      assert.deepEqual(edge.errors, []);
    });
  });
}

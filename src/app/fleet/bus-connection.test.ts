import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createUser } from "@nats-io/nkeys";
import type { Log } from "#app/log/log.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { startNats } from "../../../test/support/nats.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { keepConnected } from "./bus-connection.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("openssl");

for (const { names, isTrusted } of [
  { names: "IP:127.0.0.1", isTrusted: true },
  { names: "DNS:localhost,IP:127.0.0.2", isTrusted: false },
])
  test(`a bus that is named by its address is ${isTrusted ? "" : "not "}trusted with a certificate for ${names}`, { skip }, async (t) => {
    let certificate = "";
    const nats = await startNats((directory) => {
      mkdirSync(directory, { recursive: true });
      certificate = join(directory, "bus.pem");
      const key = join(directory, "bus.key");
      execFileSync(
        "openssl",
        [
          ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=bus"],
          ...["-addext", `subjectAltName=${names}`, "-keyout", key, "-out", certificate],
        ],
        { stdio: "ignore" },
      );
      return `jetstream { store_dir: "${directory}/jetstream" }\ntls { cert_file: "${certificate}", key_file: "${key}" }`;
    });
    t.after(() => nats.stop());
    const reasons: string[] = [];
    const log = { info() {}, warn: ({ reason }: { readonly reason: string }) => reasons.push(reason) } as unknown as Log;
    const bus = keepConnected({
      ...{ url: nats.url.replace("nats:", "tls:"), ca: certificate, jwt: "", seed: createUser().getSeed(), name: "test" },
      ...{ log, onConnected: () => undefined },
    });
    t.after(() => bus.close());
    await eventually(() => bus.current() !== null || reasons.length > 0);
    assert.deepEqual(
      [bus.current() !== null, reasons.filter((reason) => /127\.0\.0\.1/.test(reason)).length],
      isTrusted ? [true, 0] : [false, 1],
    );
  });

test("a bus that answers and lets nobody in is not one that is away", { skip }, async (t) => {
  const nats = await startNats((directory) => `jetstream { store_dir: "${directory}/jetstream" }\nauthorization { token: "another" }`);
  t.after(() => nats.stop());
  const lines: string[] = [];
  const log = {
    info: (_: object, line: string) => lines.push(line),
    warn: (_: object, line: string) => lines.push(line),
  } as unknown as Log;
  let nowMs = 0;
  const deps = { ca: "", jwt: "", seed: createUser().getSeed(), name: "fra-1", log, clock: { monotonicMs: () => nowMs } };
  const refused = keepConnected({ ...deps, url: nats.url, onConnected: () => undefined });
  t.after(() => refused.close());
  await eventually(() => refused.refusedMs() !== null);
  nowMs = 600_000;
  assert.equal(refused.refusedMs(), 600_000);
  await nats.kill();
  await eventually(() => refused.refusedMs() === null);
  assert.ok(lines.some((line) => /does not let fra-1 in: it was removed/.test(line)));
});

test("the log says that the bus is away, and that it is back", { skip }, async (t) => {
  const nats = await startNats();
  t.after(() => nats.stop());
  const lines: string[] = [];
  const log = {
    info: (_: object, line: string) => lines.push(line),
    warn: (_: object, line: string) => lines.push(line),
  } as unknown as Log;
  const bus = keepConnected({
    ...{ url: nats.url, ca: "", jwt: "", seed: createUser().getSeed(), name: "fra-1", log, onConnected: () => undefined },
  });
  t.after(() => bus.close());
  await eventually(() => bus.current() !== null);
  await nats.kill();
  await eventually(() => lines.includes("the bus is away; trying to connect again"));
  await nats.start();
  await eventually(() => lines.includes("connected to the bus again"));
  assert.deepEqual(lines, ["connected to the bus", "the bus is away; trying to connect again", "connected to the bus again"]);
});

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

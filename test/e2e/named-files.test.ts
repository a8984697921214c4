import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CONFIG_ROWS, type ConfigKeyName, variableName } from "#app/config/config-schema.ts";
import { api, startSelvedge } from "../support/selvedge.ts";

/** Settings without which a server does not read the file of a key. */
const BESIDE: Partial<Record<ConfigKeyName, Readonly<Record<string, string>>>> = {
  "bus.ca": { "bus.url": "tls://127.0.0.1:1" },
  "counters.ca": { "counters.url": "rediss://127.0.0.1:1/0" },
  "events.ca": { "events.url": "https://127.0.0.1:1" },
  "sign_in.oidc_client_secret_file": {
    ...{ "sign_in.oidc_issuer": "https://id.example.com", "sign_in.oidc_client_id": "selvedge" },
    "api.dashboard_url": "https://selvedge.example.com",
  },
  "tls.certificate": { "tls.key": "/dev/null" },
  "backup.passphrase_file": { "backup.every_hours": "1", "backup.directory": "/nonexistent" },
};

/** Files that are read when a sign-in or a backup needs them. */
const READ_LATER: ReadonlySet<ConfigKeyName> = new Set(["sign_in.oidc_client_secret_file", "backup.passphrase_file"]);

test("no file that the configuration names holds a server if it is a pipe", { timeout: 600_000 }, async (t) => {
  const keys = Array.from(CONFIG_ROWS).flatMap(([key, { doc }]) =>
    /^(?:PEM file|TOML file|File with|GeoIP databases)/.test(doc) ? [key] : [],
  );
  assert.ok(keys.length >= 10, `only ${keys.length} keys name files: ${keys.join(", ")}`);
  const directory = mkdtempSync(join(tmpdir(), "selvedge-named-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const certificate = join(directory, "cert.pem");
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"];
  execFileSync("openssl", [...request, "-out", certificate, "-keyout", join(directory, "key.pem")], { stdio: "pipe" });
  for (const key of keys) {
    const settings = { ...BESIDE[key], ...(key === "tls.key" ? { "tls.certificate": certificate } : {}), [key]: pipe };
    const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [variableName(name), value]));
    const started = await startSelvedge({ env, timeoutMs: 60_000 }).catch((error: Error) => error);
    if (started instanceof Error) {
      assert.match(started.message, /ended with 1 before it was ready/, key);
      assert.ok(started.message.includes(pipe), `${key}: ${started.message}`);
      continue;
    }
    const verified = await api(started, started.ready.token ?? "", "GET", "/user/tokens/verify");
    await started.stop();
    assert.equal(verified.status, 200, key);
    assert.ok(READ_LATER.has(key) || started.log().includes(pipe), `${key} was not read: ${started.log()}`);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { unsafeBinds } from "./bind-safety.ts";
import { loadConfig } from "./config.ts";

const reasons = (flags: string[], bootstrapTokenUnchanged: boolean): readonly string[] =>
  unsafeBinds(loadConfig({ argv: flags, env: {}, readFile: () => "" }), bootstrapTokenUnchanged);
const TLS = ["--tls-certificate", "cert.pem", "--tls-key", "key.pem"];

test("loopback binds are always allowed", () => {
  for (const host of ["127.0.0.1", "127.53.0.1", "::1", "localhost"]) {
    assert.deepEqual(reasons(["--api-host", host, "--dns-host", host], true), []);
  }
});

test("a public listener needs a new token, and TLS where credentials are sent", () => {
  const cases: readonly [flags: string[], unchanged: boolean, problems: RegExp[]][] = [
    [["--api-host", "0.0.0.0"], true, [/bootstrap token/, /TLS is off/]],
    [["--api-host", "0.0.0.0"], false, [/api\.host: TLS is off/]],
    [["--gateway-host", "192.0.2.1"], false, [/gateway\.host: TLS is off/]],
    [["--api-host", "::", ...TLS], true, [/bootstrap token/]],
    [["--api-host", "::", ...TLS], false, []],
    [["--dns-host", "192.0.2.1", "--edge-host", "192.0.2.1"], true, [/dns\.host, edge\.host: the bootstrap token/]],
    [["--dns-host", "192.0.2.1"], false, []],
    [["--api-host", "127.0.0.1", "--api-host", "192.0.2.1:443"], false, [/api\.host: TLS is off/]],
    [["--api-host", "0.0.0.0", "--insecure-bind"], true, []],
  ];
  for (const [flags, unchanged, problems] of cases) {
    const found = reasons(flags, unchanged);
    assert.equal(found.length, problems.length, `${flags.join(" ")}: ${found.join("; ")}`);
    problems.forEach((problem, i) => assert.match(found[i] ?? "", problem));
  }
});

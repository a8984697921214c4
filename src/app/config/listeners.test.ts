import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "./config.ts";
import { listenFailure } from "./listeners.ts";

const configOf = (...argv: readonly string[]) => loadConfig({ argv, env: {}, readFile: () => "" });
const systemError = (code: string, place: object = {}): Error =>
  Object.assign(new Error(`listen ${code}`), { code, syscall: "listen", ...place });

test("an unavailable port is reported with its listener and its flag", () => {
  const config = configOf("--http-port", "80", "--dns-host", "::1", "--gateway-host", "localhost");
  const cases: readonly (readonly [Error, RegExp])[] = [
    [
      systemError("EADDRINUSE", { address: "127.0.0.1", port: 8780 }),
      /^the management API cannot listen on 127\.0\.0\.1:8780 .*--api-port/,
    ],
    [systemError("EACCES", { address: "127.0.0.1", port: 80 }), /^the edge \(HTTP\) .*127\.0\.0\.1:80 .*CAP_NET_BIND_SERVICE.*--http-port/],
    [systemError("EADDRNOTAVAIL", { syscall: "bind" }), /^the nameserver cannot listen on \[::1\]:5300 .*no such address.*--dns-host/],
    [systemError("EADDRINUSE", { address: "::1", port: 8781 }), /^the AI gateway .*localhost:8781/],
  ];
  for (const [error, text] of cases) assert.match(listenFailure(error, config) ?? "", text);
});

test("other errors are not reported as listener errors", () => {
  const config = configOf();
  assert.equal(listenFailure(systemError("EADDRINUSE", { address: "127.0.0.1", port: 1 }), config), undefined);
  assert.equal(listenFailure(systemError("EADDRINUSE", { syscall: "connect" }), config), undefined);
  assert.equal(listenFailure(new Error("no"), config), undefined);
});

test("two listeners on one port are a configuration error", () => {
  assert.throws(() => configOf("--http-port", "9000", "--https-port", "9000"), {
    problems: ["the edge (HTTP) and the edge (HTTPS) cannot share port 9000: change --http-port or --https-port"],
  });
  assert.throws(() => configOf("--dns-port", "853", "--dns-tls-port", "853"), { name: "ConfigError" });
  configOf("--http-port", "0", "--https-port", "0");
  configOf("--dns-host", "127.0.0.2", "--dns-port", "8080");
});

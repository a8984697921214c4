import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "./config.ts";
import { LISTEN_PLACES } from "./listen-places.ts";
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

test("a listener has one address or several, each with its own port if it names one", () => {
  const file = `[dns]\nhost = ["192.0.2.1:53", "[2001:db8::1]:53", "::1"]\n[edge]\nhost = ["0.0.0.0", "::"]\naddresses = ["192.0.2.1"]\n`;
  const config = loadConfig({
    argv: ["--config", "f", "--dns-tls-port=0"],
    env: { SELVEDGE_OPS_HOST: "127.0.0.1, ::1" },
    readFile: () => file,
  });
  assert.deepEqual(LISTEN_PLACES.dns(config), [
    { host: "192.0.2.1", port: 53 },
    { host: "2001:db8::1", port: 53 },
    { host: "::1", port: 5300 },
  ]);
  assert.deepEqual(
    LISTEN_PLACES.dot(config).map(({ port }) => port),
    [0, 0, 0],
  );
  const edge = [
    { host: "0.0.0.0", port: 8080 },
    { host: "::", port: 8080, onlyIpv6: true },
  ];
  assert.deepEqual(LISTEN_PLACES.http(config), edge);
  assert.deepEqual(
    LISTEN_PLACES.ops(config).map(({ host }) => host),
    ["127.0.0.1", "::1"],
  );
  assert.deepEqual(LISTEN_PLACES.api(configOf("--api-host", "::")), [{ host: "::", port: 8780 }]);
  for (const flags of [
    ["--edge-host=192.0.2.1:80"],
    ["--dns-host=[192.0.2.1]:53"],
    ["--dns-host=::1", "--dns-host=::1"],
    ["--api-host=1.2.3.4:70000"],
    ["--api-host="],
  ])
    assert.throws(() => configOf(...flags), { name: "ConfigError" }, flags.join(" "));
});

test("two listeners on one port are a configuration error", () => {
  assert.throws(() => configOf("--http-port", "9000", "--https-port", "9000"), {
    problems: ["the edge (HTTP) and the edge (HTTPS) cannot share port 9000: change --http-port or --https-port"],
  });
  assert.throws(() => configOf("--dns-port", "853", "--dns-tls-port", "853"), { name: "ConfigError" });
  assert.throws(() => configOf("--api-host", "127.0.0.1", "--api-host", "127.0.0.1:8780"), {
    problems: ["the management API has 127.0.0.1 with port 8780 twice: change --api-host"],
  });
  configOf("--http-port", "0", "--https-port", "0");
  configOf("--dns-host", "127.0.0.2", "--dns-port", "8080");
});

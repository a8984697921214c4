import { test } from "node:test";
import assert from "node:assert/strict";
import { fc } from "../../../test/support/property.ts";
import { PROVIDERS } from "#gateway/providers/providers.ts";
import { type ConfigInput, ConfigError, databaseUrl, loadConfig, resolveConfig } from "./config.ts";
import { CONFIG_PARTS } from "./config-parts.ts";
import { CONFIG_ROWS, defaultFlagName, flagName, FORMER_KEYS, variableName } from "./config-schema.ts";
import { createTomlLocator } from "./toml-lines.ts";

const input = (parts: Partial<Omit<ConfigInput, "readFile">> & { file?: string }): ConfigInput => ({
  argv: [...(parts.file === undefined ? [] : ["--config", "selvedge.toml"]), ...(parts.argv ?? [])],
  env: parts.env ?? {},
  readFile: () => parts.file ?? "",
});

function problemsOf(parts: Parameters<typeof input>[0]): readonly string[] {
  try {
    loadConfig(input(parts));
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
  return [];
}

test("without any source every key has its default", () => {
  const config = loadConfig(input({}));
  assert.equal(config.data, "./.selvedge");
  assert.deepEqual(
    [config.api.port, config.gateway.port, config.dns.port, config.http.port, config.https.port],
    [8780, 8781, 5300, 8080, 8443],
  );
  assert.equal(config.vendor.prefix, "svc");
  assert.equal(databaseUrl(config), "sqlite:.selvedge/control.db");
});

test("flags win over environment, environment over file, file over default", () => {
  const file = "[api]\nport = 1\n[gateway]\nport = 1\n[dns]\nport = 1\n";
  const env = { SELVEDGE_API_PORT: "2", SELVEDGE_GATEWAY_PORT: "2" };
  const { config, values } = resolveConfig(input({ file, env, argv: ["--api-port", "3"] }));
  assert.deepEqual([config.api.port, config.gateway.port, config.dns.port, config.http.port], [3, 2, 1, 8080]);
  const origins = Object.fromEntries(values.map((value) => [value.key, `${value.source} ${value.origin}`]));
  assert.equal(origins["api.port"], "flag --api-port");
  assert.equal(origins["gateway.port"], "environment SELVEDGE_GATEWAY_PORT");
  assert.equal(origins["dns.port"], "file selvedge.toml:6");
  assert.equal(origins["http.port"], "default ");
});

test("file, environment and flags give the same value for each type", () => {
  const expected = {
    day: "2024-11-30",
    negotiate: true,
    addresses: ["192.0.2.1", "2001:db8::1"],
    networks: ["10.0.0.0/8"],
    level: "debug",
  };
  const read = (parts: Parameters<typeof input>[0]): unknown => {
    const config = loadConfig(input(parts));
    return {
      day: config.deprecations.as_of,
      negotiate: config.deprecations.negotiate,
      addresses: config.edge.addresses,
      networks: config.edge.origin_allow,
      level: config.log.level,
    };
  };
  const file =
    '[deprecations]\nas_of = 2024-11-30\nnegotiate = true\n[edge]\naddresses = ["192.0.2.1", "2001:db8::1"]\norigin_allow = ["10.0.0.0/8"]\n[log]\nlevel = "debug"\n';
  assert.deepEqual(read({ file }), expected);
  const env = {
    SELVEDGE_DEPRECATIONS_AS_OF: "2024-11-30",
    SELVEDGE_DEPRECATIONS_NEGOTIATE: "yes",
    SELVEDGE_EDGE_ADDRESSES: "192.0.2.1, 2001:db8::1",
    SELVEDGE_EDGE_ORIGIN_ALLOW: "10.0.0.0/8",
    SELVEDGE_LOG_LEVEL: "debug",
  };
  assert.deepEqual(read({ env }), expected);
  const argv = [
    "--deprecations-as-of=2024-11-30",
    "--deprecations-negotiate",
    "--edge-addresses",
    "192.0.2.1,2001:db8::1",
    "--edge-origin-allow",
    "10.0.0.0/8",
    "--log-level",
    "debug",
  ];
  assert.deepEqual(read({ argv }), expected);
});

test("flags of a list add up, and otherwise the last flag wins", () => {
  const { dns, api } = loadConfig(
    input({
      argv: [
        "--dns-name-servers",
        "ns1.example.net",
        "--api-port",
        "1",
        "--dns-name-servers=ns2.example.net,ns3.example.net",
        "--api-port",
        "2",
      ],
    }),
  );
  assert.deepEqual([dns.name_servers, api.port], [["ns1.example.net", "ns2.example.net", "ns3.example.net"], 2]);
  const env = { SELVEDGE_DNS_NAME_SERVERS: "ns9.example.net" };
  assert.deepEqual(loadConfig(input({ env, argv: ["--dns-name-servers", "ns1.example.net"] })).dns.name_servers, ["ns1.example.net"]);
});

test("providers of all sources are combined, and the last definition of a name wins", () => {
  const file = '[gateway.providers]\nopenai = "http://127.0.0.1:1/v1"\n';
  const base = (parts: Parameters<typeof input>[0]): string | undefined => loadConfig(input(parts)).gateway.providers["openai"];
  assert.equal(base({ file }), "http://127.0.0.1:1/v1");
  assert.equal(base({ file, env: { SELVEDGE_GATEWAY_PROVIDERS: "openai=http://127.0.0.1:2/v1" } }), "http://127.0.0.1:2/v1");
  assert.equal(
    base({ file, argv: ["--provider", "openai=http://127.0.0.1:3/v1", "--provider=openai=http://127.0.0.1:4/v1"] }),
    "http://127.0.0.1:4/v1",
  );
  const problems = problemsOf({
    file: '[gateway.providers]\nopanai = "http://127.0.0.1:1"\n',
    argv: ["--provider", "zzz=http://127.0.0.1:1"],
  });
  assert.deepEqual(problems, [
    'gateway.providers: unknown provider "opanai"; did you mean "openai"?',
    `gateway.providers: unknown provider "zzz"; known: ${[...PROVIDERS.keys()].join(", ")}`,
  ]);
  assert.equal(problemsOf({ argv: ["--provider", "openai"] }).length, 1);
  assert.equal(problemsOf({ argv: ["--provider", "openai=ftp://127.0.0.1"] }).length, 1);
});

test("an error about names with values says how a file writes them", () => {
  const keys = ["log.levels", "gateway.providers", "certificates.directories", "certificates.bindings"];
  for (const key of keys)
    for (const written of ['"edge=warn"', '["edge=warn"]']) {
      const [problem] = problemsOf({ file: `${key} = ${written}\n` });
      assert.ok(problem?.endsWith(`. In a file it is a table: NAME = "VALUE" below [${key}]`), problem);
    }
  assert.doesNotMatch(problemsOf({ argv: ["--provider", "openai"] }).join(), /table/);
});

test("errors in the file name file and line", () => {
  assert.deepEqual(problemsOf({ file: '# comment\n[api]\nhost = "127.0.0.1"\nport = "many"\n' }), [
    'selvedge.toml:4: api.port must be a port number from 0 (any free port) to 65535, not "many"',
  ]);
  assert.deepEqual(problemsOf({ file: "api.prot = 1\n\n[gatway]\nport = 2\n" }), [
    'selvedge.toml:1: unknown key "api.prot"; did you mean "api.port"?',
    'selvedge.toml:3: unknown key "gatway"; did you mean "gateway"?',
  ]);
  const [syntax] = problemsOf({ file: "[api]\nport = \n" });
  assert.match(syntax ?? "", /^selvedge\.toml:2: \S/);
});

test("unknown flags and mistyped variables are refused with a suggestion", () => {
  assert.deepEqual(problemsOf({ argv: ["--api-prot", "1"] }), ["unknown flag --api-prot; did you mean --api-port?"]);
  assert.deepEqual(problemsOf({ argv: ["--api-port"] }), ["--api-port needs a value"]);
  assert.deepEqual(problemsOf({ argv: ["stray"] }), ['unexpected argument "stray"']);
  assert.deepEqual(problemsOf({ env: { SELVEDGE_API_PROT: "1" } }), [
    "unknown variable SELVEDGE_API_PROT; did you mean SELVEDGE_API_PORT?",
  ]);
  assert.deepEqual(problemsOf({ env: { SELVEDGE_SERVICE_HOST: "10.0.0.1" } }), [], "variables of an orchestrator are not ours");
});

test("a key's former name works in each source, with a warning that names the current one", () => {
  const sources = [
    {
      parts: { file: "[edge]\nhead_timeout_seconds = 7\n" },
      from: "selvedge.toml:2: edge.head_timeout_seconds",
      to: "edge.header_timeout_seconds",
    },
    {
      parts: { env: { SELVEDGE_EDGE_HEAD_TIMEOUT_SECONDS: "7" } },
      from: "SELVEDGE_EDGE_HEAD_TIMEOUT_SECONDS",
      to: "SELVEDGE_EDGE_HEADER_TIMEOUT_SECONDS",
    },
    { parts: { argv: ["--edge-head-timeout-seconds", "7"] }, from: "--edge-head-timeout-seconds", to: "--edge-header-timeout-seconds" },
  ];
  for (const { parts, from, to } of sources) {
    const { config, warnings } = resolveConfig(input(parts));
    assert.equal(config.edge.header_timeout_seconds, 7);
    assert.equal(warnings.length, 1);
    assert.ok(warnings[0]?.startsWith(`${from} is the former name of ${to}: use ${to}`), warnings[0]);
  }
  const file = '[edge]\nplace_databases = ["/a.mmdb"]\n';
  assert.deepEqual(resolveConfig(input({ file, env: { SELVEDGE_EDGE_GEOIP_DATABASES: "/b.mmdb" } })).config.edge.geoip_databases, [
    "/b.mmdb",
  ]);
});

test("a former name beside the current one in the same source is refused", () => {
  assert.deepEqual(problemsOf({ file: "[rules]\nversions_kept = 7\nversions_max = 8\n" }), [
    "selvedge.toml:2: rules.versions_kept is the former name of rules.versions_max, which is set as well: remove rules.versions_kept",
  ]);
  assert.deepEqual(problemsOf({ argv: ["--rules-versions-max", "8", "--rules-versions-kept", "7"] }), [
    "--rules-versions-kept is the former name of --rules-versions-max, which is set as well: remove --rules-versions-kept",
  ]);
});

test("no key, flag or variable has the former name of another", () => {
  const present = [...CONFIG_ROWS.keys()];
  for (const former of FORMER_KEYS.keys()) {
    assert.ok(!present.some((key) => key === former || flagName(key) === defaultFlagName(former)), former);
    assert.ok(!present.some((key) => variableName(key) === variableName(former)), former);
  }
});

test("all problems are reported at once", () => {
  const problems = problemsOf({
    file: "nonsense = 1\n",
    env: { SELVEDGE_DNS_WORKERS: "0" },
    argv: ["--vendor-prefix", "Not-A-Label", "--tls-key", "key.pem"],
  });
  assert.equal(problems.length, 4);
  assert.match(problems[1] ?? "", /^SELVEDGE_DNS_WORKERS must be a whole number from 1 to 256, not 0$/);
});

test("no printed value and no message contains a secret", () => {
  const canary = "canary-1f3870be274f6c49b3e31a0c";
  const env = {
    SELVEDGE_BOOTSTRAP_TOKEN: canary,
    SELVEDGE_DATABASE_URL: `postgres://user:${canary}@127.0.0.1/db`,
    SELVEDGE_GATEWAY_PROVIDERS: `openai=http://user:${canary}@127.0.0.1:1/v1`,
  };
  const { config, values } = resolveConfig(input({ env }));
  assert.equal(config.bootstrap.token, canary);
  assert.ok(!JSON.stringify(values).includes(canary));
  assert.match(JSON.stringify(values), /postgres:\/\/\[secret\]@127\.0\.0\.1\/db/);
  const problems = problemsOf({
    env: { SELVEDGE_BOOTSTRAP_TOKEN: `${canary} with spaces`, SELVEDGE_DATABASE_URL: `mysql://u:${canary}@h/d` },
  });
  assert.equal(problems.length, 2);
  assert.ok(!problems.join().includes(canary));
});

test("the error names a missing configuration file", () => {
  const readFile = (): string => {
    throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
  };
  assert.throws(
    () => loadConfig({ argv: ["--config", "absent.toml"], env: {}, readFile }),
    /cannot read the configuration file absent\.toml: the file does not exist/,
  );
});

test("the result is frozen throughout", () => {
  const config = loadConfig(input({}));
  for (const part of [config, config.api, config.gateway.providers, config.edge.addresses]) assert.ok(Object.isFrozen(part));
});

test("flags and variables of different keys never clash", () => {
  const keys = [...CONFIG_ROWS.keys()];
  assert.equal(new Set(keys.map(flagName)).size, keys.length);
  assert.equal(new Set(keys.map(variableName)).size, keys.length);
});

test("each key is listed once, under its subject", () => {
  assert.deepEqual([...CONFIG_PARTS.values()].flat().toSorted(), [...CONFIG_ROWS.keys()].toSorted());
});

test("a key's line is found after comments, strings and sections of any kind", () => {
  const text = 'a = """\nb = 1\n"""\n["x.y".z]\nk = 1 # [not]\n[[list]]\n"quoted key" = 2\n';
  const line = createTomlLocator(text);
  assert.deepEqual([line(["a"]), line(["b"]), line(["x.y", "z", "k"]), line(["list", "quoted key"])], [1, 1, 5, 7]);
});

test("property: any text gives a configuration or a ConfigError", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom("[", "]", "=", '"', "a", "p", "i", ".", "\n", "1", "#", "{", "}") })),
      (file) => {
        try {
          loadConfig(input({ file }));
        } catch (error) {
          assert.ok(error instanceof ConfigError, String(error));
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("resolvers are addresses, with or without a port", () => {
  const resolvers = (text: string) => loadConfig(input({ argv: ["--dns-scan-resolvers", text] })).dns.scan_resolvers;
  assert.deepEqual(resolvers("192.0.2.53, 2001:db8::53, 127.0.0.1:5300, [::1]:5300"), [
    "192.0.2.53",
    "2001:db8::53",
    "127.0.0.1:5300",
    "[::1]:5300",
  ]);
  for (const wrong of ["ns.example", "192.0.2.53:", "192.0.2.53:0", "192.0.2.53:65536", "[192.0.2.53]:53", "[::1]", "192.0.2.53:53x"])
    assert.throws(() => resolvers(wrong), ConfigError, wrong);
});

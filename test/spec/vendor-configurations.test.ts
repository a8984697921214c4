import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

const MANAGED = "efb7b8c949ac4650a09736fc376e9aee";
const FREE = "77454fe2d30c4220b5701f6fdfb893ba";
const LEAKED = "c2e184081120413c86c3ab7e14069605";
/** A rule that the vendor's documentation overrides. */
const RULE = "5de7edfa648c4d6891dc3e7f84534ffa";
const FIREWALL = "http_request_firewall_managed";

let server: ApiServer;
let zone = "";
before(async () => {
  server = await startApi();
  const { body } = await ask(server, "POST", "/zones", { body: { name: "vendor.test", account: { id: server.account_id } } });
  zone = `/zones/${body.result.id}`;
});
after(() => server.close());

const entryPoint = (phase: string): string => `${zone}/rulesets/phases/${phase}/entrypoint`;
const execute = (id: string, more: object = {}) => ({ action: "execute", expression: "true", action_parameters: { id, ...more } });

/** A rule of a public configuration by its phase, and what is said of it: nothing where all of it has an effect. */
const KEPT: readonly (readonly [what: string, phase: string, rule: object, says: readonly RegExp[]])[] = [
  [
    "the free ruleset",
    FIREWALL,
    execute(FREE),
    [/Free Managed Ruleset\) contains no rules on this server .* execute efb7b8c949ac4650a09736fc376e9aee/],
  ],
  [
    "leaked credentials, with overrides",
    FIREWALL,
    execute(LEAKED, {
      overrides: { action: "log", rules: [{ id: RULE, enabled: false }], categories: [{ category: "x", action: "block" }] },
    }),
    [/Exposed Credentials Check\) contains no rules on this server/],
  ],
  [
    "overrides of the vendor's rules and categories",
    FIREWALL,
    execute(MANAGED, {
      overrides: {
        rules: [
          { id: RULE, action: "log" },
          { id: "75a0060762034a6cb663fd51a02344cb", enabled: false },
        ],
        categories: [
          { category: "wordpress", action: "js_challenge" },
          { category: "language-java", enabled: true },
          { category: "sqli", enabled: true },
        ],
      },
    }),
    [
      /Managed Ruleset has no rule 5de7edfa648c4d6891dc3e7f84534ffa, 75a0060762034a6cb663fd51a02344cb on this server/,
      /no category wordpress, language-java on this server/,
    ],
  ],
  [
    "an exception for the vendor's rules and rulesets",
    FIREWALL,
    { action: "skip", expression: "true", action_parameters: { rules: { [MANAGED]: [RULE] } } },
    [/Managed Ruleset has no rule 5de7edfa648c4d6891dc3e7f84534ffa on this server, so they cannot be skipped/],
  ],
  [
    "an exception for a ruleset without rules",
    FIREWALL,
    { action: "skip", expression: "true", action_parameters: { rulesets: [LEAKED, MANAGED] } },
    [/Exposed Credentials Check\) contains no rules on this server, so nothing can be skipped/],
  ],
  [
    "lists of the operator's that are not there",
    "http_request_firewall_custom",
    { action: "block", expression: '(ip.src in $cf.anonymizer) or (ip.src in $cf.vpn and not http.host eq "$cf.x")' },
    [/the list \$cf\.anonymizer is empty/, /the list \$cf\.vpn is empty/],
  ],
  [
    "a rule of an account's configuration",
    "http_request_firewall_custom",
    { action: "block", expression: 'cf.zone.name eq "vendor.test" and cf.zone.plan eq "ENT"' },
    [],
  ],
  [
    "an error page that is an asset",
    "http_custom_errors",
    {
      action: "serve_error",
      expression: "true",
      action_parameters: { asset_name: "500_page", content_type: "text/html", status_code: 500 },
    },
    [/the error asset "500_page" does not exist/],
  ],
  [
    "cache settings with empty parts",
    "http_request_cache_settings",
    {
      action: "set_cache_settings",
      expression: "true",
      action_parameters: { cache: true, serve_stale: {}, cache_key: { custom_key: { query_string: {} } } },
    },
    [],
  ],
  [
    "an address as a header's value",
    "http_request_late_transform",
    { action: "rewrite", expression: "true", action_parameters: { headers: { "X-Visitor": { operation: "set", expression: "ip.src" } } } },
    [],
  ],
];

test("names from the vendor's public configurations are stored as written, and messages name those without an effect", async () => {
  for (const [what, phase, rule, says] of KEPT) {
    const put = await ask(server, "PUT", entryPoint(phase), { body: { rules: [rule] } });
    assert.equal(put.status, 200, `${what}: ${put.text}`);
    const { id: ruleset, rules } = put.body.result;
    for (const [key, value] of Object.entries(rule)) {
      const expected = key === "action_parameters" && "id" in value ? { ...value, version: "latest" } : value;
      assert.deepEqual(rules[0][key], expected, what);
    }
    const read = await ask(server, "GET", entryPoint(phase));
    const edited = await ask(server, "PATCH", `${zone}/rulesets/${ruleset}/rules/${rules[0].id}`, { body: { ...rule, description: "x" } });
    const added = await ask(server, "POST", `${zone}/rulesets/${ruleset}/rules?dry_run=true`, { body: rule });
    for (const { body, text } of [put, read, edited]) {
      assert.deepEqual(body.errors, []);
      const messages: readonly string[] = body.messages.map(({ message }: { message: string }) => message);
      assert.equal(messages.length, says.length, `${what}: ${text}`);
      for (const [i, message] of messages.entries()) {
        assert.match(message, says[i]!, what);
        assert.ok(message.startsWith(`Rule ${rules[0].id}: `), message);
      }
    }
    assert.equal(added.body.messages.length, 2 * says.length, added.text);
  }
});

test("a name that is neither known nor in the vendor's format is refused", async () => {
  for (const [rule, pointer] of [
    [execute("7".repeat(32)), "/rules/0/action_parameters/id"],
    [execute(MANAGED, { overrides: { rules: [{ id: "f".repeat(32) }] } }), "/rules/0/action_parameters/overrides/rules/0/id"],
    [execute(MANAGED, { overrides: { rules: [{ id: RULE.slice(1) }] } }), "/rules/0/action_parameters/overrides/rules/0/id"],
    [
      execute(MANAGED, { overrides: { categories: [{ category: "word press" }] } }),
      "/rules/0/action_parameters/overrides/categories/0/category",
    ],
    [execute(FREE, { overrides: { actions: "log" } }), "/rules/0/action_parameters/overrides/actions"],
    [execute(FREE, { overrides: { action: "nope" } }), "/rules/0/action_parameters/overrides/action"],
  ] as const) {
    const answer = await ask(server, "PUT", entryPoint(FIREWALL), { body: { rules: [rule] } });
    assert.deepEqual([answer.status, answer.body.errors[0]?.source?.pointer], [400, pointer], answer.text);
  }
  const custom = await ask(server, "PUT", entryPoint("http_request_firewall_custom"), { body: { rules: [execute(FREE)] } });
  assert.equal(custom.status, 400, "it runs in one phase alone");
});

test("an exception shows whether it is logged, and a rule sent back as it was read stays the same", async () => {
  const skip = { action: "skip", expression: "true", action_parameters: { ruleset: "current" }, ref: "s" };
  const first = await ask(server, "PUT", entryPoint(FIREWALL), { body: { rules: [skip] } });
  assert.deepEqual(first.body.result.rules[0].logging, { enabled: true });
  const again = await ask(server, "PUT", entryPoint(FIREWALL), { body: { rules: first.body.result.rules } });
  assert.deepEqual(again.body.result.rules[0], first.body.result.rules[0]);
  const silent = await ask(server, "PUT", entryPoint(FIREWALL), { body: { rules: [{ ...skip, logging: { enabled: false } }] } });
  assert.deepEqual(silent.body.result.rules[0].logging, { enabled: false });
});

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";
import Cloudflare from "cloudflare";
import { curlOf, sdkOf } from "#deprecations/call-text.ts";
import { asWritten, rewritten, type WrittenCall } from "#deprecations/rewrite.ts";
import { DEPRECATIONS } from "#deprecations/table.ts";
import { isoDate } from "#kernel/clock.ts";
import { toolOrSkip } from "../support/tools.ts";
import { type ApiServer, ask, SILENT_MAIL_SERVER, startApi } from "../support/api-server.ts";

const ALERT = { name: "moved", enabled: true, alert_type: "zone_moved" };
const DAY_MS = 86_400_000;

interface Sample {
  readonly row: string;
  readonly call: WrittenCall;
  /** The value that both calls must have: in the response, unless it is read elsewhere. */
  readonly reads: (result: any) => unknown;
  /** A path that shows what was written. */
  readonly look?: string;
  /** Undoes what was written, so that the newest call has something to do. */
  readonly undo?: readonly [method: string, path: string, body?: object];
}

describe("a rewritten call has the same effect as the legacy call", () => {
  let server: ApiServer;
  let client: Cloudflare;
  let zone: string;
  let app: string;
  before(async () => {
    server = await startApi({ date: { asOf: null, negotiate: true }, mailServer: SILENT_MAIL_SERVER });
    client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
    zone = (await ask(server, "POST", "/zones", { body: { name: "example.com", account: { id: server.account_id } } })).body.result.id;
    for (const name of ["www", "mail"])
      await ask(server, "POST", `/zones/${zone}/dns_records`, { body: { type: "A", name, content: "192.0.2.1", ttl: 1 } });
    await ask(server, "POST", `/zones/${zone}/dns_records`, { body: { type: "AAAA", name: "six", content: "2001:db8::1", ttl: 1 } });
    const body = { type: "self_hosted", destinations: [{ type: "public", uri: "first.example.com" }] };
    app = (await ask(server, "POST", `/accounts/${server.account_id}/access/apps`, { body })).body.result.id;
  });
  after(() => server.close());

  function samples(): readonly Sample[] {
    const records = `/zones/${zone}/dns_records`;
    const names = (result: { name: string }[]): unknown => result.map(({ name }) => name).toSorted();
    const list = (query: WrittenCall["query"]): WrittenCall => ({ method: "GET", path: records, query });
    const write = (method: string, path: string, body: object): WrittenCall => ({ method, path, query: {}, body });
    const settings = `/zones/${zone}/dns_settings`;
    const alias = (row: string, name: string, value: unknown, newest: string, initial: unknown): Sample => ({
      row,
      call: write("PATCH", `${settings.replace("dns_settings", name.includes("cname") ? "settings" : "dns_settings")}/${name}`, { value }),
      reads: (shown) => shown[newest],
      look: settings,
      undo: ["PATCH", settings, { [newest]: initial }],
    });
    const account = `/accounts/${server.account_id}`;
    const apps = `${account}/access/apps/${app}`;
    const policies = `${account}/alerting/v3/policies`;
    const data = { service: "_sip", proto: "_tcp", name: "example.com", priority: 1, weight: 2, port: 3, target: "t.example.com" };
    return [
      { row: "dns-records-filter-prefixes", call: list({ name: "contains:www" }), reads: names },
      { row: "dns-records-filter-prefixes", call: list({ name: "starts_with:ma", content: "ends_with:.1" }), reads: names },
      { row: "dns-records-comma-lists", call: list({ name: "www.example.com,six.example.com" }), reads: names },
      { row: "dns-records-type-contains", call: list({ type: "contains:AA" }), reads: names },
      {
        row: "dns-record-srv-name-parts-in-requests",
        call: write("POST", records, { type: "SRV", data, ttl: 300 }),
        reads: ([{ name, content, ttl, data: shown }]) => [name, content, ttl, shown.target],
        look: `${records}?type=SRV`,
        undo: ["DELETE", `${records}/:first`],
      },
      alias("zone-setting-cname-flattening", "cname_flattening", "on", "flatten_all_cnames", false),
      alias("dns-settings-use-apex-ns", "use_apex_ns", true, "multi_provider", false),
      alias("dns-settings-secondary-overrides", "secondary_overrides", true, "secondary_overrides", false),
      {
        row: "account-settings-nameservers",
        call: write("PUT", account, { name: "it's $(an) account", settings: { default_nameservers: "custom.account" } }),
        reads: ({ name, dns_settings }) => [name, dns_settings],
        look: account,
        undo: ["PUT", account, { name: "a", dns_settings: { zone_defaults: { nameservers: { type: "cloudflare.standard" } } } }],
      },
      {
        row: "access-app-self-hosted-domains",
        call: write("PUT", apps, { type: "self_hosted", self_hosted_domains: ["a.example.com", "b.example.com"] }),
        reads: ({ destinations }) => destinations,
        look: apps,
        undo: ["PUT", apps, { type: "self_hosted", destinations: [{ type: "public", uri: "first.example.com" }] }],
      },
      {
        row: "notification-email",
        call: write("POST", policies, { ...ALERT, notification_email: "a@example.com,b@example.com" }),
        reads: ([{ mechanisms }]) => mechanisms.email,
        look: policies,
        undo: ["DELETE", `${policies}/:first`],
      },
      {
        row: "tunnels",
        call: { method: "GET", path: `/accounts/${server.account_id}/tunnels`, query: {} },
        reads: (shown) => shown,
      },
      {
        row: "page-shield-script-monitor",
        call: { method: "GET", path: `/zones/${zone}/script_monitor`, query: {} },
        reads: (shown) => shown,
      },
    ];
  }

  /** Runs a call in one of three forms, on a day; gives the result. */
  const FORMS = {
    plain: async (call: WrittenCall, day: string): Promise<any> => {
      const { text, body } = await ask(server, call.method, new URL(curlPath(call), "http://a").href.slice(8), {
        headers: { "api-version": day },
        ...(call.body === undefined ? {} : { body: call.body }),
      });
      assert.equal(body.success, true, text);
      return body.result;
    },
    curl: async (call: WrittenCall, day: string): Promise<any> => {
      const command = `${curlOf(call)} -sS -H 'api-version: ${day}'`;
      const text = await shell(command);
      assert.equal(JSON.parse(text).success, true, `${command}: ${text}`);
      return JSON.parse(text).result;
    },
    sdk: async (call: WrittenCall, day: string): Promise<any> => {
      const dated = client.withOptions({ defaultHeaders: { "api-version": day } });
      const answer = (await new Function("client", `return ${sdkOf(call)}`)(dated)) as { result: unknown };
      return answer.result;
    },
  };
  const shell = (command: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const env = { ...process.env, API: server.url, TOKEN: server.token };
      execFile("sh", ["-c", command], { env, timeout: 60_000 }, (error, out) => (error === null ? resolve(out) : reject(error)));
    });
  const curlPath = (call: WrittenCall): string => /"\$API"'([^']*)'/.exec(curlOf(call))?.[1] ?? "";

  for (const form of ["plain", "curl", "sdk"] as const)
    test(
      `as ${form === "plain" ? "requests" : form === "curl" ? "a command" : "code for the SDK"}`,
      {
        skip: form === "curl" && toolOrSkip("curl"),
      },
      async () => {
        const tried = new Set<string>();
        for (const { row: id, call, reads, look, undo } of samples()) {
          tried.add(id);
          const row = DEPRECATIONS.find((one) => one.id === id);
          assert.ok(row, id);
          const newest = rewritten(row, call);
          assert.ok(newest, `${id} has a mechanical replacement`);
          const show = async (result: unknown): Promise<unknown> =>
            reads(look === undefined ? result : (await ask(server, "GET", look, { headers: { "api-version": "2030-01-01" } })).body.result);
          const reset = async (): Promise<void> => {
            if (undo === undefined) return;
            const [method, path, body] = undo;
            const [first] = [(await ask(server, "GET", look ?? "")).body.result].flat();
            const answer = await ask(server, method, path.replace(":first", first.id), body === undefined ? {} : { body });
            assert.ok(answer.status < 300, answer.text);
          };
          const legacy = await show(await FORMS.plain(call, isoDate(Date.parse(`${row.date}T00:00:00Z`) - DAY_MS)));
          if (undo !== undefined) await reset();
          if (undo !== undefined && undo[0] !== "DELETE") assert.notDeepEqual(await show(null), legacy, `${id}: nothing was undone`);
          assert.deepEqual(await show(await FORMS[form](newest, row.date)), legacy, `${id}: ${sdkOf(newest)}`);
          await reset();
        }
        const mechanical = DEPRECATIONS.filter(
          ({ effect }) =>
            ["reject_query_forms", "reject_request_fields", "legacy_alias", "listed_alias", "joined_alias"].includes(effect.kind) ||
            (effect.kind === "endpoint_gone" && effect.renamed !== undefined),
        );
        assert.deepEqual([...tried].toSorted(), mechanical.map(({ id }) => id).toSorted(), "each of them has a sample");
      },
    );

  test("SPEC 9, 2024-10-01: an error has the same causes before and after", { skip: toolOrSkip("curl") || toolOrSkip("jq") }, async () => {
    const row = DEPRECATIONS.find(({ effect }) => effect.kind === "error_wrapper");
    assert.ok(row);
    const body = { type: "A", name: "www", content: "not an address", ttl: 1 };
    const call: WrittenCall = { method: "POST", path: `/zones/${zone}/dns_records`, query: {}, body };
    const newest = rewritten(row, call);
    assert.ok(newest);
    const dayBefore = isoDate(Date.parse(`${row.date}T00:00:00Z`) - DAY_MS);
    const byCurl = async (form: WrittenCall, day: string): Promise<unknown> =>
      JSON.parse(await shell(curlOf(form).replace("curl ", `curl -sS -H 'api-version: ${day}' `)));
    const bySdk = (form: WrittenCall, day: string): Promise<unknown> =>
      new Function("client", `return ${sdkOf(form)}`)(client.withOptions({ defaultHeaders: { "api-version": day } })) as Promise<unknown>;
    for (const read of [byCurl, bySdk]) {
      const causes = (await read(asWritten(row, call), dayBefore)) as readonly { code: number; message: string }[];
      assert.equal(causes.length, 1);
      assert.ok((causes[0]?.code ?? 0) >= 9000 && causes[0]?.code !== 1004, JSON.stringify(causes));
      assert.deepEqual(await read(newest, row.date), causes);
      await assert.rejects(async () => assert.deepEqual(await read(asWritten(row, call), row.date), causes), "the older reading ends");
    }
  });
});

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";

const PROVIDER_KEY = "Bearer provider-key";

/** The whole server behind a proxy on loopback, which names its clients in a header. */
describe("behind a trusted proxy", () => {
  let selvedge: Selvedge;
  before(async () => {
    selvedge = await startSelvedge({
      env: {
        SELVEDGE_API_TRUSTED_PROXIES: "127.0.0.0/8",
        SELVEDGE_API_CLIENT_ADDRESS_HEADER: "Forwarded",
        SELVEDGE_GATEWAY_TRUSTED_PROXIES: "127.0.0.0/8",
      },
    });
  });
  after(() => selvedge?.stop());

  const call = async (method: string, path: string, given: { token?: string; client?: string; body?: object } = {}) => {
    const { token = selvedge.ready.token ?? "", client = "198.51.100.1", body } = given;
    const headers = { authorization: `Bearer ${token}`, forwarded: `for=6.6.6.6, for="${client}"`, "content-type": "application/json" };
    const answer = await fetch(selvedge.ready.api + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const result = async (...args: Parameters<typeof call>): Promise<any> => {
    const { status, body } = await call(...args);
    assert.equal(status, 200, JSON.stringify(body));
    return body.result;
  };
  /** A token for one network that may read zones and run gateways. */
  async function tokenFor(network: string): Promise<string> {
    const groups = (await result("GET", "/user/tokens/permission_groups")) as { readonly id: string; readonly name: string }[];
    const wanted = groups.filter(({ name }) => name === "AI Gateway Run").map(({ id }) => ({ id }));
    const { value } = await result("POST", "/user/tokens", {
      body: {
        name: network,
        condition: { request_ip: { in: [network] } },
        policies: [
          { effect: "allow", permission_groups: wanted, resources: { [`com.cloudflare.api.account.${selvedge.ready.account_id}`]: "*" } },
        ],
      },
    });
    return value;
  }

  test("token conditions, the audit log and the limit of failed logins use the client's address", async () => {
    const token = await tokenFor("192.0.2.0/24");
    const verify = async (client: string, secret = token): Promise<number> =>
      (await call("GET", "/user/tokens/verify", { token: secret, client })).status;
    assert.equal(await verify("192.0.2.7"), 200);
    assert.equal(await verify("198.51.100.1"), 403);
    assert.equal(await verify("[2001:db8::1]:4711"), 403);
    await result("POST", "/zones", { body: { name: "example.com", account: { id: selvedge.ready.account_id } } });
    const [row] = await result("GET", `/accounts/${selvedge.ready.account_id}/audit_logs?actor.ip=198.51.100.1`);
    assert.equal(row?.actor.ip, "198.51.100.1");
    const guess = async (client: string, times: number): Promise<number> => {
      let status = 0;
      for (let i = 0; i < times && status !== 429; i++) status = await verify(client, "x".repeat(8) + String(i));
      return status;
    };
    assert.equal(await guess("203.0.113.66", 1_000), 429);
    assert.equal(await verify("203.0.113.77", "xxxxxxxx"), 403, "others behind the same proxy are not locked out");
  });

  test("gateway tokens work from their networks, and wrong tokens count against the client's address", async () => {
    await result("POST", `/accounts/${selvedge.ready.account_id}/ai-gateway/gateways`, {
      body: {
        ...{ id: "main", authentication: true, collect_logs: true, cache_invalidate_on_update: false, cache_ttl: null },
        ...{ rate_limiting_interval: null, rate_limiting_limit: null },
      },
    });
    const token = await tokenFor("192.0.2.0/24");
    const ask = async (client: string, secret = token): Promise<number> => {
      const headers = { authorization: PROVIDER_KEY, "svc-aig-authorization": `Bearer ${secret}`, "x-forwarded-for": `6.6.6.6, ${client}` };
      const answer = await fetch(`${selvedge.ready.gateway}/v1/${selvedge.ready.account_id}/main/no-such-provider/x`, {
        ...{ method: "POST", headers, body: "{}" },
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    const allowed = await ask("192.0.2.7");
    assert.ok(allowed !== 401 && allowed < 500, String(allowed));
    assert.equal(await ask("198.51.100.1"), 401);
    let status = 0;
    for (let i = 0; i < 1_000 && status !== 429; i++) status = await ask("203.0.113.66", `guess-${i}-guess`);
    assert.equal(status, 429);
    assert.equal(await ask("203.0.113.77", "guess-x-guess"), 401, "others behind the same proxy are not locked out");
  });
});

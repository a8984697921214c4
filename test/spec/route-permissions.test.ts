import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PERMISSION_GROUPS } from "#model/access/permission-groups.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

let server: ApiServer;
let zone_id: string;

before(async () => {
  server = await startApi();
  const { body } = await ask(server, "POST", "/zones", { body: { name: "groups.test", account: { id: server.account_id } } });
  zone_id = body.result.id;
});
after(() => server.close());

const ACCOUNT = "com.cloudflare.api.account";

/** A token with one group on every zone or on the account, as a client's guide tells its users to make it. */
async function tokenWith(name: string): Promise<string> {
  const group = PERMISSION_GROUPS.find((one) => one.name === name);
  assert.ok(group, name);
  const zones = { [`${ACCOUNT}.${server.account_id}`]: { [`${ACCOUNT}.zone.*`]: "*" } };
  const resources = group.scopes[0] === ACCOUNT ? { [`${ACCOUNT}.${server.account_id}`]: "*" } : zones;
  const policies = [{ effect: "allow", resources, permission_groups: [{ id: group.id }] }];
  const { body } = await ask(server, "POST", "/user/tokens", { body: { name, policies } });
  return body.result.value;
}

const PAGE_RULE = {
  targets: [{ target: "url", constraint: { operator: "matches", value: "groups.test/*" } }],
  actions: [{ id: "waf", value: "off" }],
};
const TUNNEL = { name: "groups", tunnel_secret: Buffer.alloc(32).toString("base64") };

const pagerules = (): string => `/zones/${zone_id}/pagerules`;
const shield = (): string => `/zones/${zone_id}/page_shield`;
const tunnels = (): string => `/accounts/${server.account_id}/cfd_tunnel`;

/** One group of the vendor's document for each family of routes, whether it may write there, and the call that does. */
const ROWS: readonly (readonly [group: string, path: () => string, write?: readonly [method: string, body: unknown, may: boolean]])[] = [
  ["Page Rules Read", pagerules, ["POST", PAGE_RULE, false]],
  ["Page Rules Write", pagerules, ["POST", PAGE_RULE, true]],
  ["Zone Read", pagerules, ["POST", PAGE_RULE, false]],
  ["Domain Page Shield Read", shield, ["PUT", { enabled: true }, false]],
  ["Domain Page Shield", shield, ["PUT", { enabled: true }, true]],
  ["Page Shield Read", shield, ["PUT", { enabled: true }, false]],
  ["Page Shield", shield, ["PUT", { enabled: true }, true]],
  ["Cloudflare One Connectors Read", tunnels, ["POST", TUNNEL, false]],
  ["Cloudflare One Connector: cloudflared Read", tunnels, ["POST", TUNNEL, false]],
  ["Cloudflare One Connector: cloudflared Write", tunnels, ["POST", { ...TUNNEL, name: "one" }, true]],
  ["Cloudflare One Connectors Write", tunnels, ["POST", { ...TUNNEL, name: "two" }, true]],
];

for (const [group, path, write] of ROWS) {
  test(`a token with only ${group} may use the routes that the vendor's document gives it`, async () => {
    const token = await tokenWith(group);
    const read = await ask(server, "GET", path(), { token });
    assert.equal(read.status, 200, JSON.stringify(read.body.errors));
    if (write === undefined) return;
    const [method, body, may] = write;
    const written = await ask(server, method, path(), { token, body });
    assert.equal(written.body.success, may, JSON.stringify(written.body));
    if (!may) assert.equal(written.status, 403);
  });
}

test("a token for page rules alone finds its zone by name, and reads nothing else of it", async () => {
  const token = await tokenWith("Page Rules Read");
  const zones = await ask(server, "GET", "/zones?name=groups.test", { token });
  assert.deepEqual(
    zones.body.result.map(({ id }: { id: string }) => id),
    [zone_id],
  );
  assert.equal((await ask(server, "GET", `/zones/${zone_id}/dns_records`, { token })).status, 403);
  assert.equal((await ask(server, "GET", `/zones/${zone_id}/settings`, { token })).status, 403);
});

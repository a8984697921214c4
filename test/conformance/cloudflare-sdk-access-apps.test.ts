import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import Cloudflare from "cloudflare";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";
import { all, failing } from "../support/vendor-client.ts";

/** `zeroTrust.access.applications` of the vendor's own client, at both levels, on both sides of the dates of SPEC 9. */
describe("the client's resource zeroTrust.access.applications", () => {
  let server: ApiServer;
  let account_id: string;
  let zone_id: string;
  const client = (apiVersion?: string): Cloudflare =>
    new Cloudflare({
      apiToken: server.token,
      baseURL: server.url,
      maxRetries: 0,
      ...(apiVersion === undefined ? {} : { apiVersion }),
    } as ConstructorParameters<typeof Cloudflare>[0]);

  before(async () => {
    server = await startApi({ date: { asOf: null, negotiate: true } });
    account_id = server.account_id;
    zone_id = (await client().zones.create({ name: "apps.example", account: { id: account_id }, type: "full" })).id;
  });
  after(() => server.close());

  for (const level of ["account", "zone"] as const)
    test(`the client creates, reads, lists, replaces and deletes an application of ${level === "account" ? "an account" : "a zone"}`, async () => {
      const { applications } = client().zeroTrust.access;
      const owner = level === "account" ? { account_id } : { zone_id };
      const destinations = [
        { type: "public" as const, uri: `${level}.apps.example/admin` },
        { type: "public" as const, uri: `*.${level}.apps.example` },
      ];
      const made: any = await applications.create({
        ...owner,
        type: "self_hosted",
        name: "Admin",
        domain: `${level}.apps.example/admin`,
        destinations,
      });
      assert.match(made.id, /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
      assert.match(made.aud, /^[0-9a-f]{64}$/);
      assert.deepEqual(
        [made.destinations, made.session_duration, made.app_launcher_visible, made.policies],
        [destinations, "24h", true, []],
      );
      assert.equal("self_hosted_domains" in made, false);
      assert.deepEqual(await applications.get(made.id, owner), made);
      const implied: any = await applications.create({ ...owner, type: "ssh", domain: `ssh-${level}.apps.example` });
      assert.deepEqual(implied.destinations, [{ type: "public", uri: `ssh-${level}.apps.example` }]);
      assert.deepEqual((await all(applications.list(owner))).map(({ id }) => id).toSorted(), [made.id, implied.id].toSorted());
      assert.deepEqual(
        (await all(applications.list({ ...owner, name: "admin" }))).map(({ id }) => id),
        [made.id],
      );
      assert.deepEqual(await all(applications.list({ ...owner, name: "admin", exact: true })), []);
      const replaced: any = await applications.update(made.id, {
        ...owner,
        type: "self_hosted",
        domain: `new-${level}.apps.example`,
        session_duration: "30m",
      });
      assert.deepEqual([replaced.id, replaced.aud, replaced.created_at, replaced.name], [made.id, made.aud, made.created_at, undefined]);
      assert.deepEqual([replaced.destinations, replaced.session_duration], [[{ type: "public", uri: `new-${level}.apps.example` }], "30m"]);
      assert.deepEqual(await applications.delete(implied.id, owner), { id: implied.id });
      await assert.rejects(applications.get(implied.id, owner), failing(404, 11021));
      // Each level has its own.
      const other = level === "account" ? { zone_id } : { account_id };
      await assert.rejects(applications.get(made.id, other), failing(404, 11021));
    });

  test("an invalid application is refused with a pointer to the wrong field", async () => {
    const { applications } = client().zeroTrust.access;
    await applications.create({ account_id, type: "self_hosted", domain: "taken.apps.example" });
    const cases: readonly (readonly [Record<string, unknown>, number, string])[] = [
      [{ type: "self_hosted" }, 12130, "/destinations"],
      [{ type: "nonsense", domain: "a.example" }, 12130, "/type"],
      [{ type: "saas", domain: "a.example" }, 12130, "/type"],
      [{ type: "bookmark", name: "x" }, 12130, "/domain"],
      [{ type: "rdp", domain: "rdp.apps.example" }, 12130, "/target_criteria"],
      [{ type: "self_hosted", domain: "https://a.example" }, 12130, "/destinations/0/uri"],
      [{ type: "self_hosted", destinations: [{ type: "public", uri: "a b" }] }, 12130, "/destinations/0/uri"],
      [{ type: "self_hosted", destinations: [{ type: "private", cidr: "10.0.0.0/99" }] }, 12130, "/destinations/0/cidr"],
      [{ type: "self_hosted", destinations: [{ type: "private" }] }, 12130, "/destinations/0"],
      [{ type: "self_hosted", domain: "b.example", session_duration: "soon" }, 12130, "/session_duration"],
      [{ type: "self_hosted", domain: "b.example", policies: [{ id: randomUUID() }] }, 12130, "/policies"],
      [{ type: "self_hosted", domain: "b.example", saas_app: { client_secret: "x" } }, 12130, "/saas_app"],
      [{ type: "self_hosted", domain: "TAKEN.apps.example/" }, 11010, "/destinations"],
    ];
    for (const [body, code, pointer] of cases)
      await assert.rejects(applications.create({ account_id, ...body } as any), failing(400, code, pointer), JSON.stringify(body));
    await assert.rejects(
      applications.create({ zone_id, type: "self_hosted", domain: "app.elsewhere.example" }),
      failing(400, 12130, "/destinations/0/uri"),
    );
    const created: any = await applications.create({ account_id, type: "warp" });
    await assert.rejects(applications.update(created.id, { account_id, type: "biso" }), failing(400, 12130, "/type"));
  });

  test("the response to a new application warns that visitors do not have to log in", async () => {
    const path = `/accounts/${account_id}/access/apps`;
    const made = await ask(server, "POST", path, { body: { type: "self_hosted", domain: "told.apps.example" } });
    assert.equal(made.status, 201);
    assert.match(made.body.messages[0].message, /does not ask visitors to log in/);
    const gone = await ask(server, "DELETE", `${path}/${made.body.result.id}`);
    assert.deepEqual([gone.status, gone.body.result], [202, { id: made.body.result.id }]);
    const changes = await server.store.read
      .selectFrom("audit_log")
      .select("action")
      .where("resource_id", "=", made.body.result.id)
      .execute();
    assert.deepEqual(changes.map(({ action }) => action).toSorted(), ["access_app.create", "access_app.delete"]);
  });

  test("SPEC 2.8, SPEC 9: before 2025-11-21 self_hosted_domains lists the public destinations", async () => {
    const { applications } = client("2025-11-20").zeroTrust.access;
    const made: any = await applications.create({
      account_id,
      type: "self_hosted",
      self_hosted_domains: ["one.apps.example", "two.apps.example/x"],
    } as any);
    assert.deepEqual(made.self_hosted_domains, ["one.apps.example", "two.apps.example/x"]);
    assert.deepEqual([made.domain, made.destinations[1]], ["one.apps.example", { type: "public", uri: "two.apps.example/x" }]);
    const destinations = [
      { type: "public" as const, uri: "three.apps.example" },
      { type: "private" as const, hostname: "inner.example" },
    ];
    const both: any = await applications.update(made.id, {
      account_id,
      type: "self_hosted",
      destinations,
      self_hosted_domains: ["four.example"],
    } as any);
    assert.deepEqual([both.destinations, both.self_hosted_domains], [destinations, ["three.apps.example"]]);
    const newest: any = await client("2025-11-21").zeroTrust.access.applications.get(made.id, { account_id });
    assert.deepEqual([newest.destinations, newest.self_hosted_domains], [destinations, undefined]);
  });

  test("SPEC 9: before 2023-03-19 bookmarks have their own endpoints and are stored as applications", async () => {
    const path = `/accounts/${account_id}/access/bookmarks`;
    const old = client("2023-03-18");
    const id = randomUUID();
    const made: any = await old.post(`${path}/${id}`, { body: { name: "Wiki", domain: "wiki.example" } });
    assert.deepEqual([made.result.id, made.result.domain, "aud" in made.result], [id, "wiki.example", false]);
    await assert.rejects(old.post(`${path}/${id}`, { body: { domain: "wiki.example" } }), failing(400, 11010));
    const { applications } = client().zeroTrust.access;
    const app: any = await applications.get(id, { account_id });
    assert.deepEqual([app.type, app.name, app.domain], ["bookmark", "Wiki", "wiki.example"]);
    const other: any = await applications.create({ account_id, type: "bookmark", name: "Docs", domain: "docs.example" });
    const listed: any = await old.get(path);
    assert.deepEqual(listed.result.map((one: any) => one.id).toSorted(), [id, other.id].toSorted());
    const changed: any = await old.put(`${path}/${other.id}`, { body: { domain: "docs.example/new" } });
    assert.equal(changed.result.domain, "docs.example/new");
    await old.delete(`${path}/${id}`);
    await assert.rejects(applications.get(id, { account_id }), failing(404, 11021));
    await assert.rejects(client("2023-03-19").get(path), failing(410, 10410));
  });

  test("deleting a zone deletes its applications", async () => {
    const { applications } = client().zeroTrust.access;
    const zone = await client().zones.create({ name: "leaving.example", account: { id: account_id }, type: "full" });
    await applications.create({ zone_id: zone.id, type: "self_hosted", domain: "app.leaving.example" });
    await client().zones.delete({ zone_id: zone.id });
    const again = await client().zones.create({ name: "leaving.example", account: { id: account_id }, type: "full" });
    assert.deepEqual(await all(applications.list({ zone_id: again.id })), []);
    await applications.create({ zone_id: again.id, type: "self_hosted", domain: "app.leaving.example" });
  });
});

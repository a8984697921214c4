import assert from "node:assert/strict";
import { test } from "node:test";
import { type FixedClock, fixedClock, systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { ALL_PERMISSION_GROUPS, PERMISSION_GROUPS, type PermissionGroupName } from "#model/access/permission-groups.ts";
import type { TokenCreate } from "#model/access/token.ts";
import type { TokenEntry } from "#snapshot/entries.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { storeTest } from "../../../test/support/store.ts";
import type { Actor, Call } from "#control/call.ts";
import { type Access, createAccess } from "./access.ts";
import { systemCall } from "#control/call.ts";
import { hasBootstrapToken } from "#store/access/tokens.ts";
import { bootstrap } from "./bootstrap.ts";
import { hashFirstToken, resetFirstToken } from "./first-token.ts";

const groupId = (name: PermissionGroupName): string => PERMISSION_GROUPS.find((group) => group.name === name)?.id ?? "";
const isError = (name: ErrorName) => (error: unknown) => error instanceof PlatformError && error.errorName === name;
const IP = "192.0.2.7";
const sealer = createSealer(Buffer.alloc(32, 7));

interface World {
  readonly access: Access;
  readonly store: Store;
  readonly clock: FixedClock;
  readonly account_id: string;
  readonly owner: Actor;
  call(actor?: Actor): Call;
  /** A user's token with the groups on everything of the account. */
  mint(changes?: Partial<TokenCreate>, ...names: PermissionGroupName[]): Promise<{ id: string; secret: string }>;
  /** The token's snapshot entry after everything so far. */
  entry(id: string): Promise<TokenEntry | null | undefined>;
}

function accessTest(name: string, body: (world: World) => Promise<void>): void {
  storeTest(name, async ({ store }) => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const { account_id, token } = await bootstrap({ store, clock, sealer, email: "Owner@Example.com", apiKey: "k".repeat(37) });
    const access = createAccess({ store, clock, sealer });
    try {
      const owner = await access.authenticate({ type: "token", secret: token ?? "" }, IP);
      const call = (actor: Actor = owner): Call => ({ actor, request_id: "r", rev: null });
      await body({
        access,
        store,
        clock,
        account_id,
        owner,
        call,
        mint: async (changes = {}, ...names) => {
          const policies = [
            {
              effect: "allow" as const,
              resources: { [`com.cloudflare.api.account.${account_id}`]: "*" as const },
              permission_groups: (names.length === 0 ? (["DNS Write"] as const) : names).map((group) => ({ id: groupId(group) })),
            },
          ];
          const created = await access.tokens.create(call(), { user_id: owner.user_id ?? "" }, { name: "minted", policies, ...changes });
          return { id: created.id, secret: created.value };
        },
        entry: async (id) => {
          const changes = (await store.changesSince(0, 10_000))?.flatMap((set) => set.changes) ?? [];
          return changes.findLast((change) => change.kind === "token" && change.id === id)?.value as TokenEntry | null | undefined;
        },
      });
    } finally {
      access.close();
    }
  });
}

accessTest(
  "the first start creates one token with every permission, and the second start creates nothing",
  async ({ access, store, clock, account_id, owner, entry }) => {
    const again = () => bootstrap({ store, clock, sealer, email: "other@example.com" });
    const { token } = await again();
    assert.equal((await access.authenticate({ type: "token", secret: token ?? "" }, IP)).id, owner.id, "told until somebody has seen it");
    const stored = await store.read.selectFrom("secrets").selectAll().execute();
    assert.doesNotMatch(JSON.stringify(stored), new RegExp(token ?? "", "i"), "sealed meanwhile");
    await hashFirstToken(store);
    assert.deepEqual(await again(), { account_id, token: null, ignored: [{ key: "bootstrap.email", isInUse: false }] });
    assert.deepEqual(await store.read.selectFrom("secrets").selectAll().execute(), []);
    assert.equal(
      owner.grants.flatMap((grant) => [...grant.groups]).filter((name, at, all) => all.indexOf(name) === at).length,
      ALL_PERMISSION_GROUPS.size,
    );
    assert.deepEqual((await entry(owner.id))?.accounts, [account_id]);
  },
);

accessTest(
  "a reset gives the first token a new secret, or creates it again if it was deleted, and later starts print none",
  async ({ access, store, clock, owner }) => {
    const start = (token?: string) =>
      bootstrap({ store, clock, sealer, email: "owner@example.com", ...(token === undefined ? {} : { token }) });
    const unseen = (await start()).token ?? "";
    assert.equal(await hasBootstrapToken(store.read), true);
    const reset = await resetFirstToken({ store, clock });
    assert.equal(reset?.id, owner.id);
    assert.equal(await hasBootstrapToken(store.read), false);
    access.invalidate(owner.id);
    await assert.rejects(access.authenticate({ type: "token", secret: unseen }, IP), { errorName: "invalid_token" });
    const again = await access.authenticate({ type: "token", secret: reset?.secret ?? "" }, IP);
    assert.deepEqual(again.grants, owner.grants);
    assert.equal((await start()).token, null, "what nobody has seen is worth nothing any more");

    await access.tokens.remove(systemCall("test"), { user_id: owner.user_id ?? "" }, owner.id);
    const made = await resetFirstToken({ store, clock });
    assert.notEqual(made?.id, owner.id);
    assert.deepEqual((await access.authenticate({ type: "token", secret: made?.secret ?? "" }, IP)).grants, owner.grants);
    assert.deepEqual((await start(made?.secret)).ignored, [{ key: "bootstrap.token", isInUse: true }]);
    assert.deepEqual((await start("another-token")).ignored, [{ key: "bootstrap.token", isInUse: false }]);
  },
);

accessTest("a preset token is not shown by the start that stores it", async ({ store }) => {
  await store.write(async ({ db }) => {
    // few: those of the test
    for (const table of ["tokens", "memberships", "users", "accounts", "secrets"] as const) await db.deleteFrom(table).execute();
  });
  const preset = { store, clock: fixedClock(0), sealer, email: "owner@example.com", token: "preset-by-the-operator" };
  assert.equal((await bootstrap(preset)).token, null);
  assert.equal((await bootstrap({ ...preset, token: undefined as never })).token, null);
});

test("a preset token that no client can send is refused", async () => {
  await assert.rejects(bootstrap({ store: {} as Store, clock: fixedClock(0), sealer, email: "a@b", token: "short" }), /bootstrap token/);
  await assert.rejects(bootstrap({ store: {} as Store, clock: fixedClock(0), sealer, email: "nobody" }), /e-mail/);
});

accessTest("a secret is stored only as a hash and never shown again", async ({ access, store, owner, mint }) => {
  const { id, secret } = await mint();
  const shown = await access.tokens.get({ user_id: owner.user_id ?? "" }, id);
  assert.ok(!JSON.stringify(shown).includes(secret));
  const tables = [
    await store.read.selectFrom("tokens").selectAll().execute(),
    await store.read.selectFrom("audit_log").selectAll().execute(),
    await store.read.selectFrom("changes").selectAll().execute(),
  ];
  assert.ok(!JSON.stringify(tables).includes(secret));
});

accessTest("a deleted, disabled, rolled or expired token stops working at once", async ({ access, clock, owner, call, mint }) => {
  const user = { user_id: owner.user_id ?? "" };
  const use = (secret: string): Promise<Actor> => access.authenticate({ type: "token", secret }, IP);
  const deleted = await mint();
  await use(deleted.secret);
  await access.tokens.remove(call(), user, deleted.id);
  await assert.rejects(use(deleted.secret), isError("invalid_token"));

  const disabled = await mint();
  await use(disabled.secret);
  const { policies } = await access.tokens.get(user, disabled.id);
  await access.tokens.update(call(), user, disabled.id, { name: "off", policies, status: "disabled" });
  await assert.rejects(use(disabled.secret), isError("invalid_token"));
  await access.tokens.update(call(), user, disabled.id, { name: "on", policies, status: "active" });
  await use(disabled.secret);

  const rolled = await mint();
  await use(rolled.secret);
  const next = await access.tokens.roll(call(), user, rolled.id);
  await assert.rejects(use(rolled.secret), isError("invalid_token"));
  assert.equal((await use(next)).id, rolled.id);

  const expiring = await mint({ expires_on: "2026-01-01T00:00:10Z" });
  await use(expiring.secret);
  clock.advance(10_000);
  await assert.rejects(use(expiring.secret), isError("invalid_token"));
});

accessTest("a token works only from its not_before on and from the addresses in its condition", async ({ access, clock, mint }) => {
  const early = await mint({ not_before: "2026-01-01T01:00:00+01:00", expires_on: "2026-02-01T00:00:00Z" });
  await access.authenticate({ type: "token", secret: early.secret }, IP);
  const later = await mint({ not_before: "2026-01-01T00:00:05Z" });
  await assert.rejects(access.authenticate({ type: "token", secret: later.secret }, IP), isError("invalid_token"));
  clock.advance(5000);
  await access.authenticate({ type: "token", secret: later.secret }, IP);
  const bound = await mint({ condition: { request_ip: { in: ["192.0.2.0/24", "2001:db8::/32"], not_in: ["192.0.2.128/25"] } } });
  for (const ip of ["192.0.2.1", "2001:db8::1"]) await access.authenticate({ type: "token", secret: bound.secret }, ip);
  for (const ip of ["192.0.2.200", "198.51.100.1", "2001:db9::1"])
    await assert.rejects(access.authenticate({ type: "token", secret: bound.secret }, ip), isError("token_location"));
});

accessTest("invalid limits of a token are refused with a pointer to the field", async ({ access, owner, call, mint }) => {
  const place = (source: string) => (error: unknown) =>
    error instanceof PlatformError && error.errorName === "invalid_input" && error.source === source;
  await assert.rejects(mint({ expires_on: "tomorrow" }), place("/expires_on"));
  await assert.rejects(mint({ expires_on: "2025-12-31T00:00:00Z" }), place("/expires_on"));
  await assert.rejects(mint({ expires_on: "2026-02-30T00:00:00Z" }), place("/expires_on"));
  await assert.rejects(mint({ not_before: "2026-03-01T00:00:00Z", expires_on: "2026-02-01T00:00:00Z" }), place("/expires_on"));
  await assert.rejects(mint({ condition: { request_ip: { in: ["192.0.2.0/24", "nowhere"] } } }), place("/condition/request_ip/in/1"));
  const foreign = "f".repeat(32);
  const policies = (resource: string): TokenCreate["policies"] => [
    { effect: "allow", resources: { [resource]: "*" }, permission_groups: [{ id: groupId("API Tokens Read") }] },
  ];
  await assert.rejects(
    access.tokens.create(call(), { user_id: owner.user_id ?? "" }, { name: "x", policies: policies(`com.cloudflare.api.user.${foreign}`) }),
    place("/policies/0/resources"),
  );
});

accessTest(
  "a token never grants more than its creator holds, and rolling it grants no more",
  async ({ access, account_id, owner, call, mint }) => {
    const user = { user_id: owner.user_id ?? "" };
    const minter = await mint({
      policies: [
        {
          effect: "allow",
          resources: { [`com.cloudflare.api.user.${owner.user_id}`]: "*" },
          permission_groups: [{ id: groupId("API Tokens Write") }],
        },
        {
          effect: "allow",
          resources: { [`com.cloudflare.api.account.${account_id}`]: "*" },
          permission_groups: [{ id: groupId("DNS Read") }],
        },
      ],
    });
    const actor = await access.authenticate({ type: "token", secret: minter.secret }, IP);
    const create = (resource: string, group: PermissionGroupName): Promise<unknown> =>
      access.tokens.create(call(actor), user, {
        name: "x",
        policies: [{ effect: "allow", resources: { [resource]: "*" }, permission_groups: [{ id: groupId(group) }] }],
      });
    await create(`com.cloudflare.api.account.${account_id}`, "DNS Read");
    await assert.rejects(create(`com.cloudflare.api.account.${account_id}`, "DNS Write"), isError("authentication_error"));
    await assert.rejects(create("com.cloudflare.api.account.*", "DNS Read"), isError("authentication_error"));
    await assert.rejects(create(`com.cloudflare.api.account.zone.${"9".repeat(32)}`, "DNS Read"), isError("authentication_error"));
    await assert.rejects(access.tokens.roll(call(actor), user, owner.id), isError("authentication_error"));
    await access.tokens.roll(call(actor), user, actor.id);
  },
);

accessTest("gateways get every token that may run them, and its end", async ({ access, account_id, owner, call, mint, entry }) => {
  const user = { user_id: owner.user_id ?? "" };
  const runner = await mint({ expires_on: "2027-01-01T00:00:00Z", condition: { request_ip: { in: ["10.0.0.0/8"] } } }, "AI Gateway Run");
  assert.deepEqual(await entry(runner.id), {
    hash: (await entry(runner.id))?.hash,
    accounts: [account_id],
    not_before: null,
    expires_on: "2027-01-01T00:00:00Z",
    addresses: { allow: ["10.0.0.0/8"], deny: [] },
  });
  const { policies } = await access.tokens.get(user, runner.id);
  await access.tokens.update(call(), user, runner.id, { name: "off", policies, status: "disabled" });
  assert.equal(await entry(runner.id), null);
  const other = await mint({}, "DNS Write");
  assert.equal(await entry(other.id), null, "a token that may run none has no entry");
  const gone = await mint({}, "AI Gateway Run");
  await access.tokens.remove(call(), user, gone.id);
  assert.equal(await entry(gone.id), null);
});

accessTest("an account's token reaches only that account and is not a user", async ({ access, account_id, owner, call }) => {
  const second = await access.accounts.create(call(), { name: "Second" });
  const created = await access.tokens.create(
    call(),
    { account_id },
    {
      name: "ci",
      policies: [
        {
          effect: "allow",
          resources: { "com.cloudflare.api.account.*": "*" },
          permission_groups: [{ id: groupId("Account Settings Read") }],
        },
      ],
    },
  );
  const actor = await access.authenticate({ type: "token", secret: created.value }, IP);
  assert.equal(actor.user_id, null);
  assert.deepEqual(
    (await access.accounts.list(call(actor), {}, { page: 1, per_page: 20 })).items.map(({ id }) => id),
    [account_id],
  );
  await access.authorize(actor, { type: "account", account_id }, ["Account Settings Read"]);
  await assert.rejects(
    access.authorize(actor, { type: "account", account_id: second.id }, ["Account Settings Read"]),
    isError("unauthorized_resource"),
  );
  await assert.rejects(access.authorize(actor, { type: "account", account_id: "0".repeat(32) }, []), isError("unauthorized_resource"));
  await assert.rejects(access.authorize(actor, { type: "user" }, []), isError("authentication_error"));
  await assert.rejects(access.tokens.get({ user_id: owner.user_id ?? "" }, created.id), isError("not_found"));
});

accessTest("e-mail and key have all permissions of the user", async ({ access, account_id, owner }) => {
  const actor = await access.authenticate({ type: "key", email: "OWNER@example.com", key: "k".repeat(37) }, IP);
  assert.equal(actor.user_id, owner.user_id);
  await access.authorize(actor, { type: "account", account_id }, ["Account Settings Write"]);
  await access.authorize(actor, { type: "user" }, ["API Tokens Write"]);
  await assert.rejects(access.authenticate({ type: "key", email: "owner@example.com", key: "x".repeat(37) }, IP), isError("unknown_key"));
  await assert.rejects(access.authenticate({ type: "key", email: "nobody@example.com", key: "k".repeat(37) }, IP), isError("unknown_key"));
});

accessTest(
  "deleting an account deletes its objects, and wildcard tokens cover new accounts",
  async ({ access, store, owner, call, entry, account_id }) => {
    const second = await access.accounts.create(call(), { name: "Second", type: "enterprise" });
    assert.deepEqual([...((await entry(owner.id))?.accounts ?? [])].sort(), [account_id, second.id].sort());
    const renamed = await access.accounts.update(call(), second.id, { name: "Renamed", settings: { enforce_twofactor: true } });
    assert.deepEqual([renamed.name, renamed.settings.enforce_twofactor, renamed.type], ["Renamed", true, "enterprise"]);
    const theirs = await access.tokens.create(
      call(await access.authenticate({ type: "key", email: "owner@example.com", key: "k".repeat(37) }, IP)),
      { account_id: second.id },
      {
        name: "ci",
        policies: [
          {
            effect: "allow",
            resources: { [`com.cloudflare.api.account.${second.id}`]: "*" },
            permission_groups: [{ id: groupId("AI Gateway Run") }],
          },
        ],
      },
    );
    assert.notEqual(await entry(theirs.id), null);
    await access.accounts.remove(call(), second.id);
    assert.equal(await entry(theirs.id), null);
    assert.deepEqual((await entry(owner.id))?.accounts, [account_id]);
    await assert.rejects(access.authenticate({ type: "token", secret: theirs.value }, IP), isError("invalid_token"));
    await assert.rejects(access.accounts.remove(call(), account_id), isError("still_in_use"));
    assert.equal((await store.read.selectFrom("accounts").select("id").execute()).length, 1);
  },
);

accessTest("the last owner cannot leave, and a limited token cannot create accounts", async ({ access, call, mint }) => {
  const [membership] = (await access.memberships.list(call(), {}, { page: 1, per_page: 20 })).items;
  assert.ok(membership);
  await assert.rejects(access.memberships.remove(call(), membership.id), isError("still_in_use"));
  await assert.rejects(access.memberships.update(call(), membership.id, { status: "rejected" }), isError("still_in_use"));
  const narrow = await mint({}, "Account Settings Write");
  const actor = await access.authenticate({ type: "token", secret: narrow.secret }, IP);
  await assert.rejects(access.accounts.create(call(actor), { name: "x" }), isError("authentication_error"));
});

accessTest("a user without Account Settings Write in any account cannot create accounts", async ({ access, call, account_id }) => {
  const { actor } = call();
  for (const reach of [new Map(), new Map([[account_id, new Set(["Account Settings Read"] as const)]])])
    await assert.rejects(access.accounts.create(call({ ...actor, reach }), { name: "x" }), isError("authentication_error"));
  assert.equal((await access.accounts.create(call(), { name: "x" })).name, "x");
});

accessTest("a node notices changes of another node", async ({ access, store, clock, mint, owner, call }) => {
  const node = createAccess({ store: { ...store, onCommit: () => () => {} }, clock, sealer });
  const { id, secret } = await mint();
  await node.authenticate({ type: "token", secret }, IP);
  await access.tokens.remove(call(), { user_id: owner.user_id ?? "" }, id);
  clock.advance(1000);
  await assert.rejects(node.authenticate({ type: "token", secret }, IP), isError("invalid_token"));
  node.close();
});

accessTest("a token created, changed or rolled by a limited token works no longer than it and from no other address", async (world) => {
  const { access, account_id, call, mint } = world;
  const condition = { request_ip: { in: ["192.0.2.0/24", "2001:db8::/32"], not_in: ["192.0.2.128/25"] } };
  const expires_on = "2026-06-01T00:00:00Z";
  const groups: PermissionGroupName[] = ["Account API Tokens Write", "DNS Write"];
  const limited = await access.authenticate({ type: "token", secret: (await mint({ condition, expires_on }, ...groups)).secret }, IP);
  const owner = { account_id };
  const body = (changes: Partial<TokenCreate>): TokenCreate => ({
    name: "made",
    policies: [
      {
        effect: "allow",
        resources: { [`com.cloudflare.api.account.${account_id}`]: "*" },
        permission_groups: [{ id: groupId("DNS Write") }],
      },
    ],
    ...changes,
  });
  const within = { in: ["192.0.2.64/26", "2001:db8:1::/48"], not_in: ["192.0.2.128/25", "192.0.2.1"] };
  const wider: readonly (readonly [string, Partial<TokenCreate>])[] = [
    ["no limits", {}],
    ["no end", { condition }],
    ["a later end", { condition, expires_on: "2026-06-01T00:00:01Z" }],
    ["any address", { expires_on }],
    ["only exclusions", { expires_on, condition: { request_ip: { not_in: ["192.0.2.128/25"] } } }],
    ["a larger block", { expires_on, condition: { request_ip: { ...within, in: ["192.0.0.0/16"] } } }],
    ["another family", { expires_on, condition: { request_ip: { ...within, in: ["::/0"] } } }],
    ["one of several", { expires_on, condition: { request_ip: { ...within, in: ["192.0.2.1", "198.51.100.1"] } } }],
    ["an exclusion less", { expires_on, condition: { request_ip: { in: within.in } } }],
    ["a smaller exclusion", { expires_on, condition: { request_ip: { in: within.in, not_in: ["192.0.2.128/26"] } } }],
  ];
  for (const [what, changes] of wider)
    await assert.rejects(access.tokens.create(call(limited), owner, body(changes)), isError("authentication_error"), what);
  const made = await access.tokens.create(call(limited), owner, body({ expires_on, condition: { request_ip: within } }));
  await access.tokens.create(call(limited), owner, body({ expires_on: "2026-02-01T00:00:00Z", condition }));
  await assert.rejects(access.tokens.update(call(limited), owner, made.id, body({})), isError("authentication_error"));
  await access.tokens.roll(call(limited), owner, made.id);
  const free = await access.tokens.create(call(), owner, body({}));
  await assert.rejects(access.tokens.roll(call(limited), owner, free.id), isError("authentication_error"));
});

storeTest(
  "a token stays known while records are written, and a revocation counts at once here and within a second elsewhere",
  async ({ store, open, dialect }) => {
    const clock = systemClock;
    let reads = 0;
    const counted = (of: Store): Store =>
      new Proxy(of, {
        get: (target, name) => {
          if (name === "read") reads++;
          return Reflect.get(target, name) as unknown;
        },
      });
    // An SQLite file has one process.
    const other = dialect === "sqlite" ? store : await open();
    let heard = 0;
    other.onCommit(() => heard++);
    const { account_id, token } = await bootstrap({ store, clock, sealer, email: "owner@example.com" });
    const access = createAccess({ store: counted(store), clock, sealer });
    const elsewhere = createAccess({ store: counted(other), clock, sealer });
    try {
      const owner = await access.authenticate({ type: "token", secret: token ?? "" }, IP);
      const control = await controlOver(store);
      const zone = await control.control.zones.create(control.call(), { name: "example.test", account: { id: account_id } });
      const policies = [
        {
          effect: "allow" as const,
          resources: { [`com.cloudflare.api.account.${account_id}`]: "*" as const },
          permission_groups: [{ id: groupId("DNS Write") }],
        },
      ];
      const call = { actor: owner, request_id: "r", rev: null };
      const { id, value: secret } = await access.tokens.create(call, { user_id: owner.user_id ?? "" }, { name: "minted", policies });
      const asked = async (of: Access): Promise<string> => {
        try {
          const actor = await of.authenticate({ type: "token", secret }, IP);
          await of.authorize(actor, { type: "zone", zone_id: zone.id }, ["DNS Write"]);
          return "allowed";
        } catch (error) {
          return error instanceof PlatformError ? error.errorName : String(error);
        }
      };
      assert.deepEqual([await asked(access), await asked(elsewhere)], ["allowed", "allowed"]);
      const record = (name: string) =>
        control.control.dnsRecords.create(
          control.call(),
          { id: zone.id, name: zone.name, account_id, plan: "free" },
          { type: "A", name, content: "192.0.2.1" },
        );
      // A second may pass meanwhile on a busy machine, after which each value is read again.
      for (const by of [access, elsewhere]) {
        const counts: number[] = [];
        for (let i = 0; i < 5; i++) {
          const before = heard;
          await record(`n${i}.${by === access ? "here" : "elsewhere"}`);
          await eventually(() => heard > before);
          reads = 0;
          assert.equal(await asked(by), "allowed");
          counts.push(reads);
        }
        assert.ok(counts.includes(0), `${counts}`);
      }
      await access.tokens.remove(call, { user_id: owner.user_id ?? "" }, id);
      assert.equal(await asked(access), "invalid_token", "at once");
      const revokedAt = performance.now();
      while ((await asked(elsewhere)) === "allowed") assert.ok(performance.now() - revokedAt < 2_000);
      assert.equal(await asked(elsewhere), "invalid_token");
    } finally {
      access.close();
      elsewhere.close();
    }
  },
);

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Actor, Grant } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { ALL_PERMISSION_GROUPS, PERMISSION_GROUPS, type PermissionGroupName } from "#model/access/permission-groups.ts";
import type { TokenPolicyWrite } from "#model/access/token.ts";
import { compileGrants, missingGrant, namedZones, parseResource, policyResources, storedPolicies } from "./policies.ts";

const A = "a".repeat(32);
const Z = "1".repeat(32);
const U = "u".repeat(32).replaceAll("u", "c");
const groupId = (name: PermissionGroupName): string => PERMISSION_GROUPS.find((group) => group.name === name)?.id ?? "";
const policy = (resources: TokenPolicyWrite["resources"], ...names: PermissionGroupName[]): TokenPolicyWrite => ({
  effect: "allow",
  resources,
  permission_groups: names.map((name) => ({ id: groupId(name) })),
});
const compile = (write: TokenPolicyWrite, zones: ReadonlyMap<string, string> = new Map([[Z, A]])): readonly Grant[] =>
  compileGrants(storedPolicies([write], newId), zones);

test("resources are parsed in every known format and in no other", () => {
  assert.deepEqual(parseResource(`com.cloudflare.api.account.${A}`), { level: "account", id: A });
  assert.deepEqual(parseResource("com.cloudflare.api.account.*"), { level: "account", id: "*" });
  assert.deepEqual(parseResource(`com.cloudflare.api.account.zone.${Z}`), { level: "zone", account: "*", id: Z });
  assert.deepEqual(parseResource(`com.cloudflare.api.user.${U}`), { level: "user", id: U });
  for (const bad of [
    "",
    "*",
    "com.cloudflare.api.user.*",
    "com.cloudflare.api.account.",
    "com.cloudflare.api.account.ZONE",
    "com.cloudflare.edge.r2.bucket.x",
  ])
    assert.equal(parseResource(bad), undefined, bad);
});

test("the zones of one account have their own resource format", () => {
  const [grant] = compile(policy({ [`com.cloudflare.api.account.${A}`]: { "com.cloudflare.api.account.zone.*": "*" } }, "DNS Write"));
  assert.deepEqual(grant, { effect: "allow", level: "zone", account: A, id: "*", groups: new Set(["DNS Write"]) });
  assert.throws(
    () => policyResources({ resources: { [`com.cloudflare.api.user.${U}`]: { "com.cloudflare.api.account.zone.*": "*" } } }, "/policies/0"),
    PlatformError,
  );
});

test("a zone's grant has its account, and a deleted zone grants nothing", () => {
  const write = policy({ [`com.cloudflare.api.account.zone.${Z}`]: "*" }, "DNS Write");
  assert.deepEqual(compile(write), [{ effect: "allow", level: "zone", account: A, id: Z, groups: new Set(["DNS Write"]) }]);
  assert.deepEqual(compile(write, new Map()), []);
  assert.deepEqual(namedZones([write]), [Z]);
});

test("an account resource grants zone groups for its zones, and no user groups", () => {
  const grants = compile(policy({ [`com.cloudflare.api.account.${A}`]: "*" }, "DNS Write", "AI Gateway Run", "API Tokens Write"));
  assert.deepEqual(grants, [
    { effect: "allow", level: "account", id: A, groups: new Set(["AI Gateway Run"]) },
    { effect: "allow", level: "zone", account: A, id: "*", groups: new Set(["DNS Write"]) },
  ]);
});

test("unknown groups and empty policies are refused with a pointer to the field", () => {
  const bad = { effect: "allow", resources: { "com.cloudflare.api.account.*": "*" }, permission_groups: [{ id: "nope" }] } as const;
  assert.throws(
    () => storedPolicies([{ ...bad, permission_groups: [{ id: "nope" }] }], newId),
    (error: unknown) => error instanceof PlatformError && error.source === "/policies/0/permission_groups/0/id",
  );
  assert.throws(() => policyResources({ resources: {} }, "/policies/0"), PlatformError);
});

test("a user cannot grant more than they have", () => {
  const B = "b".repeat(32);
  const holder = (...grants: Grant[]): Actor => ({
    type: "token",
    id: "t",
    user_id: U,
    name: "t",
    ip: "",
    grants,
    reach: new Map([A, B].map((id) => [id, ALL_PERMISSION_GROUPS])),
  });
  const dns = new Set<PermissionGroupName>(["DNS Write"]);
  const inA: Grant = { effect: "allow", level: "zone", account: A, id: "*", groups: dns };
  const everywhere: Grant = { effect: "allow", level: "zone", account: "*", id: "*", groups: dns };
  const oneZone: Grant = { effect: "allow", level: "zone", account: A, id: Z, groups: dns };
  assert.equal(missingGrant(holder(inA), [inA]), null);
  assert.equal(missingGrant(holder(inA), [oneZone]), null);
  assert.equal(missingGrant(holder(everywhere), [inA]), null);
  assert.notEqual(missingGrant(holder(oneZone), [inA]), null);
  assert.notEqual(missingGrant(holder(inA), [everywhere]), null);
  assert.notEqual(missingGrant(holder(inA), [{ ...inA, groups: new Set<PermissionGroupName>(["DNS Write", "Zone Write"]) }]), null);
  assert.notEqual(missingGrant(holder(inA, { ...oneZone, effect: "deny" }), [inA]), null, "what is denied in part is not held in full");
  assert.equal(missingGrant(holder(inA, { ...inA, effect: "deny", account: B }), [inA]), null);
  assert.equal(missingGrant(holder(), [{ ...everywhere, effect: "deny" }]), null, "a deny takes nothing to hand out");
  const user: Grant = { effect: "allow", level: "user", id: U, groups: new Set<PermissionGroupName>(["API Tokens Write"]) };
  assert.equal(missingGrant(holder(user), [user]), null);
  assert.notEqual(missingGrant(holder(inA), [user]), null);
});

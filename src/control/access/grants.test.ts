import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import type { Actor, Grant } from "#control/call.ts";
import { systemActor } from "#control/call.ts";
import { ALL_PERMISSION_GROUPS, type PermissionGroupName } from "#model/access/permission-groups.ts";
import {
  holdsAnywhere,
  holdsForUser,
  holdsInAccount,
  holdsInEveryZone,
  holdsInZone,
  touchedAccounts,
  touchesAccount,
  touchesZone,
  zoneReach,
} from "./grants.ts";

const A = "a".repeat(32);
const B = "b".repeat(32);
const Z1 = { id: "1".repeat(32), account_id: A };
const Z2 = { id: "2".repeat(32), account_id: A };
const FOREIGN = { id: "3".repeat(32), account_id: B };

const groups = (...names: PermissionGroupName[]): ReadonlySet<PermissionGroupName> => new Set(names);
const actor = (grants: readonly Grant[], accounts: readonly string[] = [A], user: string | null = null): Actor => ({
  type: "token",
  id: "t",
  user_id: user,
  name: "t",
  ip: "",
  grants,
  reach: new Map(accounts.map((id) => [id, ALL_PERMISSION_GROUPS])),
});

test("a grant counts only within its owner's reach, so that a wildcard gives no access to other accounts", () => {
  const all = actor([{ effect: "allow", level: "zone", account: "*", id: "*", groups: groups("DNS Write") }]);
  assert.equal(holdsInZone(all, Z1, ["DNS Write"]), true);
  assert.equal(holdsInZone(all, FOREIGN, ["DNS Write"]), false);
  assert.equal(touchesZone(all, FOREIGN), false);
  assert.equal(touchesAccount(all, B), false);
  assert.deepEqual(touchedAccounts(all), [A]);
});

test("the owner's role limits its tokens", () => {
  const limited: Actor = {
    ...actor([{ effect: "allow", level: "zone", account: "*", id: "*", groups: groups("DNS Read", "DNS Write") }]),
    reach: new Map([[A, groups("DNS Read")]]),
  };
  assert.equal(holdsInZone(limited, Z1, ["DNS Read"]), true);
  assert.equal(holdsInZone(limited, Z1, ["DNS Write"]), false);
});

test("a deny overrides every allow, at its own level and below", () => {
  const allow: Grant = { effect: "allow", level: "zone", account: A, id: "*", groups: groups("DNS Write") };
  const one: Grant = { effect: "deny", level: "zone", account: A, id: Z1.id, groups: groups("DNS Write") };
  assert.equal(holdsInZone(actor([allow, one]), Z1, ["DNS Write"]), false);
  assert.equal(holdsInZone(actor([allow, one]), Z2, ["DNS Write"]), true);
  assert.equal(holdsInEveryZone(actor([allow, one]), A, ["DNS Write"]), false);
  const account: Grant = { effect: "deny", level: "account", id: A, groups: groups("DNS Write") };
  assert.equal(holdsInZone(actor([allow, account]), Z2, ["DNS Write"]), false);
});

test("any one of the groups is enough, and an empty list means any access", () => {
  const reader = actor([{ effect: "allow", level: "account", id: A, groups: groups("AI Gateway Read") }]);
  assert.equal(holdsInAccount(reader, A, ["AI Gateway Write", "AI Gateway Read"]), true);
  assert.equal(holdsInAccount(reader, A, ["AI Gateway Write"]), false);
  assert.equal(holdsInAccount(reader, A, []), true);
  assert.equal(holdsInAccount(reader, B, []), false);
  assert.equal(holdsAnywhere(reader, ["AI Gateway Read"]), true);
  assert.equal(holdsAnywhere(reader, ["DNS Read"]), false);
});

test("only a user's own credential has rights on the user", () => {
  const grant: Grant = { effect: "allow", level: "user", id: "u", groups: groups("API Tokens Write") };
  assert.equal(holdsForUser(actor([grant], [A], "u"), ["API Tokens Write"]), true);
  assert.equal(holdsForUser(actor([grant], [A], "other"), ["API Tokens Write"]), false);
  assert.equal(holdsForUser(actor([grant], [A], null), ["API Tokens Write"]), false);
  assert.equal(holdsForUser(actor([], [A], null), []), false);
});

test("the installation itself may do anything", () => {
  const system = systemActor("test");
  assert.equal(holdsInZone(system, FOREIGN, ["DNS Write"]), true);
  assert.equal(zoneReach(system, ["Zone Read"]), null);
});

const ids = fc.constantFrom(A, B, "*");
const anyGroups = fc.subarray(["DNS Read", "DNS Write", "Zone Read"] as PermissionGroupName[]).map((names) => new Set(names));
const anyGrant: fc.Arbitrary<Grant> = fc.oneof(
  fc.record({ effect: fc.constantFrom("allow", "deny"), level: fc.constant("account"), id: ids, groups: anyGroups }),
  fc
    .record({ effect: fc.constantFrom("allow", "deny"), zone: fc.constantFrom(Z1, Z2, FOREIGN), groups: anyGroups })
    .map(({ effect, zone, groups: held }) => ({ effect, level: "zone", account: zone.account_id, id: zone.id, groups: held })),
  fc.record({
    effect: fc.constantFrom("allow", "deny"),
    level: fc.constant("zone"),
    account: ids,
    id: fc.constant("*"),
    groups: anyGroups,
  }),
) as fc.Arbitrary<Grant>;

test("property: a list contains exactly the zones that the credential may read one by one", () => {
  fc.assert(
    fc.property(
      fc.array(anyGrant, { maxLength: 6 }),
      fc.subarray([A, B]),
      fc.subarray(["Zone Read", "DNS Read"] as PermissionGroupName[], { minLength: 1 }),
      (grants, accounts, asked) => {
        const caller = actor(grants, accounts);
        const reach = zoneReach(caller, asked);
        assert.ok(reach);
        for (const zone of [Z1, Z2, FOREIGN]) {
          const shown: boolean =
            (reach.every.includes(zone.account_id) || (reach.some.includes(zone.id) && reach.accounts.includes(zone.account_id))) &&
            !reach.not.includes(zone.id);
          assert.equal(shown, holdsInZone(caller, zone, asked));
        }
      },
    ),
  );
});

import type { Actor, Grant } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isId } from "#kernel/crypto/ids.ts";
import {
  type PermissionGroup,
  permissionGroupById,
  type PermissionGroupName,
  type PermissionScope,
} from "#model/access/permission-groups.ts";
import type { TokenPolicy, TokenPolicyWrite } from "#model/access/token.ts";

/** A parsed resource key of a policy: `com.cloudflare.api.account.zone.{id}` and similar keys. */
export type Resource =
  | { readonly level: "user"; readonly id: string }
  | { readonly level: "account"; readonly id: string }
  | { readonly level: "zone"; readonly account: string; readonly id: string };

const USER = "com.cloudflare.api.user.";
const ACCOUNT = "com.cloudflare.api.account.";
const ZONE = "com.cloudflare.api.account.zone.";

/** Undefined if the key is not supported in tokens. A user must have an id, never `*`. */
export function parseResource(key: string): Resource | undefined {
  if (key.startsWith(ZONE)) return idOrAny(key.slice(ZONE.length), (id) => ({ level: "zone", account: "*", id }));
  if (key.startsWith(ACCOUNT)) return idOrAny(key.slice(ACCOUNT.length), (id) => ({ level: "account", id }));
  if (key.startsWith(USER) && isId(key.slice(USER.length))) return { level: "user", id: key.slice(USER.length) };
  return undefined;
}

const idOrAny = (id: string, make: (id: string) => Resource): Resource | undefined => (id === "*" || isId(id) ? make(id) : undefined);

/** The resources of a policy; throws with its pointer if one is invalid. */
export function policyResources(policy: Pick<TokenPolicyWrite, "resources">, pointer: string): readonly Resource[] {
  const found: Resource[] = [];
  for (const [key, value] of Object.entries(policy.resources)) {
    const resource = parseResource(key);
    const at = `${pointer}/resources/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!resource)
      throw new PlatformError("invalid_input", { message: `"${key}" is not a resource that a token policy can name.`, source: at });
    if (value === "*") found.push(resource);
    else found.push(...zonesInAccount(resource, value, at));
    if (found.length > RESOURCES_MAX)
      throw new PlatformError("invalid_input", {
        message: `A policy can name at most ${RESOURCES_MAX} resources.`,
        source: `${pointer}/resources`,
      });
  }
  if (found.length === 0)
    throw new PlatformError("invalid_input", { message: "A policy must name at least one resource.", source: `${pointer}/resources` });
  return found;
}

const RESOURCES_MAX = 1000;

/** `{"com.cloudflare.api.account.{id}": {"com.cloudflare.api.account.zone.*": "*"}}`: the zones of one account. */
function zonesInAccount(outer: Resource, inner: Readonly<Record<string, unknown>>, pointer: string): readonly Resource[] {
  return Object.keys(inner).map((key) => {
    const resource = parseResource(key);
    if (outer.level !== "account" || resource?.level !== "zone")
      throw new PlatformError("invalid_input", {
        message: `"${key}" is not a resource within "${pointer.slice(pointer.lastIndexOf("/") + 1)}".`,
        source: pointer,
      });
    return { level: "zone", account: outer.id, id: resource.id };
  });
}

/** Policies as stored and displayed: with ids, and the groups' names beside their ids. */
export function storedPolicies(policies: readonly TokenPolicyWrite[], newId: () => string): readonly TokenPolicy[] {
  return policies.map((policy, index) => ({
    id: newId(),
    effect: policy.effect,
    resources: policy.resources,
    permission_groups: policy.permission_groups.map(({ id }, at) => {
      const group = permissionGroupById(id);
      if (!group)
        throw new PlatformError("invalid_input", {
          message: `"${id}" is not a permission group.`,
          source: `/policies/${index}/permission_groups/${at}/id`,
        });
      return { id, name: group.name };
    }),
  }));
}

/**
 * Compiles stored policies to grants. `zoneAccounts` maps each zone to its account; a missing zone grants nothing. Groups
 * only apply at their own level: a zone's groups on an account mean all its zones.
 */
export function compileGrants(policies: readonly TokenPolicy[], zoneAccounts: ReadonlyMap<string, string>): readonly Grant[] {
  const grants: Grant[] = [];
  policies.forEach((policy, index) => {
    const groups = policy.permission_groups.map(({ id }) => permissionGroupById(id)).filter((group) => group !== undefined);
    for (const resource of policyResources(policy, `/policies/${index}`))
      grants.push(...resourceGrants(policy.effect, resource, groups, zoneAccounts));
  });
  return grants;
}

function resourceGrants(
  effect: "allow" | "deny",
  resource: Resource,
  groups: readonly PermissionGroup[],
  zoneAccounts: ReadonlyMap<string, string>,
): readonly Grant[] {
  const grant = (scope: PermissionScope, make: (names: ReadonlySet<PermissionGroupName>) => Grant): readonly Grant[] => {
    const names = new Set(groups.filter((group) => group.scopes.includes(scope)).map((group) => group.name));
    return names.size === 0 ? [] : [make(names)];
  };
  const zone = (account: string, id: string): readonly Grant[] =>
    grant("com.cloudflare.api.account.zone", (names) => ({ effect, level: "zone", account, id, groups: names }));
  switch (resource.level) {
    case "user":
      return grant("com.cloudflare.api.user", (names) => ({ effect, level: "user", id: resource.id, groups: names }));
    case "account":
      return [
        ...grant("com.cloudflare.api.account", (names) => ({ effect, level: "account", id: resource.id, groups: names })),
        ...zone(resource.id, "*"),
      ];
    case "zone": {
      if (resource.id === "*") return zone(resource.account, "*");
      const account = zoneAccounts.get(resource.id);
      return account === undefined || (resource.account !== "*" && resource.account !== account) ? [] : zone(account, resource.id);
    }
  }
}

/** Every zone that the policies refer to. */
export function namedZones(policies: readonly Pick<TokenPolicyWrite, "resources">[]): readonly string[] {
  const ids = new Set<string>();
  policies.forEach((policy, index) => {
    for (const resource of policyResources(policy, `/policies/${index}`))
      if (resource.level === "zone" && resource.id !== "*") ids.add(resource.id);
  });
  return [...ids];
}

/** The first group and grant of `wanted` that `actor` does not have completely, or null. Nobody may grant more than they have. */
export function missingGrant(
  actor: Actor,
  wanted: readonly Grant[],
): { readonly group: PermissionGroupName; readonly grant: Grant } | null {
  if (actor.type === "system") return null;
  for (const grant of wanted) {
    if (grant.effect === "deny") continue;
    for (const group of grant.groups) if (!holdsAll(actor, group, grant)) return { group, grant };
  }
  return null;
}

function holdsAll(actor: Actor, group: PermissionGroupName, wanted: Grant): boolean {
  const account = wanted.level === "account" ? wanted.id : wanted.level === "zone" ? wanted.account : null;
  if (account !== null && account !== "*" && actor.reach.get(account)?.has(group) !== true) return false;
  const named = actor.grants.filter((grant) => grant.groups.has(group));
  return (
    named.some((grant) => grant.effect === "allow" && contains(grant, wanted)) &&
    !named.some((grant) => grant.effect === "deny" && overlaps(grant, wanted))
  );
}

const includes = (outer: string, inner: string): boolean => outer === "*" || outer === inner;
const meets = (a: string, b: string): boolean => a === "*" || b === "*" || a === b;

function contains(held: Grant, wanted: Grant): boolean {
  if (wanted.level === "user") return held.level === "user" && held.id === wanted.id;
  if (wanted.level === "account") return held.level === "account" && includes(held.id, wanted.id);
  if (held.level === "account") return includes(held.id, wanted.account);
  return held.level === "zone" && includes(held.account, wanted.account) && includes(held.id, wanted.id);
}

function overlaps(denied: Grant, wanted: Grant): boolean {
  if (wanted.level === "user" || denied.level === "user") return wanted.level === denied.level && wanted.id === denied.id;
  const wantedAccount = wanted.level === "account" ? wanted.id : wanted.account;
  const deniedAccount = denied.level === "account" ? denied.id : denied.account;
  if (!meets(wantedAccount, deniedAccount)) return false;
  return wanted.level !== "zone" || denied.level !== "zone" || meets(wanted.id, denied.id);
}

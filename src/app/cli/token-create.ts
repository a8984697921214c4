import { systemCall } from "#control/call.ts";
import { systemClock } from "#kernel/clock.ts";
import { PERMISSION_GROUPS, type PermissionGroup } from "#model/access/permission-groups.ts";
import { timestampSeconds } from "#kernel/timestamp.ts";
import type { TokenCreate } from "#model/access/token.ts";
import { findAccount, oldestAccount } from "#store/access/accounts.ts";
import type { Store } from "#store/database/store.ts";
import { loadConfig } from "#app/config/config.ts";
import { suggest } from "#app/config/suggest.ts";
import { durationMs } from "./command-parts.ts";
import { configInput } from "./config-input.ts";
import { CliError, complain, EXIT, type ExitCode, print } from "./outcome.ts";
import { withTokens } from "./token-store.ts";

export interface TokenCreateOptions {
  readonly name: string;
  readonly permission?: readonly string[];
  readonly all?: boolean;
  readonly account?: string;
  readonly expiresIn?: string;
  readonly apiDate?: string;
}

/** Writes the token directly to the database: a user who can read the data directory can do anything anyway. */
export async function tokenCreate(options: TokenCreateOptions, flags: readonly string[]): Promise<ExitCode> {
  const groups = chosenGroups(options);
  const expiresOn =
    options.expiresIn === undefined ? null : timestampSeconds(systemClock.nowMs() + durationMs("--expires-in", options.expiresIn));
  const config = loadConfig(configInput(flags));
  return withTokens(config, async ({ store, access }) => {
    const accountId = await ownerAccount(store, options.account);
    const token = await access.tokens.create(
      systemCall("cli"),
      { account_id: accountId },
      {
        ...{ name: options.name, policies: policiesOf(accountId, groups), expires_on: expiresOn },
        ...(options.apiDate === undefined ? {} : { api_date: options.apiDate }),
      },
    );
    const { id, name, value } = token;
    if (!config.json) complain([`token "${name}" (${id}) of account ${accountId}; its secret is shown only once`]);
    print(
      config.json,
      { id, name, account_id: accountId, expires_on: expiresOn, permissions: groups.map((group) => group.name), token: value },
      [value],
    );
    return EXIT.ok;
  });
}

/** Groups available to an account's token: groups of users are for users' own tokens. */
const OFFERED = PERMISSION_GROUPS.filter((group) => !group.scopes.includes("com.cloudflare.api.user"));

function chosenGroups({ all, permission = [] }: TokenCreateOptions): readonly PermissionGroup[] {
  if (all) return OFFERED;
  if (permission.length === 0) throw new CliError('say what the token may do: --permission "DNS Write" (repeatable) or --all', EXIT.usage);
  return permission.flatMap((wanted) => {
    const found = OFFERED.filter((group) => group.name.toLowerCase() === wanted.toLowerCase());
    if (found.length > 0) return found;
    const names = [...new Set(OFFERED.map((group) => group.name))];
    const near = suggest(wanted, names);
    throw new CliError(
      `the permission group "${wanted}" does not exist; ${near === undefined ? `known: ${names.join(", ")}` : `did you mean "${near}"?`}`,
      EXIT.usage,
    );
  });
}

/** Groups count only at their own level, so the account and its zones have separate policies. */
function policiesOf(accountId: string, groups: readonly PermissionGroup[]): TokenCreate["policies"] {
  const account = `com.cloudflare.api.account.${accountId}`;
  const ofScope = (scope: PermissionGroup["scopes"][number]): { id: string }[] =>
    groups.filter((group) => group.scopes.includes(scope)).map(({ id }) => ({ id }));
  const policies: TokenCreate["policies"] = [
    { effect: "allow", resources: { [account]: "*" }, permission_groups: ofScope("com.cloudflare.api.account") },
    {
      effect: "allow",
      resources: { [account]: { "com.cloudflare.api.account.zone.*": "*" } },
      permission_groups: ofScope("com.cloudflare.api.account.zone"),
    },
  ];
  return policies.filter((policy) => policy.permission_groups.length > 0);
}

async function ownerAccount(store: Store, id: string | undefined): Promise<string> {
  const account = id === undefined ? await oldestAccount(store.read) : await findAccount(store.read, id);
  if (account === undefined)
    throw new CliError(id === undefined ? "the database has no account yet; start the server once" : `the account ${id} does not exist`);
  return account.id;
}

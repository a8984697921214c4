import { accountFirewallObjectsOf } from "#store/rulesets/account-firewall-objects.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import {
  type Account,
  ACCOUNT_SETTINGS_DEFAULT,
  type AccountCreate,
  type AccountList,
  type AccountSettings,
  type AccountUpdate,
} from "#model/access/account.ts";
import { writtenApiDate } from "#model/access/api-date.ts";
import { accountDnsSettingsView, type AccountSettingsForDns } from "#model/dns/dns-settings.ts";
import { OWNER_ROLE } from "#model/access/membership.ts";
import {
  type AccountRow,
  countOwned,
  deleteAccount,
  findAccount,
  insertAccount,
  listAccounts,
  lockAccount,
  updateAccount,
} from "#store/access/accounts.ts";
import { deleteCustomNameServersOf } from "#store/dns/custom-name-servers.ts";
import { deleteMembership, insertMembership, listMemberships, membershipsOfAccount } from "#store/access/memberships.ts";
import { accountSensitiveData } from "#store/detection/sensitive-data.ts";
import { oldestUser } from "#store/access/users.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import { deleteToken, listAccountTokens } from "#store/access/tokens.ts";
import { gatewayObjectsAt } from "#store/gateways/gateway-objects.ts";
import { tunnelsOfAccount } from "#store/tunnels/tunnels.ts";
import { deleteTransferObjectsOf } from "#store/dns/transfers.ts";
import type { Kysely } from "kysely";
import { touchedAccounts } from "./grants.ts";
import { missingGrant } from "./policies.ts";
import { emitUserTokens } from "./tokens.ts";

export interface Accounts {
  /** Accounts in which the credential has any permission. */
  list(call: Call, query: AccountList, page: PageRequest): Promise<Page<Account>>;
  get(id: string): Promise<Account>;
  /** The caller's user becomes its owner; a user has a limited number. Requires a credential that may write the settings of every account of the user. */
  create(call: Call, body: AccountCreate): Promise<Account>;
  update(call: Call, id: string, body: AccountUpdate): Promise<Account>;
  /** Throws `still_in_use` while it has zones, gateways or rulesets, and for the last account. */
  remove(call: Call, id: string): Promise<{ id: string }>;
}

export interface AccountsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Drops the account from caches. */
  invalidate(accountId: string): void;
}

export function createAccounts(deps: AccountsDeps): Accounts {
  const { store, clock } = deps;
  return {
    list: async (call, query, page) => {
      const ids = call.actor.type === "system" ? null : touchedAccounts(call.actor);
      const { rows, total } = await listAccounts(
        store.read,
        { ids, name: query.name, direction: query.direction ?? "asc" },
        { limit: page.per_page, offset: (page.page - 1) * page.per_page },
      );
      return { items: rows.map(accountView), ...page, total_count: total };
    },
    get: async (id) => accountView(await found(store.read, id)),
    create: async (call, body) => {
      const userId = call.actor.user_id;
      const missing = missingGrant(call.actor, [
        { effect: "allow", level: "account", id: "*", groups: new Set(["Account Settings Write"] as const) },
      ]);
      // A wildcard covers the accounts that the caller can reach; a user without a suitable role in any of them has no say here either.
      const isTrusted = [...call.actor.reach.values()].some((groups) => groups.has("Account Settings Write"));
      if (userId === null || missing || !isTrusted) throw new PlatformError("authentication_error");
      const row = await commit({ store }, call, async (unit) => {
        const isFirst = (await oldestUser(unit.db))?.id === userId;
        if (!isFirst && (await listMemberships(unit.db, userId)).length >= ACCOUNTS_MAX)
          throw new PlatformError("invalid_input", { message: `A user can be a member of at most ${ACCOUNTS_MAX} accounts.` });
        const created: AccountRow = {
          id: newId(),
          name: body.name,
          type: body.type ?? "standard",
          settings: JSON.stringify(ACCOUNT_SETTINGS_DEFAULT),
          dns_settings: withNameservers("{}", body.dns_settings),
          created_on: isoMicros(clock.nowMicros()),
          api_date: writtenApiDate(body, null),
        };
        await insertAccount(unit.db, created);
        await insertMembership(unit.db, {
          id: newId(),
          account_id: created.id,
          user_id: userId,
          roles: JSON.stringify([OWNER_ROLE]),
          status: "accepted",
          created_on: created.created_on,
        });
        await emitUserTokens(unit, userId);
        unit.audit(auditAccount("account.create", call, created.id, null, accountView(created)));
        return created;
      });
      deps.invalidate(row.id);
      return accountView(row);
    },
    update: async (call, id, body) => {
      const row = await commit({ store }, call, async (unit) => {
        const before = await lockAccount(unit.db, id);
        if (!before) throw new PlatformError("unauthorized_resource");
        const settings = { ...(JSON.parse(before.settings) as AccountSettings), ...pick(body.settings) };
        const changes = {
          name: body.name,
          type: body.type ?? before.type,
          settings: JSON.stringify(settings),
          dns_settings: withNameservers(before.dns_settings, body.dns_settings),
          api_date: writtenApiDate(body, before.api_date),
        };
        const after: AccountRow = { ...before, ...changes };
        await updateAccount(unit.db, id, changes);
        unit.audit(auditAccount("account.update", call, id, accountView(before), accountView(after)));
        return after;
      });
      deps.invalidate(id);
      return accountView(row);
    },
    remove: async (call, id) => {
      await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, id);
        await assertUnused(unit.db, id);
        await removeCredentials(unit, id);
        await deleteTransferObjectsOf(unit.db, id);
        await deleteCustomNameServersOf(unit.db, id);
        for (const kind of ["custom_provider", "dlp_profile"] as const)
          for (const row of await gatewayObjectsAt(unit.db, { account_id: id, gateway_id: "", kind }))
            unit.change({ kind, id: row.id, value: null });
        for (const row of await tunnelsOfAccount(unit.db, id))
          if (row.deleted_at === null) unit.change({ kind: "tunnel", id: row.id, value: null });
        if ((await accountSensitiveData.of(unit.db, id)).length > 0) unit.change({ kind: "detection", id, value: null });
        if ((await accountFirewallObjectsOf(unit.db, id)).length > 0)
          unit.change({ kind: "ruleset", id: `${id}/access_rules`, value: null });
        await deleteAccount(unit.db, id, unit.clock.nowMicros());
        unit.audit(auditAccount("account.delete", call, id, accountView(before), null));
      });
      deps.invalidate(id);
      return { id };
    },
  };
}

/**
 * Accounts of a user who is not the installation's first: many limits, and fair shares, are those of an account, so a user must not
 * multiply them.
 */
const ACCOUNTS_MAX = 20;

async function found(db: Kysely<Tables>, id: string): Promise<AccountRow> {
  const row = await findAccount(db, id);
  if (!row) throw new PlatformError("unauthorized_resource");
  return row;
}

async function assertUnused(db: Kysely<Tables>, id: string): Promise<void> {
  const owned = await countOwned(db, id);
  const left = Object.entries(owned).filter(([, count]) => count > 0);
  if (left.length > 0)
    throw new PlatformError("still_in_use", {
      message: `The account still has ${left.map(([what, count]) => `${count} ${what}`).join(", ")}.`,
    });
  const { total } = await listAccounts(db, { ids: null, name: undefined, direction: "asc" }, { limit: 1, offset: 0 });
  if (total === 1) throw new PlatformError("still_in_use", { message: "The last account cannot be deleted." });
}

/** Deletes the account's tokens and memberships, so that its members' tokens lose access. */
async function removeCredentials(unit: Unit, accountId: string): Promise<void> {
  for (const token of await listAccountTokens(unit.db, accountId)) {
    await deleteToken(unit.db, token.id);
    unit.change({ kind: "token", id: token.id, value: null });
  }
  for (const membership of await membershipsOfAccount(unit.db, accountId)) {
    await deleteMembership(unit.db, membership.id);
    await emitUserTokens(unit, membership.user_id);
  }
}

/** Keeps settings only: clients may send back the whole object that they received. */
const pick = (settings: AccountUpdate["settings"]): Partial<AccountSettings> => ({
  ...(settings?.enforce_twofactor === undefined ? {} : { enforce_twofactor: settings.enforce_twofactor }),
  ...(settings?.abuse_contact_email === undefined ? {} : { abuse_contact_email: settings.abuse_contact_email }),
});

/** The stored DNS settings with the change that an account's own body may contain. */
function withNameservers(stored: string, change: AccountUpdate["dns_settings"]): string {
  const nameservers = change?.zone_defaults?.nameservers;
  if (!nameservers) return stored;
  const settings = JSON.parse(stored) as AccountSettingsForDns;
  return JSON.stringify({ ...settings, zone_defaults: { ...settings.zone_defaults, nameservers } });
}

const settingsView = ({ abuse_contact_email, ...settings }: AccountSettings): AccountSettings => ({
  ...settings,
  ...(typeof abuse_contact_email === "string" ? { abuse_contact_email } : {}),
});

export const accountView = (row: AccountRow): Account => ({
  id: row.id,
  name: row.name,
  type: row.type === "enterprise" ? "enterprise" : "standard",
  settings: settingsView(JSON.parse(row.settings) as AccountSettings),
  dns_settings: {
    zone_defaults: { nameservers: accountDnsSettingsView(JSON.parse(row.dns_settings) as AccountSettingsForDns).zone_defaults.nameservers },
  },
  ...(row.api_date === null ? {} : { api_date: row.api_date }),
  created_on: row.created_on,
});

const auditAccount = (action: string, call: Call, id: string, before: Account | null, after: Account | null) => ({
  action,
  actor: auditActor(call),
  account_id: id,
  zone_id: null,
  resource: { type: "account", id },
  before,
  after,
});

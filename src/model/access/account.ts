import { type Static, Type } from "typebox";
import { AccountNameservers } from "#model/dns/dns-settings.ts";
import { ApiDateView, ApiDateWrite } from "./api-date.ts";

export const ACCOUNT_TYPES = ["standard", "enterprise"] as const;
const AccountType = Type.Enum([...ACCOUNT_TYPES]);
const AccountName = Type.String({ minLength: 1, maxLength: 100 });

export const AccountSettings = Type.Object({
  enforce_twofactor: Type.Boolean(),
  abuse_contact_email: Type.Optional(
    Type.Union([Type.String({ maxLength: 254 }), Type.Null()], {
      description: "Null removes it; answers leave it out while it is not set.",
    }),
  ),
});
export type AccountSettings = Static<typeof AccountSettings>;

export const ACCOUNT_SETTINGS_DEFAULT: AccountSettings = { enforce_twofactor: false };

/** The DNS settings that are also part of the account object, because they were account settings until 2025 (SPEC 9). */
const AccountDnsDefaults = Type.Object({ zone_defaults: Type.Object({ nameservers: AccountNameservers }) });
const DnsDefaultsChange = Type.Optional(
  Type.Object({ zone_defaults: Type.Optional(Type.Object({ nameservers: Type.Optional(AccountNameservers) })) }),
);

/** An account as responses show it (SPEC 2.9 leaves its fields open; shapes after the OpenAPI document). */
export const Account = Type.Object({
  id: Type.String({ maxLength: 32 }),
  name: AccountName,
  type: AccountType,
  settings: AccountSettings,
  dns_settings: AccountDnsDefaults,
  api_date: ApiDateView,
  created_on: Type.String({ format: "date-time" }),
});
export type Account = Static<typeof Account>;

export const AccountCreate = Type.Object({
  name: AccountName,
  type: Type.Optional(AccountType),
  dns_settings: DnsDefaultsChange,
  api_date: ApiDateWrite,
});
export type AccountCreate = Static<typeof AccountCreate>;

export const AccountUpdate = Type.Object({
  name: AccountName,
  type: Type.Optional(AccountType),
  settings: Type.Optional(Type.Partial(AccountSettings)),
  dns_settings: DnsDefaultsChange,
  api_date: ApiDateWrite,
});
export type AccountUpdate = Static<typeof AccountUpdate>;

export const AccountList = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 100 })),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});
export type AccountList = Static<typeof AccountList>;

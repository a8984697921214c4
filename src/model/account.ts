import { type Static, Type } from "typebox";

export const ACCOUNT_TYPES = ["standard", "enterprise"] as const;
const AccountType = Type.Enum([...ACCOUNT_TYPES]);
const AccountName = Type.String({ minLength: 1, maxLength: 100 });

export const AccountSettings = Type.Object({
  enforce_twofactor: Type.Boolean(),
  abuse_contact_email: Type.Union([Type.String({ maxLength: 254 }), Type.Null()]),
});
export type AccountSettings = Static<typeof AccountSettings>;

export const ACCOUNT_SETTINGS_DEFAULT: AccountSettings = { enforce_twofactor: false, abuse_contact_email: null };

/** An account as responses show it (SPEC 2.9 leaves its fields open; shapes after the OpenAPI document). */
export const Account = Type.Object({
  id: Type.String({ maxLength: 32 }),
  name: AccountName,
  type: AccountType,
  settings: AccountSettings,
  created_on: Type.String({ format: "date-time" }),
});
export type Account = Static<typeof Account>;

export const AccountCreate = Type.Object({ name: AccountName, type: Type.Optional(AccountType) });
export type AccountCreate = Static<typeof AccountCreate>;

export const AccountUpdate = Type.Object({
  name: AccountName,
  type: Type.Optional(AccountType),
  settings: Type.Optional(Type.Partial(AccountSettings)),
});
export type AccountUpdate = Static<typeof AccountUpdate>;

export const AccountList = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 100 })),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});
export type AccountList = Static<typeof AccountList>;

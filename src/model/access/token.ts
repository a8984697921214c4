import { type Static, Type } from "typebox";
import { ApiDateView, ApiDateWrite } from "./api-date.ts";

const Addresses = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 500 });

/** Client addresses that may use the token: those in `in` unless it is empty, without those in `not_in`. */
export const TokenCondition = Type.Object({
  request_ip: Type.Optional(Type.Object({ in: Type.Optional(Addresses), not_in: Type.Optional(Addresses) })),
});
export type TokenCondition = Static<typeof TokenCondition>;

/** `"*"`, or the resources below, each with `"*"`. */
const ResourceValue = Type.Union([Type.Literal("*"), Type.Record(Type.String({ maxLength: 100 }), Type.Literal("*"))]);

export const TokenPolicyWrite = Type.Object({
  effect: Type.Enum(["allow", "deny"]),
  resources: Type.Record(Type.String({ maxLength: 100 }), ResourceValue),
  permission_groups: Type.Array(Type.Object({ id: Type.String({ maxLength: 32 }) }), { minItems: 1, maxItems: 300 }),
});
export type TokenPolicyWrite = Static<typeof TokenPolicyWrite>;

export const TokenPolicy = Type.Object({
  id: Type.String({ maxLength: 32 }),
  effect: Type.Enum(["allow", "deny"]),
  resources: Type.Record(Type.String(), ResourceValue),
  permission_groups: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
});
export type TokenPolicy = Static<typeof TokenPolicy>;

const writeFields = {
  name: Type.String({ minLength: 1, maxLength: 120 }),
  policies: Type.Array(TokenPolicyWrite, { minItems: 1, maxItems: 100 }),
  condition: Type.Optional(Type.Union([TokenCondition, Type.Null()])),
  not_before: Type.Optional(Type.Union([Type.String({ maxLength: 40 }), Type.Null()])),
  expires_on: Type.Optional(Type.Union([Type.String({ maxLength: 40 }), Type.Null()])),
  api_date: ApiDateWrite,
};

export const TokenCreate = Type.Object(writeFields);
export type TokenCreate = Static<typeof TokenCreate>;

/** `expired` follows from the time: sending it back unchanged is accepted and has no effect. */
export const TokenUpdate = Type.Object({ ...writeFields, status: Type.Optional(Type.Enum(["active", "disabled", "expired"])) });
export type TokenUpdate = Static<typeof TokenUpdate>;

const TokenStatus = Type.Enum(["active", "disabled", "expired"]);
export type TokenStatus = Static<typeof TokenStatus>;

/** A token in responses, without its secret. */
export const Token = Type.Object({
  id: Type.String({ maxLength: 32 }),
  name: Type.String(),
  status: TokenStatus,
  issued_on: Type.String({ format: "date-time" }),
  modified_on: Type.String({ format: "date-time" }),
  not_before: Type.Optional(Type.String({ format: "date-time" })),
  expires_on: Type.Optional(Type.String({ format: "date-time" })),
  api_date: ApiDateView,
  policies: Type.Array(TokenPolicy),
  condition: Type.Optional(TokenCondition),
});
export type Token = Static<typeof Token>;

/** The response to creation, the only one that contains the secret. */
export const TokenCreated = Type.Object({ ...Token.properties, value: Type.String() });
export type TokenCreated = Static<typeof TokenCreated>;

export const TokenVerification = Type.Object({
  id: Type.String({ maxLength: 32 }),
  status: TokenStatus,
  not_before: Type.Optional(Type.String({ format: "date-time" })),
  expires_on: Type.Optional(Type.String({ format: "date-time" })),
});
export type TokenVerification = Static<typeof TokenVerification>;

export const TokenId = Type.Object({ id: Type.String({ maxLength: 32 }) });

export const TokenList = Type.Object({
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
  include_expired: Type.Optional(Type.Boolean()),
});
export type TokenList = Static<typeof TokenList>;

export const PermissionGroupSchema = Type.Object({ id: Type.String(), name: Type.String(), scopes: Type.Array(Type.String()) });
export type PermissionGroupView = Static<typeof PermissionGroupSchema>;

export const PermissionGroupList = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 160 })),
  scope: Type.Optional(Type.String({ maxLength: 160 })),
});
export type PermissionGroupList = Static<typeof PermissionGroupList>;

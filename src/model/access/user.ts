import { type Static, Type } from "typebox";

const OptionalText = (maxLength: number) => Type.Union([Type.String({ maxLength }), Type.Null()]);

/** Fields that a user can edit; null clears one. */
export const UserEdit = Type.Object({
  first_name: Type.Optional(OptionalText(60)),
  last_name: Type.Optional(OptionalText(60)),
  telephone: Type.Optional(OptionalText(20)),
  country: Type.Optional(OptionalText(30)),
  zipcode: Type.Optional(OptionalText(20)),
});
export type UserEdit = Static<typeof UserEdit>;

/** The caller's own user (shape after the OpenAPI document). */
export const User = Type.Object({
  id: Type.String({ maxLength: 32 }),
  email: Type.String(),
  first_name: OptionalText(60),
  last_name: OptionalText(60),
  telephone: OptionalText(20),
  country: OptionalText(30),
  zipcode: OptionalText(20),
  two_factor_authentication_enabled: Type.Boolean(),
  two_factor_authentication_locked: Type.Boolean(),
  suspended: Type.Boolean(),
  organizations: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      status: Type.String(),
      roles: Type.Array(Type.String()),
      permissions: Type.Array(Type.String()),
    }),
  ),
  betas: Type.Array(Type.String()),
  has_pro_zones: Type.Boolean(),
  has_business_zones: Type.Boolean(),
  has_enterprise_zones: Type.Boolean(),
  created_on: Type.String({ format: "date-time" }),
  modified_on: Type.String({ format: "date-time" }),
});
export type User = Static<typeof User>;

/** One `@` with text without white space on both sides: sufficient for signing in, not a check of mail addresses. */
export const isEmail = (text: string): boolean => text.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(text);

import { type Static, Type } from "typebox";

/** Zone lockdowns: the only addresses from which some URLs are reached. */
export const LOCKDOWNS_MAX = 200;

const fields = {
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  paused: Type.Optional(Type.Boolean()),
  priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: "The lowest decides first." })),
  urls: Type.Array(Type.String({ minLength: 1, maxLength: 1024, description: "A host and a path, with stars." }), {
    minItems: 1,
    maxItems: 100,
  }),
  configurations: Type.Array(
    Type.Object({ target: Type.Enum(["ip", "ip6", "ip_range"]), value: Type.String({ minLength: 1, maxLength: 64 }) }),
    { minItems: 1, maxItems: 1000 },
  ),
};

export const LockdownWrite = Type.Object(fields);
export type LockdownWrite = Static<typeof LockdownWrite>;

export const Lockdown = Type.Object({
  id: Type.String({ maxLength: 32 }),
  ...fields,
  description: Type.String(),
  paused: Type.Boolean(),
  created_on: Type.String({ format: "date-time" }),
  modified_on: Type.String({ format: "date-time" }),
});
export type Lockdown = Static<typeof Lockdown>;

const Search = Type.Optional(Type.String({ maxLength: 1024 }));
export const LockdownQuery = Type.Object({
  description: Search,
  description_search: Search,
  ip: Search,
  ip_search: Search,
  ip_range_search: Search,
  uri_search: Search,
  priority: Type.Optional(Type.Integer()),
  created_on: Search,
  modified_on: Search,
});
export type LockdownQuery = Static<typeof LockdownQuery>;

import { type Static, Type } from "typebox";
import { NsSet } from "./dns-settings.ts";

/** Maximum number of name servers per set: a zone's NS answers should stay small, and registries accept only a few. */
export const SET_NAMES_MAX = 5;

/** A custom name for one of the installation's name servers in an account's zones. */
export const CustomNameServer = Type.Object({
  ns_name: Type.String({ maxLength: 253 }),
  ns_set: NsSet,
  status: Type.Enum(["pending", "verified"]),
  /** The account's zone that contains the name, or empty. */
  zone_tag: Type.String({ maxLength: 32 }),
  dns_records: Type.Array(Type.Object({ type: Type.Enum(["A", "AAAA"]), value: Type.String() })),
});
export type CustomNameServer = Static<typeof CustomNameServer>;

export const CustomNameServerCreate = Type.Object({
  ns_name: Type.String({ minLength: 1, maxLength: 1000 }),
  ns_set: Type.Optional(NsSet),
});
export type CustomNameServerCreate = Static<typeof CustomNameServerCreate>;

/** Whether a zone uses the account's name servers; another representation of `nameservers` in its DNS settings. */
export const ZoneCustomNs = Type.Object({ enabled: Type.Boolean(), ns_set: NsSet });
export type ZoneCustomNs = Static<typeof ZoneCustomNs>;
export const ZoneCustomNsEdit = Type.Partial(ZoneCustomNs);
export type ZoneCustomNsEdit = Static<typeof ZoneCustomNsEdit>;

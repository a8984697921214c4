import { type Static, Type } from "typebox";
import { NsSet } from "./dns-settings.ts";

/** Name servers of one set; a zone's NS answers should stay small, and registries take no more than a few. */
export const SET_NAMES_MAX = 5;

/** A name under which an account's zones show the installation's name servers. */
export const CustomNameServer = Type.Object({
  ns_name: Type.String({ maxLength: 253 }),
  ns_set: NsSet,
  status: Type.Enum(["pending", "verified"]),
  /** The account's zone that the name lies in, or empty. */
  zone_tag: Type.String({ maxLength: 32 }),
  dns_records: Type.Array(Type.Object({ type: Type.Enum(["A", "AAAA"]), value: Type.String() })),
});
export type CustomNameServer = Static<typeof CustomNameServer>;

export const CustomNameServerCreate = Type.Object({
  ns_name: Type.String({ minLength: 1, maxLength: 1000 }),
  ns_set: Type.Optional(NsSet),
});
export type CustomNameServerCreate = Static<typeof CustomNameServerCreate>;

/** Whether a zone uses the account's name servers: another face of its DNS settings' `nameservers`. */
export const ZoneCustomNs = Type.Object({ enabled: Type.Boolean(), ns_set: NsSet });
export type ZoneCustomNs = Static<typeof ZoneCustomNs>;
export const ZoneCustomNsEdit = Type.Partial(ZoneCustomNs);
export type ZoneCustomNsEdit = Static<typeof ZoneCustomNsEdit>;

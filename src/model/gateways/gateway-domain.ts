import { Type, type Static } from "typebox";
import { GatewayId } from "./gateway.ts";

const Status = Type.Enum(["initializing", "pending_dcv", "active", "blocked", "error"], {
  description:
    "active: requests for the name reach the gateway; pending_dcv: its zone is not active yet; blocked: its zone has moved away.",
});
export type GatewayDomainStatus = Static<typeof Status>;
const MinTls = Type.Enum(["1.0", "1.1", "1.2", "1.3"], { description: "Minimum TLS version for visitors of the name." });
const Hostname = Type.String({ minLength: 1, maxLength: 253, description: "ai.example.com" });
const Milliseconds = Type.Integer({ description: "Milliseconds since the Unix epoch." });

const SHOWN = {
  hostname: Hostname,
  gateway_id: GatewayId,
  status: Status,
  min_tls: MinTls,
  created_at: Milliseconds,
  modified_at: Milliseconds,
};

/** A hostname that serves a gateway without account and gateway in the path. */
export const GatewayDomain = Type.Object({ ...SHOWN, ssl_hostname_id: Type.Null() });
export type GatewayDomain = Static<typeof GatewayDomain>;

export const GatewayDomainCreate = Type.Object({
  domain: Hostname,
  zone_id: Type.String({ pattern: "^[0-9a-f]{32}$", description: "The account's zone that contains the name." }),
  minTLS: Type.Optional(MinTls),
});
export type GatewayDomainCreate = Static<typeof GatewayDomainCreate>;

export const GatewayDomainCreated = Type.Object({
  ...SHOWN,
  cname_target: Type.String({ description: "A target for a proxied CNAME record of the name." }),
});
export type GatewayDomainCreated = Static<typeof GatewayDomainCreated>;

export const GatewayDomainQuery = Type.Object({
  status: Type.Optional(Status),
  search: Type.Optional(Type.String({ maxLength: 253, description: "Part of the name." })),
});
export type GatewayDomainQuery = Static<typeof GatewayDomainQuery>;

import { type Static, Type } from "typebox";

const Kind = Type.Enum(["create", "update", "delete"]);

/** A change in the second form of the audit log (`logs/audit`), which published clients read since 2025. */
export const AuditEvent = Type.Object({
  id: Type.String(),
  account: Type.Object({ id: Type.String(), name: Type.String() }),
  action: Type.Object({
    type: Kind,
    description: Type.String({ description: "The action as the first form names it, such as dns_record.create." }),
    result: Type.Literal("success"),
    time: Type.String({ format: "date-time" }),
  }),
  actor: Type.Object({
    id: Type.String(),
    type: Type.Enum(["user", "account", "system"]),
    context: Type.Optional(Type.Enum(["api_token", "dash"])),
    email: Type.Optional(Type.String()),
    ip_address: Type.String(),
    token_id: Type.Optional(Type.String()),
  }),
  resource: Type.Object({ id: Type.String(), type: Type.String(), product: Type.String(), scope: Type.Enum(["accounts", "zones"]) }),
  zone: Type.Optional(Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) })),
});
export type AuditEvent = Static<typeof AuditEvent>;
export type AuditKind = Static<typeof Kind>;

const Text = Type.Optional(Type.String({ maxLength: 280 }));
const Moment = Type.String({ maxLength: 40, description: "An RFC 3339 date or time." });

export const AuditEventQuery = Type.Object({
  since: Moment,
  before: Moment,
  id: Text,
  action_type: Type.Optional(Kind),
  actor_id: Text,
  actor_email: Text,
  actor_ip_address: Text,
  actor_token_id: Text,
  resource_id: Text,
  resource_type: Type.Optional(Type.String({ maxLength: 280, description: "Such as dns_record." })),
  zone_id: Text,
  zone_name: Text,
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "Events of a page." })),
});
export type AuditEventQuery = Static<typeof AuditEventQuery>;

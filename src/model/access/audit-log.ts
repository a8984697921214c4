import { type Static, Type } from "typebox";

/**
 * A change: actor, action and object. The object before and after is not shown, since not every reader of the log may
 * read it.
 */
export const AuditLog = Type.Object({
  id: Type.String(),
  when: Type.String({ format: "date-time" }),
  action: Type.Object({ type: Type.String(), result: Type.Boolean() }),
  /** `user`: a user or its token; `admin`: the account's own token, or this server. Identifier and e-mail address are the user's. */
  actor: Type.Object({
    type: Type.Enum(["user", "admin"]),
    id: Type.String(),
    ip: Type.String(),
    email: Type.Optional(Type.String()),
    api_date: Type.Optional(Type.String({ format: "date", description: "The API date of the call, if it was not the operator's." })),
  }),
  owner: Type.Object({ id: Type.String() }),
  interface: Type.Literal("API"),
  resource: Type.Object({ type: Type.String(), id: Type.String() }),
  metadata: Type.Object({
    actor_type: Type.String({ description: "token, user or system." }),
    token_id: Type.Optional(Type.String({ description: "The token, if one acted." })),
    zone_id: Type.Optional(Type.String()),
    api_date: Type.Optional(
      Type.Union([Type.String({ format: "date" }), Type.Null()], { description: "The new API date, if the change set or removed it." }),
    ),
  }),
});
export type AuditLog = Static<typeof AuditLog>;

const Text = Type.Optional(Type.String({ maxLength: 280 }));
const Moment = Type.Optional(Type.String({ maxLength: 40, description: "An RFC 3339 date or time." }));

export const AuditLogQuery = Type.Object({
  id: Text,
  "action.type": Type.Optional(Type.String({ maxLength: 280, description: "Such as dns_record.create." })),
  "actor.email": Text,
  "actor.ip": Text,
  "zone.name": Text,
  since: Moment,
  before: Moment,
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
  hide_user_logs: Type.Optional(
    Type.Enum(["true", "false"], { description: "An account's audit log has no user logs; that of a user is then empty." }),
  ),
});
export type AuditLogQuery = Static<typeof AuditLogQuery>;

/** The audit log of a user reads by who acted. */
export const auditLogByActor = (): readonly string[] => ["CREATE INDEX audit_log_by_actor ON audit_log (actor_id, id)"];

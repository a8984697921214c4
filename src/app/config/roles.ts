/**
 * The duties of a process. `control` owns the database, serves the management API and runs the jobs; the others are
 * data planes. A process without `control` opens no database.
 */
export const ROLES = ["control", "edge", "nameserver", "gateway"] as const;

export type Role = (typeof ROLES)[number];
export type PlaneRole = Exclude<Role, "control">;

export const isPlaneRole = (role: Role): role is PlaneRole => role !== "control";

/** Replaces sensitive data in rows and in their JSON paths. */
export const MASK = "[masked]";

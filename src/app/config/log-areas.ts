/** Parts of the server whose lines can have another level than the rest. */
export const LOG_AREAS = ["api", "jobs", "nodes", "edge", "nameserver", "gateway", "events", "detector"] as const;
export type LogArea = (typeof LOG_AREAS)[number];

/** Everything whose level can be set at run time: the areas, and the lines that belong to none of them. */
export const LOG_PARTS = [...LOG_AREAS, "other"] as const;
export type LogPart = (typeof LOG_PARTS)[number];

export const isLogArea = (name: string): name is LogArea => LOG_AREAS.some((area) => area === name);
export const isLogPart = (name: string): name is LogPart => LOG_PARTS.some((part) => part === name);

/** The area of a thread: `edge-2` is of `edge`. Undefined for a thread without one. */
export function areaOfThread(name: string): LogArea | undefined {
  const area = name.replace(/-\d+$/, "");
  return isLogArea(area) ? area : undefined;
}

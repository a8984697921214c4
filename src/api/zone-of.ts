import type { Resolved } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

/** Routes of scope `zone` are called with the zone resolved. */
export function zoneOf(resolved: Resolved): NonNullable<Resolved["zone"]> {
  if (resolved.zone === null) throw new PlatformError("zone_not_found");
  return resolved.zone;
}

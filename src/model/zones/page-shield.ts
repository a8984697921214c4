import { type Static, Type } from "typebox";

/** Whether scripts of the zone's pages are monitored, which is always false here. */
export const PageShieldSettings = Type.Object({
  enabled: Type.Boolean(),
  updated_at: Type.String({ format: "date-time" }),
  use_cloudflare_reporting_endpoint: Type.Boolean(),
  use_connection_url_path: Type.Boolean(),
});
export type PageShieldSettings = Static<typeof PageShieldSettings>;

export const PageShieldUpdate = Type.Object({
  enabled: Type.Optional(Type.Boolean({ description: "Must not be true: monitoring scripts is not supported." })),
  use_cloudflare_reporting_endpoint: Type.Optional(Type.Boolean()),
  use_connection_url_path: Type.Optional(Type.Boolean()),
});
export type PageShieldUpdate = Static<typeof PageShieldUpdate>;

/** A script that was detected. */
export const PageShieldScript = Type.Object({ id: Type.String(), url: Type.String(), host: Type.String() });

import { type Static, Type } from "typebox";

/** Traffic of a zone in the format before GraphQL (SPEC 9, 2021-03-01). */
const Counts = Type.Record(Type.String(), Type.Integer());
const Time = Type.String({ format: "date-time" });

const Traffic = Type.Object({
  all: Type.Integer(),
  cached: Type.Integer(),
  uncached: Type.Integer(),
  content_type: Counts,
  country: Counts,
  ssl: Type.Object({ encrypted: Type.Integer(), unencrypted: Type.Integer() }),
});

export const DashboardTotals = Type.Object({
  since: Time,
  until: Time,
  requests: Type.Object({ ...Traffic.properties, http_status: Counts }),
  bandwidth: Traffic,
  threats: Type.Object({ all: Type.Integer() }),
  pageviews: Type.Object({ all: Type.Integer() }),
  uniques: Type.Object({ all: Type.Integer() }),
});
export type DashboardTotals = Static<typeof DashboardTotals>;

export const ZoneDashboard = Type.Object({ totals: DashboardTotals, timeseries: Type.Array(DashboardTotals) });
export type ZoneDashboard = Static<typeof ZoneDashboard>;

export const ColoDashboard = Type.Object({ colo_id: Type.String(), timeseries: Type.Array(DashboardTotals) });
export type ColoDashboard = Static<typeof ColoDashboard>;

/** RFC 3339, or minutes relative to now as a number of at most 0. */
export const DashboardQuery = Type.Object({
  since: Type.Optional(Type.String({ maxLength: 40 })),
  until: Type.Optional(Type.String({ maxLength: 40 })),
});
export type DashboardQuery = Static<typeof DashboardQuery>;

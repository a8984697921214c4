import { type Static, Type } from "typebox";

/** Reports of a zone's DNS queries in the vendor's REST interface. */
const Time = Type.String({ format: "date-time" });
const Names = Type.Array(Type.String());
const Totals = Type.Record(Type.String(), Type.Number());

export const DNS_METRICS = ["queryCount", "uncachedCount", "staleCount"] as const;
export type DnsMetric = (typeof DNS_METRICS)[number];

export const TIME_DELTAS = ["all", "auto", "year", "quarter", "month", "week", "day", "hour", "dekaminute", "minute"] as const;
export type TimeDelta = (typeof TIME_DELTAS)[number];

const List = (description: string) => Type.Optional(Type.String({ maxLength: 1000, description }));

export const DnsReportQuery = Type.Object({
  metrics: List("Separated by commas; queryCount by default."),
  dimensions: List("Separated by commas: queryName, queryType, responseCode, responseCached, coloName, tcp, ipVersion."),
  since: List("RFC 3339, or minutes before now such as -60; six hours ago by default."),
  until: List("The same; now by default."),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  sort: List("Metrics and dimensions, separated by commas; `-` before a name sorts downwards. By default by the first metric, downwards."),
  filters: Type.Optional(Type.String({ maxLength: 4000, description: "`name==value` with == != < <= > >=; `;` is and, `,` is or." })),
});
export type DnsReportQuery = Static<typeof DnsReportQuery>;

export const DnsTimeReportQuery = Type.Object({
  ...DnsReportQuery.properties,
  time_delta: Type.Optional(Type.Enum([...TIME_DELTAS], { description: "The interval; auto by default." })),
});
export type DnsTimeReportQuery = Static<typeof DnsTimeReportQuery>;

const Asked = Type.Object({
  dimensions: Names,
  metrics: Names,
  since: Time,
  until: Time,
  limit: Type.Integer(),
  sort: Type.Optional(Names),
  filters: Type.Optional(Type.String()),
});

const Sums = {
  rows: Type.Integer({ description: "Number of entries in data." }),
  data_lag: Type.Integer({ description: "Seconds." }),
  min: Totals,
  max: Totals,
  totals: Totals,
};

export const DnsReport = Type.Object({
  ...Sums,
  data: Type.Array(Type.Object({ dimensions: Names, metrics: Type.Array(Type.Number()) })),
  query: Asked,
});
export type DnsReport = Static<typeof DnsReport>;

export const DnsTimeReport = Type.Object({
  ...Sums,
  data: Type.Array(Type.Object({ dimensions: Names, metrics: Type.Array(Type.Array(Type.Number())) })),
  query: Type.Object({ ...Asked.properties, time_delta: Type.Enum([...TIME_DELTAS]) }),
  time_intervals: Type.Array(Type.Array(Time)),
});
export type DnsTimeReport = Static<typeof DnsTimeReport>;

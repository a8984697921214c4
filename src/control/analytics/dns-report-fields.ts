import { PlatformError } from "#kernel/errors/errors.ts";
import type { AnalyticsFilter, AnalyticsOperator, AnalyticsValue } from "#model/events/analytics.ts";

/** A dimension of DNS reports over the fields of the dataset `dnsAnalytics`. */
interface Dimension {
  /** Null: always the value that `shown` gives. */
  readonly field: string | null;
  shown(value: AnalyticsValue): string;
  filter(operator: AnalyticsOperator, value: string): AnalyticsFilter;
}

const NEVER: AnalyticsFilter = { any: [] };
const ALWAYS: AnalyticsFilter = { any: [[]] };

const same = (field: string, read: (value: string) => string | number = (value) => value): Dimension => ({
  field,
  shown: String,
  filter: (operator, value) => ({ field, operator, value: read(value) }),
});

/** A stored boolean, shown as 1 and 0. */
const flag = (
  name: string,
  field: string | null,
  isSet: AnalyticsFilter,
  isUnset: AnalyticsFilter,
  shown: Dimension["shown"],
): Dimension => ({
  field,
  shown,
  filter: (operator, value) => {
    if ((operator !== "eq" && operator !== "ne") || (value !== "0" && value !== "1"))
      throw invalid(`${name} is compared by == or != with 0 or 1.`);
    return (value === "1") === (operator === "eq") ? isSet : isUnset;
  },
});

const PROTOCOL = { field: "protocol", value: "udp" } as const;

export const DNS_DIMENSIONS: Readonly<Record<string, Dimension>> = {
  queryName: same("queryName", (value) => value.toLowerCase()),
  queryType: same("queryType", (value) => value.toUpperCase()),
  responseCode: same("responseCode", (value) => value.toUpperCase()),
  coloName: same("coloName"),
  ipVersion: same("ipVersion", (value) => {
    if (value !== "4" && value !== "6") throw invalid("ipVersion is 4 or 6.");
    return Number(value);
  }),
  tcp: flag("tcp", "protocol", { ...PROTOCOL, operator: "ne" }, { ...PROTOCOL, operator: "eq" }, (value) => (value === "udp" ? "0" : "1")),
  // An authoritative server does not answer from a resolver's cache.
  responseCached: flag("responseCached", null, NEVER, ALWAYS, () => "0"),
};

const OPERATORS: Readonly<Record<string, AnalyticsOperator>> = { "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge" };
const CONDITIONS_MAX = 50;

/** Reads `name==value;name!=value,…`: `;` is and, `,` is or and binds less. Throws `invalid_input`. */
export function dnsReportFilter(text: string): AnalyticsFilter {
  const any = text.split(",").map((part) => part.split(";").map(condition));
  if (any.flat().length > CONDITIONS_MAX) throw invalid(`filters has more than ${CONDITIONS_MAX} conditions.`);
  return { any };
}

function condition(text: string): AnalyticsFilter {
  const [, name = "", sign = "", value = ""] = /^ *([A-Za-z]+) *(==|!=|<=|>=|<|>|=~|!~)(.*)$/s.exec(text) ?? [];
  const dimension = Object.hasOwn(DNS_DIMENSIONS, name) ? DNS_DIMENSIONS[name] : undefined;
  if (dimension === undefined)
    throw invalid(
      `"${text.slice(0, 80)}" is not a condition such as responseCode==NXDOMAIN over ${Object.keys(DNS_DIMENSIONS).join(", ")}.`,
    );
  const operator = OPERATORS[sign];
  if (operator === undefined) throw invalid(`Patterns (${sign}) are not supported; GraphQL has queryName_like.`);
  return dimension.filter(operator, value.trim());
}

const invalid = (message: string): PlatformError => new PlatformError("invalid_input", { message, source: "/filters" });

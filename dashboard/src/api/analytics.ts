import type { UseQueryResult } from "@tanstack/react-query";
import { graphql } from "./client.ts";
import { useShownRead } from "./shown-read.ts";
import { filterOf, type TimeRange } from "./time-range.ts";

/** A zone or an account whose rows are counted. */
export interface Scope {
  readonly kind: "zones" | "accounts";
  readonly id: string;
}

/** A count with whatever sums, quantiles and dimensions the query asks for. */
export interface Group<D = Readonly<Record<string, string>>> {
  readonly count: number;
  readonly sum?: Readonly<Record<string, number>>;
  readonly quantiles?: Readonly<Record<string, number>>;
  readonly avg?: { readonly sampleInterval?: number | null };
  readonly dimensions: D;
}

const EVERY_MS = 60_000;

/** GraphQL's literals: names of fields without quotes. */
const literal = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(literal).join(", ")}]`
    : typeof value === "object" && value !== null
      ? `{ ${Object.entries(value)
          .map(([name, one]) => `${name}: ${literal(one)}`)
          .join(", ")} }`
      : JSON.stringify(value);

/** A node of groups within a range. `filter` is joined with the range's own; `fields` stand within the braces. */
export const groupsNode = (
  node: string,
  range: TimeRange,
  fields: string,
  { filter = {}, order, limit = 10_000 }: { readonly filter?: object; readonly order?: string; readonly limit?: number } = {},
): string =>
  `${node}(limit: ${limit}, filter: ${literal({ ...filterOf(range), ...filter })}${order === undefined ? "" : `, orderBy: [${order}]`}) { ${fields} }`;

/** Several nodes of one scope in one request, each under its own name. Sends none while the scope is unknown. */
export const useGroups = <N extends string, D = Readonly<Record<string, string>>>(
  scope: Scope | undefined,
  nodes: Readonly<Record<N, string>>,
): UseQueryResult<Readonly<Record<N, readonly Group<D>[]>>> => {
  const body = Object.entries<string>(nodes)
    .map(([name, node]) => `${name}: ${node}`)
    .join("\n    ");
  return useShownRead({
    queryKey: ["groups", scope?.kind, scope?.id, body],
    enabled: scope !== undefined,
    placeholderData: (old) => old,
    refetchInterval: EVERY_MS,
    queryFn: async ({ signal }) => {
      const { kind = "zones", id } = scope ?? {};
      const tag = kind === "zones" ? "zoneTag" : "accountTag";
      const query = `query ($id: string!) {\n  viewer { ${kind}(filter: { ${tag}: $id }) {\n    ${body}\n  } }\n}`;
      type Found = Readonly<Record<N, readonly Group<D>[]>>;
      const { viewer } = await graphql<{ viewer: Record<string, readonly Found[]> }>(query, { id }, signal);
      return viewer[kind]?.[0] ?? ({} as Found);
    },
  });
};

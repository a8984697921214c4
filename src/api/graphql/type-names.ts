import type * as GraphQl from "graphql";

/**
 * Clients declare variables with the type names of the service whose interface this is: `string`, `uint64` and
 * `ZoneHttpRequestsAdaptiveGroupsFilter_InputObject`. These become the names that our schema has.
 */
export const withPlainTypes = ({ visit }: typeof GraphQl, document: GraphQl.DocumentNode): GraphQl.DocumentNode =>
  visit(document, {
    VariableDefinition: {
      leave: (node) => visit(node, { NamedType: (type) => ({ ...type, name: { ...type.name, value: plainType(type.name.value) } }) }),
    },
  });

const SCALARS: Readonly<Record<string, string>> = {
  string: "String",
  uint8: "Int",
  uint16: "Int",
  uint32: "Int",
  uint64: "Int",
  int64: "Int",
  float32: "Float",
  float64: "Float",
  bool: "Boolean",
  boolean: "Boolean",
};

/** Totals of all lengths have one filter; so have the rows and the groups of a dataset. */
function plainType(name: string): string {
  const [, node] = /^(?:Zone|Account)?([A-Z]\w*)Filter_InputObject$/.exec(name) ?? [];
  if (node === undefined) return SCALARS[name] ?? name;
  if (/^HttpRequests1[mhd]Groups$/.test(node)) return "HttpTotalsFilter";
  return `${node.replace(/Adaptive(Groups)?$/, "")}Filter`;
}

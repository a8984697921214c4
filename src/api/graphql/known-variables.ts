import type * as GraphQl from "graphql";

/**
 * Gives each variable the type of the place where it is used. Clients of the original service declare variables by that
 * service's own names (`string`, `uint64`, `ZoneHttpRequestsAdaptiveGroupsFilter_InputObject`), by those of GraphQL, or
 * not at all, and it accepts all of these. Unused declarations are removed. Values are still checked against the type.
 */
export function withKnownVariables(graphql: typeof GraphQl, schema: GraphQl.GraphQLSchema, document: GraphQl.DocumentNode) {
  const types = usedTypes(graphql, schema, document);
  return graphql.visit(document, {
    OperationDefinition: (operation) => {
      const declared = new Map((operation.variableDefinitions ?? []).map((definition) => [definition.variable.name.value, definition]));
      const used = usedIn(graphql, document, operation);
      return {
        ...operation,
        variableDefinitions: [...used].flatMap((name) => definitionOf(graphql, name, types.get(name), declared.get(name))),
      };
    },
    FragmentDefinition: () => false,
  }) as GraphQl.DocumentNode;
}

type Definition = GraphQl.VariableDefinitionNode;

/** A variable in an unknown place keeps its declaration, so that validation reports the error of the place. */
function definitionOf(graphql: typeof GraphQl, name: string, used: string | undefined, declared: Definition | undefined): Definition[] {
  if (used === undefined) return declared === undefined ? [] : [declared];
  const isRequired = declared?.type.kind === graphql.Kind.NON_NULL_TYPE && !used.endsWith("!");
  const type = graphql.parseType(isRequired ? `${used}!` : used);
  if (declared !== undefined) return [{ ...declared, type }];
  const variable = { kind: graphql.Kind.VARIABLE, name: { kind: graphql.Kind.NAME, value: name } } as const;
  return [{ kind: graphql.Kind.VARIABLE_DEFINITION, variable, type }];
}

/** By variable, as GraphQL writes a type; if places differ only in whether they can be empty, the type that cannot. */
function usedTypes(graphql: typeof GraphQl, schema: GraphQl.GraphQLSchema, document: GraphQl.DocumentNode): ReadonlyMap<string, string> {
  const info = new graphql.TypeInfo(schema);
  const types = new Map<string, string>();
  const visitor: GraphQl.ASTVisitor = {
    VariableDefinition: () => false,
    Variable: ({ name: { value: name } }) => {
      const type = info.getInputType();
      if (type && (!types.has(name) || `${types.get(name)}!` === String(type))) types.set(name, String(type));
    },
  };
  graphql.visit(document, graphql.visitWithTypeInfo(info, visitor));
  return types;
}

/** Names of the variables in an operation and in the fragments that it spreads, each fragment visited once. */
function usedIn(graphql: typeof GraphQl, document: GraphQl.DocumentNode, operation: GraphQl.OperationDefinitionNode): ReadonlySet<string> {
  const names = new Set<string>();
  const spread = new Set<string>();
  const look = (node: GraphQl.ASTNode): void =>
    void graphql.visit(node, {
      VariableDefinition: () => false,
      Variable: ({ name }) => void names.add(name.value),
      FragmentSpread: ({ name }) => void spread.add(name.value),
    });
  look(operation);
  // The set grows during the iteration, and each name is visited once.
  for (const name of spread) {
    const fragment = document.definitions.find((node) => node.kind === graphql.Kind.FRAGMENT_DEFINITION && node.name.value === name);
    if (fragment !== undefined) look(fragment);
  }
  return names;
}

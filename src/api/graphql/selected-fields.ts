import type { FragmentDefinitionNode, GraphQLResolveInfo, SelectionSetNode } from "graphql";

/**
 * Names of the fields asked for under the field `parent` of what is being resolved, or of itself where it is null, through
 * fragments of either kind, each once. Validation has refused fragments that contain themselves (GraphQL §5.5.2.2), so that the walk ends.
 */
export function selectedFields(info: GraphQLResolveInfo, parent: string | null): readonly string[] {
  const fragments = info.fragments as unknown as Readonly<
    Record<string, FragmentDefinitionNode | { readonly definition: FragmentDefinitionNode }>
  >;
  const found = new Set<string>();
  const walk = (set: SelectionSetNode | undefined, inside: boolean): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === "InlineFragment") walk(selection.selectionSet, inside);
      else if (selection.kind === "FragmentSpread") {
        const fragment = fragments[selection.name.value];
        walk(fragment && "definition" in fragment ? fragment.definition.selectionSet : fragment?.selectionSet, inside);
      } else if (inside) found.add(selection.name.value);
      else if (selection.name.value === parent) walk(selection.selectionSet, true);
    }
  };
  for (const node of info.fieldNodes) walk(node.selectionSet, parent === null);
  return [...found];
}

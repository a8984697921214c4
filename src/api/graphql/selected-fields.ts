import type { FieldNode, FragmentDefinitionNode, GraphQLResolveInfo, SelectionNode, SelectionSetNode } from "graphql";

/**
 * Names of the requested fields under the field `parent` of the resolved object, or of the object itself if `parent` is
 * null, each once: fields excluded by `@skip` and `@include` do not count.
 */
export function selectedFields(info: GraphQLResolveInfo, parent: string | null): readonly string[] {
  const top = [...collected(info, info.fieldNodes).values()].flat();
  const fields =
    parent === null
      ? top
      : [
          ...collected(
            info,
            top.filter((node) => node.name.value === parent),
          ).values(),
        ].flat();
  return [...new Set(fields.map((node) => node.name.value))];
}

/**
 * Number of values that each row of the resolved object will show, with names of nested lists counted once; stops
 * counting at `max`.
 */
export function valuesInRow(info: GraphQLResolveInfo, max: number): number {
  let values = 0;
  const count = (nodes: readonly FieldNode[]): void => {
    for (const inner of collected(info, nodes).values()) {
      if (values >= max) return;
      if (inner[0]?.selectionSet === undefined) values += 1;
      else count(inner);
    }
  };
  count(info.fieldNodes);
  return values;
}

/**
 * The fields below these, by their names in the answer (GraphQL §6.3.2). A fragment is visited once, however often it is
 * spread, so that nested fragments cost no more than their text.
 */
function collected(info: GraphQLResolveInfo, parents: readonly FieldNode[]): ReadonlyMap<string, FieldNode[]> {
  const found = new Map<string, FieldNode[]>();
  const entered = new Set<string>();
  const walk = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (!isIncluded(info, selection)) continue;
      if (selection.kind === "InlineFragment") walk(selection.selectionSet);
      else if (selection.kind === "FragmentSpread") {
        if (entered.has(selection.name.value)) continue;
        entered.add(selection.name.value);
        walk(fragmentOf(info, selection.name.value)?.selectionSet);
      } else {
        const key = (selection.alias ?? selection.name).value;
        const same = found.get(key);
        if (same === undefined) found.set(key, [selection]);
        else same.push(selection);
      }
    }
  };
  for (const { selectionSet } of parents) walk(selectionSet);
  return found;
}

function fragmentOf({ fragments }: GraphQLResolveInfo, name: string): FragmentDefinitionNode | undefined {
  const fragment = (fragments as unknown as Readonly<Record<string, FragmentDefinitionNode | { definition: FragmentDefinitionNode }>>)[
    name
  ];
  return fragment && "definition" in fragment ? fragment.definition : fragment;
}

function isIncluded({ variableValues }: GraphQLResolveInfo, { directives = [] }: SelectionNode): boolean {
  return directives.every(({ name, arguments: given = [] }) => {
    if (name.value !== "skip" && name.value !== "include") return true;
    const value = given[0]?.value;
    const isSet = value?.kind === "Variable" ? variableValues.coerced[value.name.value] : value?.kind === "BooleanValue" && value.value;
    return (isSet === true) === (name.value === "include");
  });
}

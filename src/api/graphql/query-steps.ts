import type { DocumentNode, FieldNode, FragmentDefinitionNode, SelectionSetNode } from "graphql";
import { PlatformError } from "#kernel/errors/errors.ts";

/** Documents of dashboards and exporters need a few hundred. */
const STEPS_MAX = 6_000;

/**
 * Throws `invalid_input` for a document with a slow validation: fields of one response name are merged, and validation
 * compares each pair of them (GraphQL specification, §5.3.2), in each place into which a fragment is spread. Takes as
 * many steps as it counts, and ends at the limit.
 */
export function boundSteps(document: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of document.definitions) if (one.kind === "FragmentDefinition") fragments.set(one.name.value, one);
  const reached = new Set<string>();
  let steps = 0;
  const count = (some: number): void => {
    steps += some;
    if (steps > STEPS_MAX)
      throw new PlatformError("invalid_input", { message: "The query is too complex: use fewer repeated fields and fragments." });
  };
  const walk = (from: SelectionSetNode): void => {
    const open: (readonly SelectionSetNode[])[] = [[from]];
    for (let merged = open.pop(); merged !== undefined; merged = open.pop()) {
      for (const fields of byResponseName(merged, { fragments, reached, count }).values()) {
        // Each pair of them.
        count((fields.length * (fields.length - 1)) / 2);
        const below = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
        if (below.length > 0) open.push(below);
      }
    }
  };
  for (const one of document.definitions) if (one.kind === "OperationDefinition") walk(one.selectionSet);
  // Validation also reads fragments that no operation spreads.
  for (const [name, { selectionSet }] of fragments) if (!reached.has(name)) walk(selectionSet);
}

interface Walk {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Names of fragments that are spread in any place. */
  readonly reached: Set<string>;
  count(some: number): void;
}

/** The merged fields of selection sets, including those of fragments. */
function byResponseName(merged: readonly SelectionSetNode[], { fragments, reached, count }: Walk): ReadonlyMap<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const open = [...merged];
  for (let set = open.pop(); set !== undefined; set = open.pop()) {
    count(set.selections.length);
    for (const selection of set.selections) {
      if (selection.kind === "InlineFragment") open.push(selection.selectionSet);
      else if (selection.kind === "Field") {
        const name = (selection.alias ?? selection.name).value;
        const same = fields.get(name);
        if (same) same.push(selection);
        else fields.set(name, [selection]);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        reached.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) open.push(fragment.selectionSet);
      }
    }
  }
  return fields;
}

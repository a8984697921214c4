import type * as GraphQl from "graphql";
import { PlatformError } from "#kernel/errors/errors.ts";

/** Nesting of fields: our own queries need at most nine levels. */
const DEPTH_MAX = 15;
/** `__schema` and `__type` in one document. */
const SCHEMA_FIELDS_MAX = 5;
/** Limits for variables: their lists and objects are copied, field by field, before they can be checked. */
const OBJECTS_MAX = 1_000;
const VALUES_MAX = 20_000;
const NESTED_MAX = 64;

/** Refuses fields that are nested too deeply; validation has a separate limit for introspection. */
export const depthRule =
  ({ GraphQLError }: typeof GraphQl): GraphQl.ValidationRule =>
  (context) => {
    let depth = 0;
    return {
      Field: {
        enter: (node) => {
          depth += 1;
          if (depth > DEPTH_MAX)
            context.reportError(new GraphQLError(`Fields can be nested at most ${DEPTH_MAX} levels deep.`, { nodes: node }));
        },
        leave: () => {
          depth -= 1;
        },
      },
    };
  };

/** The schema appears as often as its fields have names: aliases would make an answer of any length. */
export const introspectionRule =
  ({ GraphQLError }: typeof GraphQl): GraphQl.ValidationRule =>
  (context) => {
    let asked = 0;
    return {
      Field: (node) => {
        const name = node.name.value;
        if (name === "__schema" || name === "__type") {
          asked += 1;
          if (asked === SCHEMA_FIELDS_MAX + 1)
            context.reportError(
              new GraphQLError(`A query can have __schema and __type at most ${SCHEMA_FIELDS_MAX} times.`, { nodes: node }),
            );
        } else if (node.alias && context.getParentType()?.name.startsWith("__"))
          context.reportError(new GraphQLError(`Schema fields cannot have an alias: ${name} has one.`, { nodes: node }));
      },
    };
  };

/** Throws `invalid_input` for more variable values than a query can use. */
export function boundVariables(variables: Readonly<Record<string, unknown>> | null | undefined): void {
  let objects = 0;
  let values = 0;
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: variables, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value !== "object" || value === null) continue;
    const inner = Object.values(value);
    objects += Array.isArray(value) ? 0 : 1;
    values += inner.length;
    if (objects > OBJECTS_MAX || values > VALUES_MAX || depth > NESTED_MAX)
      throw new PlatformError("invalid_input", {
        message: `variables can contain at most ${OBJECTS_MAX} objects and ${VALUES_MAX} values, nested at most ${NESTED_MAX} levels deep`,
      });
    for (const each of inner) open.push({ value: each, depth: depth + 1 });
  }
}

import type { ExpressionOptions } from "#rules/expression/expression.ts";
import { changing, type FieldChange, type FieldOperation } from "./field-change.ts";
import { compileText } from "#rules/parameters/values.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

export type ReadChanges = (request: RequestView, response: ResponseView | null) => readonly FieldChange[];

/** As validated by the shapes of rules. */
interface Edit {
  readonly operation: FieldOperation;
  readonly value?: string;
  readonly expression?: string;
}

const NONE: readonly FieldChange[] = [];

/**
 * Compiles the header changes of a `rewrite`: changes that are ready to be sent, or a function that reads them for a
 * request if a value is computed. A computed value that is missing changes nothing.
 */
export function compileHeaderChanges(
  parameters: Readonly<Record<string, unknown>>,
  phase: string,
  options: ExpressionOptions,
): readonly FieldChange[] | ReadChanges {
  const headers = Object.entries((parameters["headers"] ?? {}) as Readonly<Record<string, Edit>>);
  if (headers.length === 0) return NONE;
  const rows = headers.map(([name, { operation, value, expression }]) => {
    const change = changing(name, operation);
    if (operation === "remove") return { fixed: change("") };
    if (expression === undefined) return { fixed: change(Buffer.from(value ?? "").toString("latin1")) };
    return { change, read: compileText(expression, phase, options) };
  });
  const fixed = rows.flatMap((row) => row.fixed ?? NONE);
  if (fixed.length === rows.length) return fixed;
  return (request, response) => {
    const changes: FieldChange[] = [];
    for (const row of rows) {
      if (row.fixed !== undefined) {
        changes.push(row.fixed);
        continue;
      }
      const value = row.read(request, response);
      if (typeof value === "string") changes.push(row.change(value));
    }
    return changes;
  };
}

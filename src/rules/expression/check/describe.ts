import { type Phase, phaseNamed } from "#rules/phases.ts";
import { isAvailable } from "./check-call.ts";
import { OPERATORS } from "./completions.ts";
import { fieldExists, FIELDS } from "#rules/expression/fields/fields.ts";
import { FUNCTIONS, signatureOf } from "#rules/expression/functions/functions.ts";
import { typeName } from "#rules/expression/values/value-type.ts";

/** Language elements that expressions of a phase may use, for editors. */
export interface LanguageTable {
  readonly fields: readonly { readonly name: string; readonly type: string; readonly summary: string; readonly is_missing: boolean }[];
  readonly functions: readonly {
    readonly name: string;
    readonly signature: string;
    readonly summary: string;
    readonly in_filters: boolean;
    readonly in_values: boolean;
  }[];
  readonly operators: readonly { readonly name: string; readonly types: readonly string[]; readonly summary: string }[];
  readonly connectives: readonly string[];
}

/** The table of a phase; null for an unknown phase. */
export function languageOf(name: string): LanguageTable | null {
  const phase: Phase | undefined = phaseNamed(name);
  if (phase === undefined) return null;
  return {
    fields: FIELDS.filter((field) => fieldExists(field, phase, false)).map((field) => ({
      name: field.name,
      type: typeName(field.type),
      summary: field.summary,
      is_missing: field.unknown === true,
    })),
    functions: FUNCTIONS.map((called) => ({
      name: called.name,
      signature: signatureOf(called),
      summary: called.summary,
      in_filters: isAvailable(called.filters, phase.name),
      in_values: isAvailable(called.values, phase.name),
    })).filter((row) => row.in_filters || row.in_values),
    operators: OPERATORS.map(({ label, types, summary }) => ({ name: label, types, summary })),
    connectives: ["and", "or", "xor", "not"],
  };
}

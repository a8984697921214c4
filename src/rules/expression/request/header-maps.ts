import { charge, ITEM_STEPS } from "#rules/budget.ts";
import type { HeaderFields } from "#rules/views.ts";
import type { ValueMap } from "#rules/expression/values/value-type.ts";

/** Common members of requests and responses. */
interface Headed {
  headers(name: string): readonly string[];
  header_fields?(): HeaderFields;
}

/** The values of a header, or undefined if the message lacks it. */
export function headerValues(message: Headed, name: string): readonly string[] | undefined {
  const values = message.headers(name.toLowerCase());
  return values.length === 0 ? undefined : values;
}

export const headerMap = (message: Headed): ValueMap => ({
  get: (name) => headerValues(message, name),
  values: () => {
    const fields = message.header_fields?.().names ?? [];
    charge(fields.length * 4 * ITEM_STEPS);
    const names = new Set(fields.map((name) => name.toLowerCase()));
    return Array.from(names, (name) => message.headers(name));
  },
});

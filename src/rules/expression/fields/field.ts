import type { ValueType, Value } from "#rules/expression/values/value-type.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

/** Undefined where the value is missing: every comparison with it is false (waf.md). Never throws. */
type Read = (request: RequestView, response: ResponseView | null) => Value | undefined;

export interface Field {
  readonly name: string;
  readonly type: ValueType;
  /** Fields of the response exist in its phases only. */
  readonly side: "request" | "response";
  readonly read: Read;
  /** For maps: the value of one key, without making the map. */
  readonly readKey?: (request: RequestView, response: ResponseView | null, key: string) => Value | undefined;
  /** One line for the reference and for editors. */
  readonly summary: string;
  /** Nothing here can know it: the value is always missing. */
  readonly unknown?: true;
}

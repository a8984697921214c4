import type { ValueType, Value } from "#rules/expression/values/value-type.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

/** Undefined if the value is missing: every comparison with it is false (waf.md). Never throws. */
type Read = (request: RequestView, response: ResponseView | null) => Value | undefined;

export interface Field {
  readonly name: string;
  readonly type: ValueType;
  /** Fields of the response exist only in its phases. */
  readonly side: "request" | "response";
  readonly read: Read;
  /** For maps: the value of one key, without making the map. */
  readonly readKey?: (request: RequestView, response: ResponseView | null, key: string) => Value | undefined;
  /** One line for the reference and for editors. */
  readonly summary: string;
  /** Whether the value is unknown here, and so always missing. */
  readonly unknown?: true;
}

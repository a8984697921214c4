import type { CallRules } from "#kernel/call-rules.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ChangeStep } from "./change-steps.ts";

/** The steps; those that change the type of a record are invalid once the rule has begun. An undo may change types. */
export const withFixedTypes = (steps: readonly ChangeStep[], rules: CallRules | undefined): readonly ChangeStep[] =>
  rules !== undefined && steps.some(changesType) && rules.refuses("fixed_record_types")
    ? steps.map((step) => (changesType(step) ? { ...step, error: new PlatformError("dns_type_invalid", { message: MESSAGE }) } : step))
    : steps;

const MESSAGE = "The type of a record cannot change: delete the record and create a new one.";

const changesType = ({ part, remove, place, error }: ChangeStep): boolean =>
  (part === "patches" || part === "puts") && error === null && remove !== null && place !== null && remove.type !== place.type;

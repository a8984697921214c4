import { type Static, Type } from "typebox";

const Day = Type.String({ format: "date" });

export const RehearsalCreate = Type.Object({
  as_of: Type.String({ maxLength: 10, description: "The day to rehearse, such as 2027-01-01." }),
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 30, description: "Number of days whose calls are used, including today; 7 by default." }),
  ),
});
export type RehearsalCreate = Static<typeof RehearsalCreate>;

/**
 * `gone`: the endpoint answers 410. `refused`: the request is an error. `ignored`: a part of it no longer has an
 * effect. `answer`: the response changes, which breaks clients that read removed parts.
 */
export const REHEARSAL_OUTCOMES = ["gone", "refused", "ignored", "answer"] as const;

export const RehearsalFinding = Type.Object({
  deprecation_id: Type.String(),
  /** The day from which the row is in force. */
  date: Day,
  outcome: Type.Enum([...REHEARSAL_OUTCOMES]),
  /** The error that callers get; null if they get none. */
  error: Type.Union([Type.Object({ code: Type.Integer(), message: Type.String() }), Type.Null()]),
  why: Type.String(),
  replacement: Type.Union([Type.String(), Type.Null()]),
  /** Method and path template. */
  route: Type.String(),
  /** The call and its replacement, if it is mechanical. Values are placeholders, because only the form of calls is known. */
  rewrite: Type.Optional(Type.Object({ before: Type.String(), curl: Type.String(), sdk: Type.String() })),
  token_id: Type.String(),
  token_name: Type.Optional(Type.String()),
  /** The caller's own API date, which keeps it working if `is_kept`. */
  api_date: Type.Optional(Day),
  is_kept: Type.Boolean(),
  calls: Type.Integer(),
  /** The day of the last of these calls. */
  last: Type.String(),
});
export type RehearsalFinding = Static<typeof RehearsalFinding>;

export const Rehearsal = Type.Object({
  as_of: Day,
  /** The operator's API date, the start of the examined changes. */
  from: Day,
  /** Number of examined calls. */
  calls: Type.Integer(),
  /** Calls that are gone, refused or ignored, and not kept working by a pin. */
  breaking: Type.Integer(),
  findings: Type.Array(RehearsalFinding),
  /** Older calls were dropped, because there are too many. */
  is_cut: Type.Boolean(),
});
export type Rehearsal = Static<typeof Rehearsal>;

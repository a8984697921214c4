/** The zone of a call. */
export interface ZoneRef {
  readonly id: string;
  readonly name: string;
  readonly account_id: string;
}

/** With the plan, for limits that depend on it. */
export interface PlannedZoneRef extends ZoneRef {
  readonly plan: string;
}

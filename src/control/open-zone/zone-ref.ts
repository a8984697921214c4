/** The zone that a call is about. */
export interface ZoneRef {
  readonly id: string;
  readonly name: string;
  readonly account_id: string;
}

/** The same where limits go by the plan. */
export interface PlannedZoneRef extends ZoneRef {
  readonly plan: string;
}

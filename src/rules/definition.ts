/** A rule as it is stored and snapshotted; more fields do no harm. */
export interface RuleDefinition {
  readonly id: string;
  readonly action: string;
  readonly action_parameters: Readonly<Record<string, unknown>>;
  readonly expression: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly version?: string;
  readonly logging?: { readonly enabled: boolean };
  readonly ratelimit?: Readonly<Record<string, unknown>>;
  /** What events call its action, where an older name is to be seen. */
  readonly event_action?: string;
}

export interface RulesetDefinition {
  readonly id: string;
  readonly phase: string;
  readonly version?: string;
  readonly rules: readonly RuleDefinition[];
}

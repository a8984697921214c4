/** A rule as it is stored and in the snapshot; other fields are ignored. */
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
  /** The name of the action in events, if they show an older name. */
  readonly event_action?: string;
  /** Name of its service in events, if it is not that of its ruleset. */
  readonly event_service?: string;
}

export interface RulesetDefinition {
  readonly id: string;
  readonly phase: string;
  readonly version?: string;
  readonly rules: readonly RuleDefinition[];
}

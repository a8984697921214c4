export interface LogpushJobsTable {
  id: number;
  account_id: string;
  dataset: string;
  enabled: number;
  /** `destination_conf`, sealed with the context `logpush:{id}`. */
  destination: string;
  /** JSON of `LogpushSettings`. */
  settings: string;
  /** When it was last enabled, in Unix milliseconds: older logs are not pushed. */
  since_ms: number;
  last_complete: string | null;
  last_error: string | null;
  error_message: string | null;
}

/** A node's counts for one zone and hour. */
export interface EventCountsTable {
  /** One of `COUNTED_KINDS`. */
  kind: string;
  zone_id: string;
  /** Empty for events without a selectable service, and for kinds without services. */
  service: string;
  hour_ms: number;
  node: string;
  /** Comma-separated counts, one per minute; empty if zero. */
  minutes: string;
}

export interface EventCountNodesTable {
  node: string;
  /** Identifies the process that wrote this. */
  run: string;
  /** All events before this time are counted. */
  counted_ms: number;
}

export interface NotificationWebhooksTable {
  id: string;
  account_id: string;
  name: string;
  /** Sealed; rows of older releases have it as it is. */
  url: string;
  /** Sealed; empty if none. */
  secret: string;
  /** The receiver's format. */
  kind: string;
  created_on: string;
  last_success: string | null;
  last_failure: string | null;
}

export interface NotificationPoliciesTable {
  id: string;
  account_id: string;
  alert_type: string;
  enabled: number;
  /** The rest of the policy, JSON. */
  value: string;
  created_on: string;
  modified_on: string;
}

export interface NotificationSilencesTable {
  id: string;
  policy_id: string;
  account_id: string;
  start_ms: number;
  end_ms: number;
  created_on: string;
  modified_on: string;
}

/** Spikes that a policy has notified about, so that each spike causes one notification. */
export interface NotificationSpikesTable {
  policy_id: string;
  /** The zone, and the service if the policy distinguishes services. */
  subject: string;
  /** 1 while the spike lasts. */
  above: number;
  told_ms: number;
}

export interface NotificationDeliveriesTable {
  id: string;
  account_id: string;
  policy_id: string;
  alert_type: string;
  name: string;
  description: string;
  body: string;
  /** `email` or `webhook`. */
  mechanism_type: string;
  /** The address, or the webhook's identifier. */
  mechanism: string;
  /** `pending`, `sent` or `failed`. */
  status: string;
  attempts: number;
  /** When the next attempt is due. */
  due_ms: number;
  created_ms: number;
  sent_on: string | null;
  error: string | null;
}

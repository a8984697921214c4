import { type Static, Type } from "typebox";
import { EVENT_SOURCES } from "#rules/services.ts";

/** A type of notification. The vendor's API has many more types, whose causes do not exist here. */
export interface AlertType {
  readonly type: string;
  /** The product under which lists show it. */
  readonly product: string;
  readonly display_name: string;
  readonly description: string;
  /** The value that is compared with its history each minute; absent: the notification is sent when the event occurs. */
  readonly spike?: SpikeKind;
  /** Filters that a policy of the type may have. */
  readonly filters: readonly AlertFilter[];
  /** The type applies to zones of this plan only. */
  readonly plan?: "enterprise";
}
export type AlertFilter = "zones" | "services" | "slo";
/**
 * Errors of the edge are pages that it generated because an origin could not answer (`edge_error`); other errors are the
 * origin's.
 */
export type SpikeKind = "security_events" | "edge_errors" | "origin_errors";

export const ALERT_TYPES = [
  {
    type: "clickhouse_alert_fw_anomaly",
    product: "Application Security",
    spike: "security_events",
    display_name: "Security Events Alert",
    description: "A zone has far more security events than usual at this hour.",
    filters: ["zones"],
  },
  {
    type: "clickhouse_alert_fw_ent_anomaly",
    product: "Application Security",
    spike: "security_events",
    display_name: "Advanced Security Events Alert",
    description: "A service has far more security events in a zone than usual at this hour.",
    filters: ["zones", "services"],
    plan: "enterprise",
  },
  {
    type: "http_alert_origin_error",
    product: "Traffic Monitoring",
    spike: "origin_errors",
    display_name: "Origin Error Rate Alert",
    description: "Origins of a zone return far more 5xx responses than usual at this hour.",
    filters: ["zones", "slo"],
  },
  {
    type: "http_alert_edge_error",
    product: "Traffic Monitoring",
    spike: "edge_errors",
    display_name: "Edge Error Rate Alert",
    description: "The edge itself returns far more errors for a zone than usual at this hour, because origins do not respond.",
    filters: ["zones", "slo"],
  },
  {
    type: "universal_ssl_event_type",
    product: "SSL/TLS",
    display_name: "Universal SSL Alert",
    description: "A certificate authority issued or renewed a zone's certificate, or failed to.",
    filters: ["zones"],
  },
  {
    type: "custom_ssl_certificate_event_type",
    product: "SSL/TLS",
    display_name: "SSL for SaaS Custom Hostnames Alert",
    description: "A certificate authority issued or renewed a custom hostname's certificate, or failed to.",
    filters: ["zones"],
  },
  {
    type: "secondary_dns_all_primaries_failing",
    product: "DNS",
    display_name: "Secondary DNS All Primaries Failing",
    description: "No primary of a secondary zone responds, or the zone has expired.",
    filters: ["zones"],
  },
  {
    type: "secondary_dns_zone_successfully_updated",
    product: "DNS",
    display_name: "Secondary DNS Successfully Updated",
    description: "A secondary zone was transferred from its primary.",
    filters: ["zones"],
  },
  {
    type: "zone_moved",
    product: "DNS",
    display_name: "Zone Moved",
    description: "A zone no longer serves because its parent names other name servers, or because another account has proved its name.",
    filters: ["zones"],
  },
  {
    type: "api_deprecation_ending",
    product: "API",
    display_name: "API Deprecation Alert",
    description: "Tokens still use parts of the API that end in 90, 30 or 7 days or in 1 day.",
    filters: [],
  },
  {
    type: "scriptmonitor_alert_new_hosts",
    product: "Page Shield",
    display_name: "New Host Alert",
    description: "Pages of a zone load scripts from a host, or connect to one, that they did not use before.",
    filters: ["zones"],
  },
  {
    type: "scriptmonitor_alert_new_resources",
    product: "Page Shield",
    display_name: "New Script Alert",
    description: "Pages of a zone load scripts that they did not load before.",
    filters: ["zones"],
  },
  {
    type: "scriptmonitor_alert_new_code_change_detections",
    product: "Page Shield",
    display_name: "Changed Script Alert",
    description: "The content of scripts that pages of a zone load has changed.",
    filters: ["zones"],
  },
] as const satisfies readonly AlertType[];
export type AlertTypeName = (typeof ALERT_TYPES)[number]["type"];

/** Services of security events, as policies refer to them; `name` appears in events and texts. */
export const ALERT_SERVICES = [
  { id: "dlp", name: "Data Loss Protection", phases: ["http_response_firewall_managed"] },
  { id: "firewallcustom", name: "Custom Rules", phases: ["http_request_firewall_custom"] },
  { id: "firewallmanaged", name: "Managed Rules", phases: ["http_request_firewall_managed"] },
  { id: "ratelimit", name: "Rate Limiting Rules", phases: ["http_ratelimit"] },
] as const;
export type AlertServiceId = (typeof ALERT_SERVICES)[number]["id"];

export const alertType = (type: string): AlertType | undefined => ALERT_TYPES.find((row) => row.type === type);

/** The vendor's names for services that this server has by another one. */
const OTHER_NAMES: Readonly<Record<string, AlertServiceId>> = { firewallrules: "firewallcustom", waf: "firewallmanaged" };

/** Finds a service by its identifier, its name or another name of it, ignoring case. */
export const alertService = (text: string): (typeof ALERT_SERVICES)[number] | undefined => {
  const wanted = text.toLowerCase();
  const other = Object.hasOwn(OTHER_NAMES, wanted) ? OTHER_NAMES[wanted] : undefined;
  return ALERT_SERVICES.find(({ id, name }) => id === (other ?? wanted) || name.toLowerCase() === wanted);
};

/** Whether the policy may name the service: also one of the vendor's products that this server lacks, which then matches nothing. */
export const isAlertService = (text: string): boolean =>
  alertService(text) !== undefined || Object.hasOwn(EVENT_SOURCES, text.toLowerCase());

const Id = Type.Object({ id: Type.String({ maxLength: 320 }) });

export const MECHANISMS_MAX = 20;
const Mechanisms = Type.Object({
  email: Type.Optional(Type.Array(Id, { maxItems: MECHANISMS_MAX })),
  webhooks: Type.Optional(Type.Array(Id, { maxItems: MECHANISMS_MAX })),
  pagerduty: Type.Optional(Type.Array(Id, { maxItems: MECHANISMS_MAX })),
});
const Filters = Type.Record(Type.String({ maxLength: 64 }), Type.Array(Type.String({ maxLength: 255 }), { maxItems: 1000 }));

/** One line, since it is used in subjects of messages. */
const Name = Type.String({ minLength: 1, maxLength: 255, pattern: "^[^\\x00-\\x1f\\x7f]+$" });

const policyFields = {
  name: Name,
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  enabled: Type.Boolean(),
  alert_type: Type.String({ maxLength: 100 }),
  alert_interval: Type.Optional(
    Type.String({
      maxLength: 20,
      description:
        "The minimum time between two alerts about the same spike: `30m`, `4h`. Alerts that are not about spikes are always sent.",
    }),
  ),
  filters: Type.Optional(Filters),
  mechanisms: Mechanisms,
};

export const NotificationPolicyCreate = Type.Object(policyFields);
export type NotificationPolicyCreate = Static<typeof NotificationPolicyCreate>;

export const NotificationPolicyUpdate = Type.Partial(Type.Object(policyFields));
export type NotificationPolicyUpdate = Static<typeof NotificationPolicyUpdate>;

export const NotificationPolicy = Type.Object({ id: Type.String(), ...policyFields, created: Type.String(), modified: Type.String() });
export type NotificationPolicy = Static<typeof NotificationPolicy>;

export const NotificationId = Type.Object({ id: Type.String() });

/** Used unchanged in a header field: visible characters, with spaces between them (RFC 9110 §5.5). */
const SECRET = "^([\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?)?$";

export const WebhookWrite = Type.Object({
  name: Name,
  url: Type.String({ minLength: 1, maxLength: 2048 }),
  secret: Type.Optional(
    Type.String({
      maxLength: 512,
      pattern: SECRET,
      description: "The server signs its requests with this secret; responses never show it.",
    }),
  ),
});
export type WebhookWrite = Static<typeof WebhookWrite>;

export const WEBHOOK_KINDS = ["discord", "gchat", "generic", "slack"] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

export const Webhook = Type.Object({
  id: Type.String(),
  name: Type.String(),
  url: Type.String(),
  type: Type.Enum([...WEBHOOK_KINDS]),
  created_at: Type.String(),
  last_success: Type.Optional(Type.String()),
  last_failure: Type.Optional(Type.String()),
});
export type Webhook = Static<typeof Webhook>;

export const NotificationHistoryEntry = Type.Object({
  id: Type.String(),
  policy_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  alert_type: Type.String(),
  alert_body: Type.String(),
  mechanism: Type.String({ description: "The e-mail address or the webhook's identifier." }),
  mechanism_type: Type.Enum(["email", "webhook"]),
  sent: Type.Union([Type.String(), Type.Null()]),
  status: Type.Enum(["pending", "sent", "failed"]),
  error: Type.Optional(Type.String()),
});
export type NotificationHistoryEntry = Static<typeof NotificationHistoryEntry>;

export const NotificationHistoryQuery = Type.Object({
  since: Type.Optional(Type.String({ maxLength: 40 })),
  before: Type.Optional(Type.String({ maxLength: 40 })),
});
export type NotificationHistoryQuery = Static<typeof NotificationHistoryQuery>;

const silenceFields = {
  policy_id: Type.String({ maxLength: 64 }),
  start_time: Type.String({ maxLength: 40 }),
  end_time: Type.String({ maxLength: 40 }),
};
export const SilencesCreate = Type.Array(Type.Object(silenceFields), { minItems: 1, maxItems: 100 });
export type SilencesCreate = Static<typeof SilencesCreate>;

export const SilencesUpdate = Type.Array(
  Type.Object({
    id: Type.String({ maxLength: 64 }),
    start_time: Type.Optional(silenceFields.start_time),
    end_time: Type.Optional(silenceFields.end_time),
  }),
  { minItems: 1, maxItems: 100 },
);
export type SilencesUpdate = Static<typeof SilencesUpdate>;

export const Silence = Type.Object({ id: Type.String(), ...silenceFields, created_at: Type.String(), updated_at: Type.String() });
export type Silence = Static<typeof Silence>;

export const AvailableAlerts = Type.Record(
  Type.String(),
  Type.Array(
    Type.Object({
      type: Type.String(),
      display_name: Type.String(),
      description: Type.String(),
      filter_options: Type.Array(Type.Unknown()),
    }),
  ),
);
export const EligibleMechanisms = Type.Record(
  Type.String(),
  Type.Array(Type.Object({ type: Type.Enum(["email", "pagerduty", "webhook"]), eligible: Type.Boolean(), ready: Type.Boolean() })),
);

import type { WebhookKind } from "#model/events/notification.ts";
import type { Alert } from "#control/notifications/alerts/alert.ts";

/** Data about an alert besides its content. */
export interface AlertContext {
  readonly id: string;
  readonly account_id: string;
  readonly policy_id: string;
  readonly policy_name: string;
  readonly alert_type: string;
  readonly atMs: number;
}

interface Kind {
  readonly kind: WebhookKind;
  /** Hosts whose webhooks require this format. */
  readonly hosts: readonly string[];
  body(alert: Alert, context: AlertContext): Readonly<Record<string, unknown>>;
}

/** Discord rejects longer messages. */
const DISCORD_CHARS_MAX = 2000;

/** A surrogate half at the end would be invalid. */
const cut = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, "")}…`;

/** Slack interprets these characters as markup for links and mentions. */
const slackText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Services that require their own message format; all other receivers get the complete data. */
const KINDS: readonly Kind[] = [
  { kind: "slack", hosts: ["hooks.slack.com"], body: ({ subject, text }) => ({ text: `*${slackText(subject)}*\n${slackText(text)}` }) },
  {
    kind: "discord",
    hosts: ["discord.com", "discordapp.com"],
    body: ({ subject, text }) => ({ content: cut(`**${subject}**\n${text}`, DISCORD_CHARS_MAX), allowed_mentions: { parse: [] } }),
  },
  { kind: "gchat", hosts: ["chat.googleapis.com"], body: ({ subject, text }) => ({ text: `*${subject}*\n${text}` }) },
];

const GENERIC: Kind = {
  kind: "generic",
  hosts: [],
  body: ({ subject, text, data }, { id, atMs, policy_name, ...context }) => ({
    name: subject,
    text,
    data,
    ts: Math.floor(atMs / 1000),
    policy_name,
    ...context,
    alert_correlation_id: id,
  }),
};

export const webhookKindOf = (url: URL): WebhookKind => KINDS.find(({ hosts }) => hosts.includes(url.hostname))?.kind ?? "generic";

export const webhookBody = (kind: string, alert: Alert, context: AlertContext): string =>
  JSON.stringify((KINDS.find((row) => row.kind === kind) ?? GENERIC).body(alert, context));

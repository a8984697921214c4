import assert from "node:assert/strict";
import { test } from "node:test";
import { webhookBody, webhookKindOf } from "./webhook-kinds.ts";

const CONTEXT = { id: "i", account_id: "a", policy_id: "p", policy_name: "R&D", alert_type: "t", atMs: 1_700_000_000_999 };

/** The body of an alert for a receiver at the address. */
function sentTo(url: string, subject: string, text: string): Record<string, unknown> {
  const kind = webhookKindOf(new URL(url));
  return JSON.parse(webhookBody(kind, { subject, text, data: { n: 1 } }, CONTEXT));
}

test("known services get their own format, and other receivers the general one", () => {
  const told = (url: string) => sentTo(url, "Subject", "Text.");
  assert.deepEqual(told("https://hooks.slack.com/services/T/B/x"), { text: "*Subject*\nText." });
  assert.deepEqual(told("https://chat.googleapis.com/v1/spaces/x/messages?key=k"), { text: "*Subject*\nText." });
  const discord = { content: "**Subject**\nText.", allowed_mentions: { parse: [] } };
  assert.deepEqual(told("https://discord.com/api/webhooks/1/x"), discord);
  assert.deepEqual(told("https://hooks.slack.com.example/"), {
    ...{ name: "Subject", text: "Text.", data: { n: 1 }, ts: 1_700_000_000, policy_name: "R&D" },
    ...{ account_id: "a", policy_id: "p", alert_type: "t", alert_correlation_id: "i" },
  });
});

test("Slack markup in an alert is escaped", () => {
  const { text } = sentTo("https://hooks.slack.com/services/T/B/x", "Test of R&D", "<!channel> a > b &lt;");
  assert.equal(text, "*Test of R&amp;D*\n&lt;!channel&gt; a &gt; b &amp;lt;");
});

test("a message fits Discord's limit, and is cut between characters", () => {
  for (const before of [0, 1]) {
    const content = String(sentTo("https://discord.com/api/webhooks/1/x", "S", "a".repeat(before) + "🔥".repeat(1500))["content"]);
    assert.ok(content.length <= 2000 && content.length > 1990);
    assert.ok(content.isWellFormed() && content.endsWith("🔥…"));
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { sendNotifications } from "./send-notifications.ts";

test("the log names failed deliveries without recipient and content", async () => {
  const failure = {
    id: "01ab",
    mechanism_type: "email",
    mechanism: "someone@example.net",
    error: "of someone@example.net",
    logged: "RCPT TO: 550",
  };
  const job = sendNotifications({
    add: async () => undefined,
    hold: async () => [],
    sendNow: async () => [],
    sendDue: async () => ({ sent: 1, failures: Array.from({ length: 30 }, () => failure) }),
  });
  assert.deepEqual(await job.run(), { sent: 1, failures: 30, failed: Array.from({ length: 10 }, () => "email 01ab: RCPT TO: 550") });
});

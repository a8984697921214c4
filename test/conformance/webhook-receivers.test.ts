import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { createWebhookSender } from "#control/notifications/delivery/send-webhook.ts";
import { webhookBody } from "#control/notifications/delivery/webhook-kinds.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { eventually } from "../support/eventually.ts";
import { toolOrSkip } from "../support/tools.ts";

// The guide's own receivers run. Its commands run in test/guides/.

const GUIDE = await readFile(new URL("../../docs/guides/notifications.md", import.meta.url), "utf8");
const SECRET = "whsec-of-the-guide";
const ALERT = { subject: "Security events in one.example", text: "Many, ünd more.", data: { events: 700 } };

/** The guide's only block of a language, as it stands there. */
const only = (language: string): string => {
  const found = Array.from(GUIDE.matchAll(new RegExp(`^\`\`\`${language}(?: \\S+)?\\n([^]*?)^\`\`\`$`, "gm")), ([, block = ""]) => block);
  assert.equal(found.length, 1, `the guide has one block of ${language}`);
  return found[0] ?? "";
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

/** Starts the block as the guide says; gives where it listens, and what it has printed. */
async function receiver(t: TestContext, { name, command, block }: Receiver) {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-receiver-"));
  await writeFile(join(directory, name), block);
  const port = await freePort();
  const child = spawn(command, [name], {
    cwd: directory,
    env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    child.kill("SIGKILL");
    await rm(directory, { recursive: true, force: true });
  });
  const printed: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (part: string) => printed.push(part));
  const url = `http://127.0.0.1:${port}/`;
  await eventually(
    async () =>
      fetch(url, { method: "POST" }).then(
        ({ status }) => status === 401 || status === 413,
        () => false,
      ),
    100,
  );
  return { url, port, printed: () => printed.join("").split("\n").filter(Boolean) };
}

interface Receiver {
  readonly name: string;
  readonly command: string;
  readonly block: string;
  readonly skip: string | false;
}

const RECEIVERS: readonly Receiver[] = [
  { name: "receiver.mjs", command: process.execPath, block: only("js"), skip: false },
  { name: "receiver.py", command: "python3", block: only("python"), skip: toolOrSkip("python3") },
];

/** A real message sent at that time, with this identifier. */
async function signed(id: string, atMs: number, secret = SECRET): Promise<{ headers: Record<string, string>; body: string }> {
  const caught = Promise.withResolvers<{ headers: Record<string, string>; body: string }>();
  const catcher = createServer(async (req, res) => {
    caught.resolve({ headers: { "svc-webhook-signature": String(req.headers["svc-webhook-signature"]) }, body: await text(req) });
    res.end();
  }).listen(0, "127.0.0.1");
  await once(catcher, "listening");
  const context = { id, account_id: "a", policy_id: "p", policy_name: "Leaks", alert_type: "clickhouse_alert_fw_anomaly", atMs };
  const url = `http://127.0.0.1:${(catcher.address() as AddressInfo).port}/`;
  await createWebhookSender({ allowed: () => true, vendorPrefix: "svc" })({
    ...{ url, secret, id, atMs },
    body: webhookBody("generic", ALERT, context),
  });
  catcher.close();
  return caught.promise;
}

for (const one of RECEIVERS)
  test(
    `${one.name} in the guide accepts a signed webhook once, and refuses late, changed and replayed ones`,
    { skip: one.skip },
    async (t) => {
      const { url, printed } = await receiver(t, one);
      const post = async (sent: { readonly headers?: Record<string, string>; readonly body: string }): Promise<number> =>
        (await fetch(url, { method: "POST", ...sent, headers: sent.headers ?? {} })).status;
      const nowMs = Date.now();
      const [first, second] = [newId(), newId()];
      const good = await signed(first, nowMs);
      const field = good.headers["svc-webhook-signature"] ?? "";
      const [time = "", mark = ""] = field.split(",");
      const refused: Readonly<Record<string, { readonly headers?: Record<string, string>; readonly body: string }>> = {
        "without a signature": { body: good.body },
        "an altered body": { ...good, body: good.body.replace("Many", "None") },
        "a body with a byte more": { ...good, body: `${good.body} ` },
        "no body": { ...good, body: "" },
        "another time": { ...good, headers: { "svc-webhook-signature": `t=${Number(time.slice(2)) + 1},${mark}` } },
        "another secret": await signed(first, nowMs, "whsec-of-somebody"),
        "a signature of nothing": { ...good, headers: { "svc-webhook-signature": `${time},v1=` } },
        "a shorter signature": { ...good, headers: { "svc-webhook-signature": field.slice(0, -2) } },
        "another version": { ...good, headers: { "svc-webhook-signature": field.replace("v1", "v0") } },
        "two signatures": { ...good, headers: { "svc-webhook-signature": `${field},${mark}` } },
        "a simple hash": {
          ...good,
          headers: { "svc-webhook-signature": `${time},v1=${createHmac("sha256", "").update(good.body).digest("hex")}` },
        },
        "ten minutes late": await signed(first, nowMs - 600_000),
        "ten minutes early": await signed(first, nowMs + 600_000),
      };
      for (const [what, sent] of Object.entries(refused)) assert.equal(await post(sent), 401, what);
      assert.deepEqual(printed(), []);

      assert.equal(await post(good), 204);
      assert.equal(await post(good), 401, "replayed");
      assert.equal(await post(await signed(first, nowMs + 10_000)), 204, "the next attempt of a message whose answer was lost");
      assert.equal(await post(await signed(second, nowMs)), 204);
      await eventually(() => printed().length >= 2);
      assert.deepEqual(printed(), [ALERT.text, ALERT.text], "each is done once");
      assert.equal(await post({ ...good, body: "x".repeat(100_000) }).catch(() => 413), 413);
    },
  );

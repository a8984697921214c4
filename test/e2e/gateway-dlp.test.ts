import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { api, startSelvedge, type Selvedge } from "../support/selvedge.ts";

const CARD = "4012 8888 8888 1881";

/** From the profile that an operator picks to what a client and the log see. */
describe("data loss prevention of a gateway", () => {
  let selvedge: Selvedge;
  let mock: LLMock;
  let financial: string;

  const call = (method: string, path: string, body?: object) =>
    api(selvedge, selvedge.ready.token ?? "", method, `/accounts/${selvedge.ready.account_id}${path}`, body);
  const settings = {
    cache_invalidate_on_update: false,
    cache_ttl: null,
    collect_logs: true,
    rate_limiting_interval: null,
    rate_limiting_limit: null,
  };
  const client = (id: string): OpenAI =>
    new OpenAI({ baseURL: `${selvedge.ready.gateway}/v1/${selvedge.ready.account_id}/${id}/openai`, apiKey: "k", maxRetries: 0 });
  const asking = (content: string) => ({ model: "gpt-4o-mini", messages: [{ role: "user" as const, content }] });
  const lastLog = async (id: string): Promise<any> => {
    for (;;) {
      const { body } = await call("GET", `/ai-gateway/gateways/${id}/logs?per_page=1`);
      if (body.result.length > 0) return body.result[0];
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  before(async () => {
    mock = new LLMock({ port: 0, logLevel: "silent" });
    mock.onMessage("tell", { content: `Here it is: ${CARD}, as you asked.` }, { chunkSize: 3 });
    mock.onMessage(/./, { content: "Thank you." });
    await mock.start();
    selvedge = await startSelvedge({ args: ["--provider", `openai=${mock.url}/v1`] });
    const { body } = await call("GET", "/dlp/profiles");
    financial = body.result.find(({ name }: { name: string }) => name === "Financial Information").id;
    const policies = (action: string) => ({ enabled: true, action, profiles: [financial] });
    for (const [id, action] of [
      ["blocking", "BLOCK"],
      ["flagging", "FLAG"],
    ] as const) {
      const made = await call("POST", "/ai-gateway/gateways", { id, ...settings, dlp: policies(action) });
      assert.deepEqual([made.status, made.body.result.dlp], [200, policies(action)]);
    }
  });

  after(async () => {
    await selvedge?.stop();
    await mock?.stop();
  });

  test("profiles are shown with their entries; unknown ones are refused", async () => {
    const { body } = await call("GET", `/dlp/profiles/${financial}`);
    assert.ok(body.result.entries.length > 5);
    const refused = await call("PUT", "/ai-gateway/gateways/blocking", {
      ...settings,
      dlp: { enabled: true, action: "BLOCK", profiles: ["nonsense"] },
    });
    assert.equal(refused.status, 400);
    assert.match(refused.body.errors[0].message, /no profile nonsense/);
  });

  test("a request that is blocked never leaves, and its row says so", async () => {
    const before = mock.getRequests().length;
    await assert.rejects(client("blocking").chat.completions.create(asking(`charge ${CARD}`)), (error: any) => {
      assert.deepEqual([error.status, error.error[0].code], [400, 2029]);
      const { action, findings } = JSON.parse(error.headers.get("svc-aig-dlp"));
      assert.deepEqual([action, findings[0].profile.profile_id, findings[0].check], ["BLOCK", financial, "REQUEST"]);
      return true;
    });
    assert.equal(mock.getRequests().length, before);
    assert.equal((await lastLog("blocking")).status_code, 400);
  });

  test("an answer that is blocked does not arrive: whole with a code, streamed with an error and nothing of the number", async () => {
    const openai = client("blocking");
    await assert.rejects(
      openai.chat.completions.create(asking("tell")),
      (error: any) => error.status === 424 && error.error[0].code === 2030,
    );
    let text = "";
    await assert.rejects(async () => {
      for await (const chunk of await openai.chat.completions.create({ ...asking("tell"), stream: true }))
        text += chunk.choices[0]?.delta.content ?? "";
    });
    assert.doesNotMatch(text, /4012/);
    assert.equal((await openai.chat.completions.create(asking("hello"))).choices[0]?.message.content, "Thank you.");
  });

  test("what is flagged passes, and the field tells", async () => {
    const { data, response } = await client("flagging")
      .chat.completions.create(asking(`charge ${CARD}`))
      .withResponse();
    assert.equal(data.choices[0]?.message.content, "Thank you.");
    assert.equal(JSON.parse(response.headers.get("svc-aig-dlp") ?? "").action, "FLAG");
    let text = "";
    for await (const chunk of await client("flagging").chat.completions.create({ ...asking("tell"), stream: true }))
      text += chunk.choices[0]?.delta.content ?? "";
    assert.match(text, /4012 8888 8888 1881/);
  });
});

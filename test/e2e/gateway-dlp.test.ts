import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { api, startSelvedge, type Selvedge } from "../support/selvedge.ts";

const CARD = "4012 8888 8888 1881";

/** From the profile that an operator picks to what a client and the log see. */
describe("data loss prevention at a gateway", () => {
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
    mock.onMessage("staff", { content: "They are EMP-123456 and EMP-654321, as you asked for." }, { chunkSize: 3 });
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

  test("a profile lists its entries, and unknown profiles are refused", async () => {
    const { body } = await call("GET", `/dlp/profiles/${financial}`);
    assert.ok(body.result.entries.length > 5);
    const refused = await call("PUT", "/ai-gateway/gateways/blocking", {
      ...settings,
      dlp: { enabled: true, action: "BLOCK", profiles: ["nonsense"] },
    });
    assert.equal(refused.status, 400);
    assert.match(refused.body.errors[0].message, /Profile nonsense does not exist/);
  });

  test("a custom profile with patterns and words blocks requests and streams, and changes apply at once", async () => {
    const entries = [
      { name: "Employee numbers", enabled: true, pattern: { regex: "EMP-[0-9]{6}" } },
      { name: "Projects", enabled: true, words: ["Project Falcon", "Blue (Moon)"] },
      { name: "Off", enabled: false, words: ["Hidden"] },
    ];
    const made = await call("POST", "/dlp/profiles/custom", { name: "Ours", description: "of our own", entries });
    assert.deepEqual([made.status, made.body.result.type, made.body.result.entries.length], [200, "custom", 3]);
    const { id, entries: shown } = made.body.result;
    assert.deepEqual((await call("GET", `/dlp/profiles/custom/${id}`)).body.result, made.body.result);
    assert.ok((await call("GET", "/dlp/profiles")).body.result.some((one: { id: string }) => one.id === id));
    const dlp = { enabled: true, action: "BLOCK", profiles: [id] };
    assert.equal((await call("POST", "/ai-gateway/gateways", { id: "own", ...settings, dlp })).status, 200);

    for (const content of ["ask EMP-123456", "what is Project Falcon?", "about BLUE (moon)", "project falcon"])
      await assert.rejects(client("own").chat.completions.create(asking(content)), (error: any) => error.error[0].code === 2029);
    await assert.rejects(client("own").chat.completions.create(asking("EMP-123456")), (error: any) => {
      const { findings } = JSON.parse(error.headers.get("svc-aig-dlp"));
      assert.deepEqual([findings[0].profile.profile_id, findings[0].profile.entry_ids], [id, [shown[0].id]]);
      return true;
    });
    for (const content of ["EMP-12345x", "emp-123456", "Project Falcons", "Hidden"])
      assert.equal((await client("own").chat.completions.create(asking(content))).choices[0]?.message.content, "Thank you.");
    let text = "";
    await assert.rejects(async () => {
      for await (const chunk of await client("own").chat.completions.create({ ...asking("staff list"), stream: true }))
        text += chunk.choices[0]?.delta.content ?? "";
    });
    assert.ok(!text.includes("EMP-"), text);

    const changed = await call("PUT", `/dlp/profiles/custom/${id}`, {
      name: "Ours",
      entries: [{ entry_id: shown[0].id, name: "Employee numbers", enabled: true, pattern: { regex: "STAFF-[0-9]{4}" } }],
    });
    assert.equal(changed.body.result.entries[0].id, shown[0].id, "an entry that is named keeps its id");
    assert.equal((await client("own").chat.completions.create(asking("EMP-123456"))).choices.length, 1);
    await assert.rejects(client("own").chat.completions.create(asking("STAFF-1234")), (error: any) => error.status === 400);

    const refusals: readonly (readonly [string, string, object | undefined, string])[] = [
      ["POST", "", { name: "Ours", entries: [] }, "/name"],
      ["POST", "", { name: "Bad", entries: [{ name: "x", enabled: true, pattern: { regex: ".*" } }] }, "/entries/0/pattern/regex"],
      ["POST", "", { name: "Bad", entries: [{ name: "x", enabled: true, pattern: { regex: "ABC-[" } }] }, "/entries/0/pattern/regex"],
      ["POST", "", { name: "Bad", entries: [{ name: "x", enabled: true }] }, "/entries/0"],
      ["POST", "", { name: "Bad", entries: [], ocr_enabled: true }, "/ocr_enabled"],
      ["DELETE", `/${id}`, undefined, "/profile_id"],
    ];
    for (const [method, path, body, pointer] of refusals) {
      const refused = await call(method, `/dlp/profiles/custom${path}`, body);
      assert.deepEqual([refused.status, refused.body.errors[0].code, refused.body.errors[0].source?.pointer], [400, 7001, pointer]);
    }
    await call("PUT", "/ai-gateway/gateways/own", { ...settings, dlp: null });
    assert.equal((await call("DELETE", `/dlp/profiles/custom/${id}`)).status, 200);
    assert.equal((await call("GET", `/dlp/profiles/${id}`)).status, 404);
  });

  test("a blocked request never reaches the provider, and its row says so", async () => {
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

  test("a blocked response does not reach the client: buffered it gets an error code, streamed an error event without the number", async () => {
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

  test("flagged content passes, and a response field reports it", async () => {
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

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { chatsOf, type Reply, withoutIndex } from "../support/dialect-replies.ts";

const USER = { role: "user", content: "Draw a café" };
const PNG = "iVBORw0KGgo=";
const URL = `data:image/png;base64,${PNG}`;

const reply = (parts: readonly object[], more: object = {}, model = "gemini-3-pro-image-preview"): Reply => ({
  provider: "google-ai-studio",
  model,
  whole: { candidates: [{ content: { parts }, finishReason: "STOP", ...more }] },
  events: [
    ...parts.map((part): [string, object] => ["", { candidates: [{ content: { parts: [part] } }] }]),
    ["", { candidates: [{ content: { parts: [] }, finishReason: "STOP", ...more }] }],
  ],
});
const google = (body: object, model = "gemini-3-pro-preview"): any => chatsOf(reply([], {}, model)).request({ messages: [USER], ...body });

describe("responses of Gemini", () => {
  for (const form of ["whole", "streamed"] as const) {
    test(`images that the model made are in the response and return to it, ${form}`, () => {
      const drawn = reply([
        { text: "First", thought: true },
        { inlineData: { mimeType: "image/png", data: "ZHJhZnQ=" }, thought: true },
        { text: "Here: " },
        { inlineData: { mimeType: "image/png", data: PNG }, thoughtSignature: "sig1" },
        { inlineData: { mimeType: "image/png", data: PNG } },
      ]);
      const message = chatsOf(drawn)[form]();
      assert.deepEqual([message.content, message.reasoning_content], ["Here: ", "First"]);
      assert.deepEqual(message.images.map(withoutIndex), [
        { type: "image_url", image_url: { url: URL }, extra_content: { google: { thought_signature: "sig1" } } },
        { type: "image_url", image_url: { url: URL } },
      ]);
      assert.deepEqual(google({ messages: [USER, message, USER] }).contents[1].parts, [
        { text: "Here: " },
        { inlineData: { mimeType: "image/png", data: PNG }, thoughtSignature: "sig1" },
        { inlineData: { mimeType: "image/png", data: PNG } },
      ]);
    });

    test(`the signature of a text returns with it, ${form}`, () => {
      for (const parts of [[{ text: "A café" }, { text: "", thoughtSignature: "sig2" }], [{ text: "A café", thoughtSignature: "sig2" }]]) {
        const message = chatsOf(reply(parts))[form]();
        assert.equal(message.content, "A café");
        assert.deepEqual(google({ messages: [USER, message, USER] }).contents[1].parts, [{ text: "A café", thoughtSignature: "sig2" }]);
      }
    });

    test(`sources of a grounded response are citations with places in characters, ${form}`, () => {
      const groundingMetadata = {
        webSearchQueries: ["café"],
        groundingChunks: [{ web: { uri: "https://a.example/", title: "A" } }, { web: { uri: "https://b.example/", title: "B" } }],
        groundingSupports: [{ segment: { startIndex: 10, endIndex: 16, text: "Grüß" }, groundingChunkIndices: [1, 0, 7] }],
      };
      const grounded = reply([{ text: "Ein Café" }, { text: " Grüß" }], { groundingMetadata });
      const message = chatsOf(grounded)[form]();
      const place = { start_index: 9, end_index: 13 };
      assert.deepEqual(message.annotations, [
        { type: "url_citation", url_citation: { url: "https://b.example/", title: "B", ...place } },
        { type: "url_citation", url_citation: { url: "https://a.example/", title: "A", ...place } },
      ]);
      assert.deepEqual(message.extra_content.google.grounding_metadata, groundingMetadata);
    });
  }

  test("without places, sources support the whole text", () => {
    const groundingMetadata = { groundingChunks: [{ web: { uri: "https://a.example/" } }] };
    const { annotations } = chatsOf(reply([{ text: "Grüße" }], { groundingMetadata })).whole();
    assert.deepEqual(annotations, [
      { type: "url_citation", url_citation: { url: "https://a.example/", title: "", start_index: 0, end_index: 5 } },
    ]);
  });
});

describe("requests to Gemini", () => {
  const call = { id: "t1", type: "function", function: { name: "look", arguments: "{}" } };
  const result = (url: string) => ({
    role: "tool",
    tool_call_id: "t1",
    content: [
      { type: "text", text: "seen" },
      { type: "image_url", image_url: { url } },
    ],
  });
  const parts = (url: string, model: string): unknown =>
    google({ messages: [USER, { role: "assistant", tool_calls: [call] }, result(url)] }, model).contents[2].parts;
  const response = { id: "t1", name: "look", response: { output: "seen" } };
  const image = { inlineData: { mimeType: "image/png", data: PNG } };

  test("images in results of tools are inside the result for the third generation, and behind it otherwise", () => {
    assert.deepEqual(parts(URL, "gemini-3-pro-preview"), [{ functionResponse: { ...response, parts: [image] } }]);
    assert.deepEqual(parts(URL, "gemini-2.5-pro"), [{ functionResponse: response }, image]);
    const link = { fileData: { mimeType: "image/png", fileUri: "gs://bucket/a.png" } };
    assert.deepEqual(parts("gs://bucket/a.png", "gemini-3-pro-preview"), [{ functionResponse: response }, link]);
  });

  test("files in Google Storage have the media type of their ending, or the one that the client names", () => {
    const sent = (file: object): unknown =>
      google({ messages: [{ role: "user", content: [{ type: "file", file }] }] }).contents[0].parts[0].fileData;
    assert.deepEqual(sent({ file_id: "gs://bucket/a.mp4" }), { mimeType: "video/mp4", fileUri: "gs://bucket/a.mp4" });
    assert.deepEqual(sent({ file_id: "gs://bucket/a", format: "audio/wav" }), { mimeType: "audio/wav", fileUri: "gs://bucket/a" });
    assert.deepEqual(sent({ file_data: "gs://bucket/b", format: "application/pdf" }), {
      mimeType: "application/pdf",
      fileUri: "gs://bucket/b",
    });
  });

  test("thinking in the terms of Google and of Anthropic asks for thoughts, and effort only models that think", () => {
    const thinking = (body: object, model?: string): unknown => google(body, model).generationConfig?.thinkingConfig;
    assert.deepEqual(thinking({ thinking: { type: "enabled", budget_tokens: 500 } }), { thinkingBudget: 500, includeThoughts: true });
    assert.deepEqual(thinking({ thinking: { type: "disabled" } }, "gemini-2.5-flash"), { thinkingBudget: 0 });
    const own = { google: { thinking_config: { thinking_level: "low", include_thoughts: true } } };
    assert.deepEqual(thinking({ extra_body: own }), { thinkingLevel: "low", includeThoughts: true });
    const effort = { reasoning_effort: "high" };
    for (const model of ["gemini-2.0-flash", "gemini-1.5-pro", "gemma-3-27b-it", "gemini-2.5-flash-image"])
      assert.equal(thinking(effort, model), undefined, model);
    assert.deepEqual(thinking(effort, "gemini-flash-latest"), { thinkingBudget: 24_576, includeThoughts: true });
    assert.deepEqual(thinking({ reasoning_effort: "none" }, "gemini-2.5-pro"), { thinkingBudget: 128 });
  });

  test("a request for images, a search or a cached content", () => {
    assert.deepEqual(google({ modalities: ["text", "image"] }).generationConfig, { responseModalities: ["TEXT", "IMAGE"] });
    assert.deepEqual(google({ web_search_options: {} }).tools, [{ googleSearch: {} }]);
    assert.equal(google({ extra_body: { google: { cached_content: "cachedContents/1" } } }).cachedContent, "cachedContents/1");
  });
});

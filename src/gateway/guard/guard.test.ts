import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { itemsPerTurn } from "../../../test/support/items-per-turn.ts";
import { answerChat, gatewayFront, gatewayOp, postJson, TEST_CHAT, testProvider } from "../../../test/support/gateway-front.ts";
import { createSlices } from "#kernel/process/slices.ts";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { BodyScanner } from "#rules/detectors/engine/scan.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { PROFILES } from "#rules/detectors/catalog/profiles.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { createDlpProfiles } from "./dlp-profiles.ts";
import { createDataLossPrevention, type Inspection } from "./dlp.ts";

const HEAD = { status: 200, headers: { "content-type": "text/event-stream" } };
const EVERY = PROFILES.map(({ id }) => id);
/** Slices follow each other at once. */
const SLICES = createSlices((turn) => turn());
const PREVENTION = createDataLossPrevention({
  vendorPrefix: "svc",
  profiles: createDlpProfiles(createMemoryReplica([])),
  slices: SLICES,
});
const COMPILED = compileDetectors(PROFILES.flatMap(({ detectors }) => detectors));
type Check = "REQUEST" | "RESPONSE";

function inspection(action: "FLAG" | "BLOCK", check: readonly Check[] = ["REQUEST", "RESPONSE"], actions: string[] = []): Inspection {
  const gateway = { account_id: "a", gateway_id: "g", authentication: false, collect_logs: true };
  const dlp = [{ id: "p", action, check, profiles: EVERY }];
  const made = PREVENTION.inspect({ ...gateway, dlp }, (done) => actions.push(done));
  assert.ok(made !== undefined);
  return made;
}

const event = (content: string): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const contentOf = (stream: string): string =>
  stream
    .split("\n\n")
    .filter((part) => part.startsWith("data: {"))
    .map((part) => JSON.parse(part.slice(6)).choices[0].delta.content)
    .join("");

/** Text that the client of a stream gets, and the refusal if it was blocked. */
function streamed(made: Inspection, chunks: readonly string[]): { readonly text: string; readonly refusal: string | undefined } {
  const transform = made.transforms[0]?.(HEAD);
  assert.ok(transform !== undefined);
  let text = "";
  try {
    for (const chunk of chunks) text += transform.chunk(Buffer.from(chunk))?.toString() ?? "";
    return { text: text + (transform.end()?.toString() ?? ""), refusal: undefined };
  } catch (error) {
    assert.ok(error instanceof RefusalError);
    return { text, refusal: error.refusal.name };
  }
}

/** The text as events of a few characters each. */
const pieces = (text: string, size: number): readonly string[] => text.match(new RegExp(`[^]{1,${size}}`, "gu"))?.map(event) ?? [];

const PROSE = "The mills of the town were built by its weavers, and each kept its own books. ".repeat(12);

describe("data loss prevention in streams", () => {
  test("no byte of a detected value is sent, wherever the stream is split", () => {
    const samples = DETECTORS.flatMap(({ hits }) => hits.filter((hit) => /^[\x20-\x7e]+$/.test(hit)));
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.integer({ min: 1, max: 40 }), fc.nat(800), fc.nat(700), (secret, size, before, after) => {
        const text = `${PROSE.slice(0, before)} ${secret} ${PROSE.slice(0, after)}`;
        const { text: sent, refusal } = streamed(inspection("BLOCK"), [...pieces(text, size), "data: [DONE]\n\n"]);
        if (refusal === undefined) return void assert.equal(contentOf(sent), text, "what passes, passes whole");
        assert.equal(refusal, "aig_dlp_response_blocked");
        const out = contentOf(sent);
        assert.ok(text.startsWith(out));
        const scanner = new BodyScanner(COMPILED);
        scanner.push(Buffer.from(text));
        const first = Math.min(...scanner.end().findings.map(({ offset }) => offset));
        assert.ok(out.length <= first, `${out.length} bytes went out of ${JSON.stringify(secret)}, which begins at ${first}`);
      }),
      { numRuns: 600 },
    );
  });

  test("no letter of a code's prefix is sent, at any scanner position", () => {
    const secret = "HEGG560427MVZRRL04";
    for (let before = 250; before < 450; before++) {
      const text = `${PROSE.slice(0, before)} ${secret} ${PROSE}`;
      const { text: sent, refusal } = streamed(inspection("BLOCK"), pieces(text, 1));
      assert.equal(refusal, "aig_dlp_response_blocked");
      assert.ok(contentOf(sent).length <= before + 1, `${contentOf(sent).slice(-20)} went out`);
    }
  });

  test("no digit of a card number is sent", () => {
    for (const size of [1, 3, 7, 50]) {
      const text = `${PROSE}Pay with 4012 8888 8888 1881, thanks.${PROSE}`;
      const { text: sent, refusal } = streamed(inspection("BLOCK"), pieces(text, size));
      assert.equal(refusal, "aig_dlp_response_blocked");
      assert.ok(PROSE.length - 100 < contentOf(sent).length, "what is harmless before it is not held back for long");
      assert.doesNotMatch(contentOf(sent), /4012/);
    }
  });

  test("prose is sent as it arrives, and at most 64 bytes and one event are held back", () => {
    const transform = inspection("BLOCK").transforms[0]?.(HEAD);
    let [sent, given] = [0, 0];
    for (const piece of pieces(PROSE, 4)) {
      given += contentOf(piece).length;
      sent += contentOf(transform?.chunk(Buffer.from(piece))?.toString() ?? "").length;
      assert.ok(given - sent <= 64 + 4, `${given - sent} bytes wait`);
    }
  });

  test("the end of a text releases its held bytes when another text begins", () => {
    const thought = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { reasoning: "a 1 " } }] })}\n\n`;
    const transform = inspection("BLOCK").transforms[0]?.(HEAD);
    let sent = transform?.chunk(Buffer.from(thought))?.toString() ?? "";
    for (const piece of pieces(PROSE, 4)) sent += transform?.chunk(Buffer.from(piece))?.toString() ?? "";
    assert.ok(sent.length > 2000, `${sent.length} bytes went out`);
  });

  test("interleaved texts are each scanned as one text", () => {
    const turn = (content: string, index: number): string => `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
    const [card, prose] = ["4012888888881881 ", "abcdefghijklmnopq"];
    const chunks = Array.from({ length: card.length }, (_, i) => turn(card[i] ?? "", 1) + turn(prose[i] ?? "", 0));
    assert.equal(streamed(inspection("BLOCK"), chunks).refusal, "aig_dlp_response_blocked");
  });

  test("the action FLAG does not change the stream", () => {
    const actions: string[] = [];
    const chunks = pieces(`${PROSE} 4012 8888 8888 1881 ${PROSE}`, 9);
    assert.deepEqual(streamed(inspection("FLAG", ["RESPONSE"], actions), chunks), { text: chunks.join(""), refusal: undefined });
    assert.deepEqual(actions, ["FLAG"]);
  });

  test("an unreadable stream is blocked", () => {
    const deep = `data: ${'{"a":'.repeat(100)}1${"}".repeat(100)}\n\n`;
    assert.equal(streamed(inspection("BLOCK"), [deep]).refusal, "aig_answer_unreadable");
    assert.throws(() =>
      inspection("BLOCK").transforms[0]?.({ status: 200, headers: { "content-type": "text/event-stream", "content-encoding": "gzip" } }),
    );
  });
});

describe("data loss prevention in requests", () => {
  const refused = async (body: string): Promise<string | undefined> => {
    try {
      await inspection("BLOCK").checkRequest({ kind: "whole", bytes: Buffer.from(body) });
      return undefined;
    } catch (error) {
      assert.ok(error instanceof RefusalError);
      return error.refusal.name;
    }
  };

  test("escapes within a number and nested JSON texts do not hide a value", async () => {
    const card = "4012888888881881";
    const inner = JSON.stringify({ card });
    for (const body of [
      JSON.stringify({ messages: [{ content: `my card ${card}` }] }),
      '{"messages":[{"content":"\\u0034012888888881881"}]}',
      JSON.stringify({ arguments: inner.replace("4", "\\u0034") }),
      `{"card":${card}}`,
      `no json, but ${card}`,
    ])
      for (const long of ["", " ".repeat(100_000)]) assert.equal(await refused(body + long), "aig_dlp_request_blocked", body);
    assert.equal(await refused(JSON.stringify({ messages: [{ content: "my card 4012888888881882" }] })), undefined);
  });

  test("a body that is nested too deeply or too long to inspect is blocked", async () => {
    assert.equal(await refused(`${'{"a":'.repeat(100)}1${"}".repeat(100)}`), "aig_dlp_request_blocked");
    const stream = {
      kind: "stream",
      head: Buffer.alloc(0),
      stream: { bytes: 0, [Symbol.asyncIterator]: async function* () {} },
      length: undefined,
    } as const;
    await assert.rejects(inspection("BLOCK").checkRequest(stream), RefusalError);
    await inspection("FLAG").checkRequest(stream);
  });

  test("the response field names profiles and entries, and not the matched data", async () => {
    const flagged = inspection("FLAG");
    await flagged.checkRequest({ kind: "whole", bytes: Buffer.from('{"a":"4012 8888 8888 1881"}') });
    const [name, value = ""] = flagged.fields();
    assert.equal(name, "svc-aig-dlp");
    const { findings, action } = JSON.parse(value);
    assert.equal(action, "FLAG");
    assert.deepEqual(
      findings.map(({ check, policy_ids, profile }: { check: string; policy_ids: string[]; profile: { profile_id: string } }) => [
        check,
        policy_ids,
        profile.profile_id,
      ]),
      [["REQUEST", ["p"], EVERY[0]]],
    );
    assert.doesNotMatch(value, /4012/);
  });
});

test("findings in a flagged response are listed in its header", async (t) => {
  const card = "4012 8888 8888 1881";
  const provider = await testProvider(t, (res) => answerChat(res, `a card: ${card}`));
  const policy = { id: "p", action: "FLAG" as const, check: ["RESPONSE" as const], profiles: EVERY };
  const { base, rows } = await gatewayFront(t, { ops: [gatewayOp("gw", { dlp: [policy] })], providers: { openai: provider.url } });
  const answer = await postJson(`${base}/gw/openai/chat/completions`, TEST_CHAT);
  const told = JSON.parse(answer.headers.get("svc-aig-dlp") ?? "{}") as { action?: string; findings?: readonly { check: string }[] };
  assert.deepEqual([told.action, told.findings?.[0]?.check], ["FLAG", "RESPONSE"]);
  assert.match(await answer.text(), new RegExp(card));
  assert.equal(rows[0]?.dlp_action, "FLAG");
});

test("a streamed body is not buffered for flagging", () => {
  const [make] = inspection("FLAG").transforms;
  const beginning = (type: string, text: string): string | undefined =>
    make?.({ status: 200, headers: { "content-type": type } })
      ?.chunk(Buffer.from(text))
      ?.toString();
  assert.equal(beginning("application/json", '{"a":'), undefined);
  assert.equal(beginning("application/json", '\n[{"a":1}'), '\n[{"a":1}');
  assert.equal(beginning("application/x-ndjson", '{"a":1}\n'), '{"a":1}\n');
});

test("a long response is scanned in slices between other work, and a finding at its end blocks it", async (t) => {
  const turns = itemsPerTurn();
  const push = BodyScanner.prototype.push;
  t.mock.method(BodyScanner.prototype, "push", function (this: BodyScanner, chunk: Uint8Array) {
    const before = this.candidates;
    push.call(this, chunk);
    turns.add(Math.ceil(chunk.length / 8_192 + this.candidates - before));
  });
  const prose = PROSE.repeat(5_000);
  const digits = "12 ab 34567 ".repeat(3_000);
  const provider = await testProvider(t, (res, _seen, number) =>
    answerChat(res, number === 0 ? `${prose}4012 8888 8888 1881` : number === 1 ? prose : prose + digits),
  );
  const policy = { id: "p", action: "BLOCK" as const, check: ["RESPONSE" as const], profiles: EVERY };
  const { base } = await gatewayFront(t, { ops: [gatewayOp("gw", { dlp: [policy] })], providers: { openai: provider.url } });
  const url = `${base}/gw/openai/chat/completions`;
  const blocked = await postJson(url, TEST_CHAT);
  assert.equal(blocked.headers.get("svc-aig-dlp")?.includes("BLOCK"), true, await blocked.text());
  const passed = await postJson(url, TEST_CHAT);
  assert.ok((await passed.text()).includes(prose));
  await (await postJson(url, TEST_CHAT)).text();
  assert.ok(turns.most() < 800, `${turns.most()} candidates, or parts of 8 KB, in one turn`);
});

test("long events, and many in one chunk, are scanned in parts: other work has its turns, and what passes comes whole and in order", async (t) => {
  const turns = itemsPerTurn();
  const push = BodyScanner.prototype.push;
  t.mock.method(BodyScanner.prototype, "push", function (this: BodyScanner, chunk: Uint8Array) {
    const before = this.candidates;
    push.call(this, chunk);
    turns.add(chunk.length / 8_192 + this.candidates - before);
  });
  const digits = "12 ab 34567 ";
  const streams = [
    [event(`${PROSE.repeat(300)}`), ...pieces(digits.repeat(2_000), 12), event(PROSE.repeat(2_000)), event(" the end")],
    [event("before"), event(`${digits.repeat(2_000)}${PROSE.repeat(100)}4012 8888 8888 1881`), event(" after")],
    [event("before"), event(`${PROSE.repeat(2_000)}4012 8888 8888 1881`), event(" after")],
  ];
  const provider = await testProvider(t, (res, _seen, number) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.end(`${streams[number % streams.length]?.join("") ?? ""}data: [DONE]\n\n`);
  });
  const gateways = (["BLOCK", "FLAG"] as const).map((action) =>
    gatewayOp(action.toLowerCase(), { dlp: [{ id: "p", action, check: ["RESPONSE" as const], profiles: EVERY }] }),
  );
  const { base, rows } = await gatewayFront(t, { ops: gateways, providers: { openai: provider.url } });
  const said = async (gateway: string): Promise<string> => {
    const answer = await postJson(`${base}/${gateway}/openai/chat/completions`, { ...TEST_CHAT, stream: true });
    return answer.text().catch(() => "cut");
  };
  const whole = (stream = 0): string => contentOf(streams[stream]?.join("") ?? "");
  assert.equal(contentOf(await said("block")), whole());
  for (const _ of [1, 2]) {
    const text = await said("block");
    assert.doesNotMatch(text, /4012|after/);
  }
  for (const stream of [0, 1, 2]) assert.equal(contentOf(await said("flag")), whole(stream));
  assert.deepEqual(
    rows.map((row) => row.dlp_action),
    ["", "BLOCK", "BLOCK", "", "FLAG", "FLAG"],
  );
  assert.ok(turns.most() < 800, `${turns.most()} candidates, or parts of 8 KB, in one turn`);
});

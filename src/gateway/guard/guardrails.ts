import { createSlices, type Slices } from "#kernel/process/slices.ts";
import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import type { GatewayEntry } from "#snapshot/entries.ts";
import { type GatewayErrorName, type Refusal, RefusalError } from "#gateway/http/errors.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import type { AnswerTransform, MakeTransform, ReadyBody } from "#gateway/request/plan.ts";
import type { Classifier, ChatTurn } from "./classifier.ts";
import { UninspectableError } from "#gateway/streams/json-texts.ts";
import { slicedText, type TextForm } from "#gateway/streams/sliced-texts.ts";

type Actions = NonNullable<GatewayEntry["guardrails"]>["prompt"];
type Side = "prompt" | "response";

/** Guardrails for one request. */
export interface GuardrailRun {
  /** The refusal of a blocked prompt; undefined if the prompt may pass. */
  checkPrompt(body: ReadyBody): Promise<Refusal | undefined>;
  /** Transforms that hold an answer until the model has judged all of it. */
  readonly transforms: readonly MakeTransform[];
  fields(): FlatHeaders;
}

/** Gets the strongest action so far, and JSON of all hazards so far by side. */
type OnFound = (action: "FLAG" | "BLOCK", findings: string) => void;

export interface Guardrails {
  /** Undefined for a gateway without guardrails. */
  guard(gateway: GatewayEntry, onFound: OnFound): GuardrailRun | undefined;
}

const BLOCKED: Readonly<Record<Side, GatewayErrorName>> = {
  prompt: "aig_guardrail_prompt_blocked",
  response: "aig_guardrail_response_blocked",
};
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const EVENTS = /^text\/event-stream\b/i;
/** Text in binary frames, which cannot be read. */
const BINARY_EVENTS = /^application\/vnd\.amazon\.eventstream\b/i;
const FILES = /^(?:image|audio|video|font)\/|^application\/(?:octet-stream|zip|pdf)\b/i;
/** Characters per request to the model, and requests for one text; a longer text is not judged. */
const PIECE_CHARACTERS_MAX = 16_000;
const PIECES_MAX = 8;
const JUDGED_CHARACTERS_MAX = PIECES_MAX * PIECE_CHARACTERS_MAX;

/** Without a model, a gateway with guardrails refuses everything: they were switched on when there was a model. */
export function createGuardrails(classifier: Classifier | undefined, vendorPrefix: string, slices = createSlices()): Guardrails {
  return {
    guard: ({ guardrails }, onFound) =>
      guardrails === undefined
        ? undefined
        : new RequestGuarding({ slices, classifier, actions: guardrails, fieldName: `${vendorPrefix}-aig-guardrails`, onFound }),
  };
}

interface GuardingOptions {
  readonly slices: Slices;
  readonly classifier: Classifier | undefined;
  readonly actions: Readonly<Record<Side, Actions>>;
  readonly fieldName: string;
  readonly onFound: OnFound;
}

class RequestGuarding implements GuardrailRun {
  readonly #slices: Slices;
  readonly #classifier: Classifier | undefined;
  readonly #actions: Readonly<Record<Side, Actions>>;
  readonly #fieldName: string;
  readonly #onFound: OnFound;
  readonly #found: Partial<Record<Side, readonly string[]>> = {};
  #prompt = "";

  constructor({ slices, classifier, actions, fieldName, onFound }: GuardingOptions) {
    this.#slices = slices;
    this.#classifier = classifier;
    this.#actions = actions;
    this.#fieldName = fieldName;
    this.#onFound = onFound;
  }

  async checkPrompt(body: ReadyBody): Promise<Refusal | undefined> {
    const text = await this.#textOf(body.kind === "whole" ? body.bytes : Buffer.alloc(0), "body");
    this.#prompt = text ?? "";
    if (body.kind === "stream" && isBlocking(this.#actions.prompt)) return { name: "aig_body_too_large" };
    return this.#judge("prompt", text, (content) => [{ role: "user", content }]);
  }

  get transforms(): readonly MakeTransform[] {
    if (Object.keys(this.#actions.response).length === 0) return [];
    return [
      ({ status, headers }) => {
        const type = String(headers["content-type"] ?? "");
        if (status >= 400 || FILES.test(type)) return undefined;
        const isReadable = (headers["content-encoding"] ?? "identity") === "identity" && !BINARY_EVENTS.test(type);
        if (isReadable) return this.#answerGuard(EVENTS.test(type) ? "events" : "body");
        if (isBlocking(this.#actions.response)) throw new RefusalError({ name: "aig_guardrail_unavailable" });
        return undefined;
      },
    ];
  }

  fields(): FlatHeaders {
    return Object.keys(this.#found).length === 0 ? [] : [this.#fieldName, JSON.stringify(this.#found)];
  }

  #answerGuard(form: TextForm): AnswerTransform {
    const gathered = new GatheredBytes();
    return {
      head: (head) => head,
      chunk: (bytes) => {
        gathered.push(bytes);
        if (gathered.length > ANSWER_BYTES_MAX) throw new RefusalError({ name: "aig_answer_unreadable" });
        return undefined;
      },
      end: () => gathered.joined(),
      verdict: async () => {
        const asked: ChatTurn = { role: "user", content: this.#prompt.slice(-PIECE_CHARACTERS_MAX) || "-" };
        const text = await this.#textOf(gathered.joined(), form);
        const refusal = await this.#judge("response", text, (content) => [asked, { role: "assistant", content }]);
        if (refusal !== undefined) throw new RefusalError(refusal);
      },
    };
  }

  /** Undefined if it cannot be read. */
  async #textOf(bytes: Buffer, form: TextForm): Promise<string | undefined> {
    try {
      return await this.#slices.run(slicedText(bytes, form, JUDGED_CHARACTERS_MAX));
    } catch (error) {
      if (error instanceof UninspectableError) return undefined;
      throw error;
    }
  }

  async #judge(side: Side, text: string | undefined, said: (content: string) => readonly ChatTurn[]): Promise<Refusal | undefined> {
    const actions = this.#actions[side];
    const asked = text === undefined ? undefined : pieces(text, said);
    if (Object.keys(actions).length === 0 || asked?.length === 0) return undefined;
    try {
      const { hazards } = this.#classifier ?? {};
      if (hazards === undefined || asked === undefined || asked.length > PIECES_MAX)
        throw new Error("the guardrail cannot evaluate the text");
      const named = (await Promise.all(asked.map((said) => hazards(said)))).flat().filter((name) => actions[name] !== undefined);
      if (named.length === 0) return undefined;
      this.#found[side] = [...new Set(named)];
      const isBlocked = named.some((name) => actions[name] === "BLOCK");
      this.#onFound(isBlocked ? "BLOCK" : "FLAG", JSON.stringify(this.#found));
      return isBlocked ? { name: BLOCKED[side], headers: this.fields() } : undefined;
    } catch {
      // Refuses text that may have to be blocked but cannot be judged.
      return isBlocking(actions) ? { name: "aig_guardrail_unavailable" } : undefined;
    }
  }
}

const isBlocking = (actions: Actions): boolean => Object.values(actions).includes("BLOCK");

function pieces(text: string, said: (content: string) => readonly ChatTurn[]): readonly (readonly ChatTurn[])[] {
  const all: (readonly ChatTurn[])[] = [];
  for (let at = 0; at < text.length && all.length <= PIECES_MAX; at += PIECE_CHARACTERS_MAX)
    all.push(said(text.slice(at, at + PIECE_CHARACTERS_MAX)));
  return all;
}

import { objectOf, objectsOf, parsedJson, textOf } from "#gateway/http/json.ts";
import type { GuardrailModel } from "../config.ts";
import type { Pools } from "#gateway/providers/pools.ts";
import { fetchBuffered } from "#gateway/providers/fetch-buffered.ts";
import { requestAddressOf, type Upstreams } from "#gateway/providers/providers.ts";

/** A text and its author. */
export interface ChatTurn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface Classifier {
  /** Hazards in the last message, as `S1` to `S13`; empty for none. Rejects if the model does not give a verdict. */
  hazards(said: readonly ChatTurn[]): Promise<readonly string[]>;
}

const TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** Asks a Llama Guard model, at any provider that speaks OpenAI's dialect; it answers `safe`, or `unsafe` and the categories. */
export function createClassifier(
  model: GuardrailModel,
  { upstreams, pools }: { readonly upstreams: Upstreams; readonly pools: Pools },
): Classifier {
  return {
    hazards: async (said) => {
      const upstream = upstreams.find("", model.provider);
      const place = upstream === undefined ? undefined : requestAddressOf(upstream, "/chat/completions");
      if (place === undefined) throw new Error(`unknown provider: ${model.provider}`);
      const { status, text } = await fetchBuffered(
        pools.get(place.origin),
        {
          method: "POST",
          target: place.path,
          headers: [
            ...["content-type", "application/json", "accept-encoding", "identity"],
            ...(model.key === "" ? [] : ["authorization", `Bearer ${model.key}`]),
          ],
          body: JSON.stringify({ model: model.model, messages: said, temperature: 0, max_tokens: 64 }),
        },
        { timeoutMs: TIMEOUT_MS, answerBytesMax: ANSWER_BYTES_MAX },
      );
      if (status !== 200) throw new Error(`the guardrail model responded with status ${status}`);
      return hazardsIn(text);
    },
  };
}

function hazardsIn(body: string): readonly string[] {
  const [choice] = objectsOf(objectOf(parsedJson(body))?.["choices"]);
  const verdict = (textOf(objectOf(choice?.["message"])?.["content"]) ?? "").trim().toLowerCase();
  if (verdict.startsWith("safe")) return [];
  const hazards = verdict.startsWith("unsafe") ? [...new Set(verdict.match(/\bs(?:1[0-4]|[1-9])\b/g))] : [];
  if (hazards.length === 0) throw new Error("the guardrail model returned no verdict");
  return hazards.map((name) => name.toUpperCase());
}

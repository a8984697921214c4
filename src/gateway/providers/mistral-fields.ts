import { callIdFor } from "#gateway/http/identifiers.ts";
import { type Json, objectOf, objectsOf } from "#gateway/http/json.ts";

/** OpenAI's fields that Mistral has under another name; undefined: it refuses the request because of them. */
const NAMES: Readonly<Record<string, string | undefined>> = {
  max_completion_tokens: "max_tokens",
  seed: "random_seed",
  user: undefined,
  store: undefined,
  service_tier: undefined,
  logit_bias: undefined,
  verbosity: undefined,
  prompt_cache_key: undefined,
  safety_identifier: undefined,
};

const callId = (id: unknown): unknown => (typeof id === "string" ? callIdFor(id, /^[A-Za-z0-9]{9}$/, 9) : id);

/** Calls and results with ids that Mistral accepts: nine letters or digits. */
function messageOf(message: unknown): unknown {
  const one = objectOf(message);
  if (one === undefined) return message;
  const calls = objectsOf(one["tool_calls"]).map((call) => ({ ...call, id: callId(call["id"]) }));
  return {
    ...one,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...("tool_call_id" in one ? { tool_call_id: callId(one["tool_call_id"]) } : {}),
  };
}

/** A chat completion request of OpenAI's shape for Mistral, which refuses fields that it does not know. */
export function mistralFields(body: Json): Json {
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const to = Object.hasOwn(NAMES, name) ? NAMES[name] : name;
    if (to !== undefined && !(to !== name && to in body)) own[to] = value;
  }
  return Array.isArray(body["messages"]) ? { ...own, messages: body["messages"].map(messageOf) } : own;
}

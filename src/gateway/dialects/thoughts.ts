import { type Json, objectsOf, type Reader, textOf } from "#gateway/http/json.ts";

/**
 * A block of a model's reasoning. The provider signs it, or encrypts it, and accepts the results of tools that the model called after it
 * only together with the unchanged block.
 */
export type Thought =
  | { readonly kind: "signed"; readonly text: string; readonly signature: string }
  | { readonly kind: "hidden"; readonly data: string };

/**
 * Thoughts that a client sends back: in `thinking_blocks` as the gateway sent them, in `reasoning_details` as OpenRouter sends them, or
 * as parts of the content. Thoughts without a signature are dropped, because no provider accepts them.
 */
export function readThoughts(message: Reader): readonly Thought[] {
  const blocks = objectsOf(message.raw("thinking_blocks")).flatMap(thoughtOf);
  if (blocks.length > 0) return blocks;
  const details = objectsOf(message.raw("reasoning_details")).flatMap(thoughtOf);
  return details.length > 0 ? details : objectsOf(message.raw("content")).flatMap(thoughtOf);
}

const signed = (text: unknown, signature: unknown): readonly Thought[] =>
  typeof signature === "string" && signature !== "" ? [{ kind: "signed", text: textOf(text) ?? "", signature }] : [];
const hidden = (data: unknown): readonly Thought[] => (typeof data === "string" && data !== "" ? [{ kind: "hidden", data }] : []);

/** Readers of blocks, by type. */
const BLOCK_READERS: Readonly<Record<string, (block: Json) => readonly Thought[]>> = {
  thinking: (block) => signed(block["thinking"], block["signature"]),
  redacted_thinking: (block) => hidden(block["data"]),
  "reasoning.text": (block) => (isOthers(block) ? [] : signed(block["text"], block["signature"])),
  "reasoning.encrypted": (block) => (isOthers(block) ? [] : hidden(block["data"])),
};

/** Whether another maker's model thought it; its signature means nothing to this one. */
const isOthers = (block: Json): boolean => !(textOf(block["format"]) ?? "anthropic").startsWith("anthropic");

function thoughtOf(block: Json): readonly Thought[] {
  const type = block["type"];
  const read = typeof type === "string" && Object.hasOwn(BLOCK_READERS, type) ? BLOCK_READERS[type] : undefined;
  return read?.(block) ?? [];
}

/** The thought in the form of Anthropic's blocks. */
export const thinkingBlock = (thought: Thought): Json =>
  thought.kind === "signed"
    ? { type: "thinking", thinking: thought.text, signature: thought.signature }
    : { type: "redacted_thinking", data: thought.data };

/** Members of a message that carry the thoughts to the client, and back with its next request. */
export const thinkingMembers = (thoughts: readonly Thought[]): Json =>
  thoughts.length === 0 ? {} : { thinking_blocks: thoughts.map(thinkingBlock) };

/** No model thinks in more blocks. */
const BLOCKS_MAX = 4096;

/**
 * Thoughts of a streamed message. Each piece has the number of its block, counted without gaps: clients join the texts of pieces with
 * the same number.
 */
export class StreamedThoughts {
  readonly #numbers = new Map<unknown, number>();

  text(block: unknown, thinking: string): Json {
    return { reasoning_content: thinking, ...this.#piece(block, { type: "thinking", thinking }) };
  }

  signature(block: unknown, signature: string): Json {
    return this.#piece(block, { type: "thinking", signature });
  }

  hidden(block: unknown, data: string): Json {
    return this.#piece(block, { type: "redacted_thinking", data });
  }

  #piece(block: unknown, members: Json): Json {
    const index = this.#numbers.get(block) ?? this.#numbers.size;
    if (index >= BLOCKS_MAX) return {};
    this.#numbers.set(block, index);
    return { thinking_blocks: [{ index, ...members }] };
  }
}

import { countOf, type Json, objectOf, objectsOf, type Reader, textOf } from "#gateway/http/json.ts";

/**
 * A block of a model's reasoning. The provider signs it, or encrypts it, and accepts the results of tools that the model called after it
 * only together with the unchanged block.
 */
export type Thought =
  | ({ readonly kind: "signed"; readonly text: string; readonly signature: string } & Placed)
  | ({ readonly kind: "hidden"; readonly data: string } & Placed);

/** Where the model thought it: behind so many characters of the message's text (UTF-16) and so many of its calls. */
export interface Place {
  readonly text: number;
  readonly calls: number;
}

/** Absent: before everything else. */
interface Placed {
  readonly after?: Place;
}

const FIRST: Place = { text: 0, calls: 0 };
export const placeOf = ({ after = FIRST }: Placed): Place => after;
/** The member of a block, which only blocks behind something have. */
const placeMembers = ({ text, calls }: Place): Json => (text === 0 && calls === 0 ? {} : { after: { text, calls } });

function readPlace(block: Json): Placed {
  const after = objectOf(block["after"]);
  return after === undefined ? {} : { after: { text: countOf(after["text"]), calls: countOf(after["calls"]) } };
}

/** Counts what a message has said when its blocks are read in order. */
export class PlaceCounter {
  text = 0;
  calls = 0;

  get place(): Place {
    return { text: this.text, calls: this.calls };
  }
}

/**
 * Thoughts that a client sends back: in `thinking_blocks` as the gateway sent them, in `reasoning_details` as OpenRouter sends them, or
 * as parts of the content. Thoughts without a signature are dropped, because no provider accepts them.
 */
export function readThoughts(message: Reader): readonly Thought[] {
  const blocks = objectsOf(message.raw("thinking_blocks")).flatMap(thoughtOf);
  if (blocks.length > 0) return blocks;
  const details = objectsOf(message.raw("reasoning_details")).flatMap(thoughtOf);
  return details.length > 0 ? details : thoughtsOfContent(objectsOf(message.raw("content")));
}

/** Parts of a content are in the order of the model, but for its calls. */
function thoughtsOfContent(content: readonly Json[]): readonly Thought[] {
  let text = 0;
  return content.flatMap((part) => {
    if (part["type"] === "text") text += textOf(part["text"])?.length ?? 0;
    return thoughtOf(part).map((thought): Thought => ({ after: { text, calls: 0 }, ...thought }));
  });
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
  return (read?.(block) ?? []).map((thought): Thought => ({ ...thought, ...readPlace(block) }));
}

/** The thought in the form of Anthropic's blocks. */
export const thinkingBlock = (thought: Thought): Json =>
  thought.kind === "signed"
    ? { type: "thinking", thinking: thought.text, signature: thought.signature }
    : { type: "redacted_thinking", data: thought.data };

/** Members of a message that carry the thoughts to the client, and back with its next request. */
export const thinkingMembers = (thoughts: readonly Thought[]): Json =>
  thoughts.length === 0
    ? {}
    : { thinking_blocks: thoughts.map((thought) => ({ ...thinkingBlock(thought), ...placeMembers(placeOf(thought)) })) };

/** No model thinks in more blocks. */
const BLOCKS_MAX = 4096;

/**
 * Thoughts of a streamed message. Each piece has the number of its block, counted without gaps: clients join the texts of pieces with
 * the same number.
 */
export class StreamedThoughts {
  readonly #numbers = new Map<unknown, number>();
  readonly #said: PlaceCounter;

  /** `said`: what the message has said so far. */
  constructor(said: PlaceCounter) {
    this.#said = said;
  }

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
    const known = this.#numbers.get(block);
    const index = known ?? this.#numbers.size;
    if (index >= BLOCKS_MAX) return {};
    this.#numbers.set(block, index);
    return { thinking_blocks: [{ index, ...members, ...(known === undefined ? placeMembers(this.#said.place) : {}) }] };
  }
}

import type { AssistantTurn, ToolCall, Turn } from "./chat.ts";
import type { Part } from "./parts.ts";
import { placeOf, type Thought } from "./thoughts.ts";
import type { Json } from "#gateway/http/json.ts";

interface Message {
  readonly role: "user" | "assistant";
  readonly content: Json[];
}

/**
 * The turns as messages, with turns of one role joined: results of parallel calls must be adjacent, and before the user's text that follows
 * them.
 */
export function messagesOf(turns: readonly Turn[], blocksOf: (turn: Turn) => readonly Json[]): readonly Message[] {
  const messages: Message[] = [];
  for (const turn of turns) {
    const role = turn.role === "assistant" ? "assistant" : "user";
    const content = blocksOf(turn);
    if (content.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === role) for (const one of content) last.content.push(one);
    else messages.push({ role, content: [...content] });
  }
  const begun = messages.at(-1);
  if (begun?.role === "assistant") trimEnd(begun.content);
  return messages;
}

/** Models of Anthropic refuse to continue an answer that ends with white space. */
function trimEnd(content: Json[]): void {
  const last = content.findLastIndex((block) => block["cachePoint"] === undefined);
  const text = content[last]?.["text"];
  if (typeof text === "string") content[last] = { ...content[last], text: text.trimEnd() };
}

/** A part of an assistant's turn. */
export type Said =
  | { readonly kind: "thought"; readonly thought: Thought }
  | { readonly kind: "part"; readonly part: Part }
  | { readonly kind: "call"; readonly call: ToolCall };

/**
 * The turn in the order in which the model said it: each thought behind as much text and as many calls as it says, and what remains as
 * OpenAI's messages have it, the text before the calls. A model that thinks between its calls refuses its thoughts in another order.
 */
export function inOrder({ thoughts, parts, calls }: AssistantTurn): readonly Said[] {
  const said: Said[] = [];
  const left = new PartsLeft(parts);
  let called = 0;
  const callUpTo = (count: number): void => {
    while (called < Math.min(count, calls.length)) said.push({ kind: "call", call: calls[called++]! });
  };
  const sayUpTo = (characters: number): void => {
    for (const part of left.upTo(characters)) said.push({ kind: "part", part });
  };
  for (const thought of thoughts) {
    const after = placeOf(thought);
    sayUpTo(after.text);
    callUpTo(after.calls);
    said.push({ kind: "thought", thought });
  }
  sayUpTo(Infinity);
  callUpTo(Infinity);
  return said;
}

/** Parts of a turn that were not yet taken. A place within a text divides it. */
class PartsLeft {
  readonly #parts: readonly Part[];
  #next = 0;
  /** Characters of the next part that were taken, and of all texts. */
  #within = 0;
  #taken = 0;

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  /** The parts until so many characters of all texts were taken. */
  upTo(characters: number): readonly Part[] {
    const found: Part[] = [];
    while (this.#next < this.#parts.length && this.#taken < characters) found.push(this.#take(characters - this.#taken));
    return found;
  }

  #take(characters: number): Part {
    const part = this.#parts[this.#next]!;
    if (part.kind !== "text") {
      this.#next++;
      return part;
    }
    const text = part.text.slice(this.#within, this.#within + characters);
    this.#taken += text.length;
    this.#within += text.length;
    // Marks and signatures belong to the end of a text.
    if (this.#within < part.text.length) return { kind: "text", text };
    this.#within = 0;
    this.#next++;
    return { ...part, text };
  }
}

export interface Turn {
  readonly role: string;
  readonly text: string;
}

/** The messages of a logged request and response. Joins the events of a stream; shows bodies of unknown formats unchanged. */
export function conversationOf(request: string, response: string): readonly Turn[] {
  const asked = parse(request);
  const turns = Array.isArray(asked?.["messages"])
    ? (asked["messages"] as unknown[]).map((message) => turnOf(message))
    : request === ""
      ? []
      : [{ role: "request", text: request }];
  const answered = answerOf(response);
  return answered === "" ? turns : [...turns, { role: "assistant", text: answered }];
}

type Json = Readonly<Record<string, unknown>>;

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null;

function turnOf(message: unknown): Turn {
  if (!isJson(message)) return { role: "message", text: String(message) };
  return { role: typeof message["role"] === "string" ? message["role"] : "message", text: textOf(message["content"]) };
}

/** A content is a text, or parts of which some are texts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : JSON.stringify(content, null, 2);
  return content
    .map((part: unknown) => (isJson(part) && typeof part["text"] === "string" ? part["text"] : JSON.stringify(part)))
    .join("\n");
}

function answerOf(response: string): string {
  const whole = parse(response);
  if (!whole) return response.includes("data:") ? streamed(response) : response;
  const [choice] = Array.isArray(whole["choices"]) ? (whole["choices"] as unknown[]) : [];
  if (isJson(choice) && isJson(choice["message"])) return textOf(choice["message"]["content"]);
  return whole["content"] === undefined ? JSON.stringify(whole, null, 2) : textOf(whole["content"]);
}

/** Server-sent events of a chat: each has a piece of the answer. */
function streamed(response: string): string {
  const pieces = response.split("\n").map((line) => {
    const event = line.startsWith("data:") ? parse(line.slice(5)) : undefined;
    const [choice] = Array.isArray(event?.["choices"]) ? (event["choices"] as unknown[]) : [];
    const delta = isJson(choice) ? choice["delta"] : event?.["delta"];
    return isJson(delta) ? textOf(delta["content"] ?? delta["text"]) : "";
  });
  return pieces.join("");
}

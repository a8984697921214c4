import { dialectOf } from "#gateway/dialects/dialects.ts";
import { readChat } from "#gateway/dialects/chat.ts";

/** A provider's answer, whole and as the events of a stream with their names. */
export interface Reply {
  readonly provider: string;
  readonly model: string;
  readonly whole: object;
  readonly events: readonly (readonly [name: string, data: object])[];
}

const FACTS = { id: "chatcmpl-1", model: "m", createdSeconds: 1, includeUsage: false };

/** The messages that a client gets for a reply, and the requests that its provider gets for a client's. */
export function chatsOf({ provider, model, whole, events }: Reply) {
  const dialect = dialectOf(provider, model)!;
  const answer = (): any => dialect.answer(JSON.parse(JSON.stringify(whole)), FACTS);
  const chunks = (): any[] => {
    const translator = dialect.stream(FACTS);
    const pieces: any[] = events.flatMap(([event, data]) => [...translator.event({ event, data: JSON.stringify(data) }).pieces]);
    return [...pieces, ...(translator.end() ?? [])];
  };
  return {
    request: (body: object): any => JSON.parse(JSON.stringify(dialect.request(readChat(body), dialect.model(model)))),
    answer,
    chunks,
    whole: (): any => answer().choices[0].message,
    streamed: (): any => chunks().reduce((message, piece) => joined(message, piece.choices[0].delta), {}),
  };
}

/** Joins the pieces of a message as OpenAI's Python client does: texts are appended, items of lists go by their `index`. */
function joined(whole: any, piece: any): any {
  for (const [name, value] of Object.entries<any>(piece)) {
    const had = whole[name];
    if (had === undefined || had === null || name === "type") whole[name] = Array.isArray(value) ? value.map(withoutIndex) : value;
    else if (typeof value === "string") whole[name] = had + value;
    else if (Array.isArray(value))
      for (const item of value)
        had[item.index] = had[item.index] === undefined ? withoutIndex(item) : joined(had[item.index], withoutIndex(item));
    else if (value !== null) joined(had, value);
  }
  return whole;
}

export function withoutIndex(item: any): any {
  const { index: _, ...rest } = item;
  return rest;
}

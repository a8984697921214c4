import { createServer, type Socket } from "node:net";

// A provider with minimal cost: it answers every POST with one prepared response, buffered or streamed. Arguments: its
// port, and the milliseconds between two events (0: one per tick).

const [port = "", pauseMs = "0"] = process.argv.slice(2);
const EVENTS = 50;

const usage = { prompt_tokens: 120, completion_tokens: 90, total_tokens: 210 };
const answer = JSON.stringify({
  id: "chatcmpl-0123456789",
  object: "chat.completion",
  created: 1_760_000_000,
  model: "gpt-4o-mini",
  choices: [
    { index: 0, message: { role: "assistant", content: "The sea is wide and the waves are many. ".repeat(12) }, finish_reason: "stop" },
  ],
  usage,
});
const WHOLE = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}\r\n\r\n${answer}`;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const event = (data: object): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-0123456789", object: "chat.completion.chunk", created: 1_760_000_000, model: "gpt-4o-mini", ...data })}\n\n`;
const PIECES = [
  ...Array.from({ length: EVENTS }, (_, i) =>
    chunk(event({ choices: [{ index: 0, delta: { content: ` word${i}` }, finish_reason: null }] })),
  ),
  chunk(event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })) +
    chunk(event({ choices: [], usage })) +
    chunk("data: [DONE]\n\n") +
    "0\r\n\r\n",
];

function stream(socket: Socket, at: number): void {
  if (socket.destroyed) return;
  socket.write(at === 0 ? HEAD + (PIECES[0] ?? "") : (PIECES[at] ?? ""));
  if (at + 1 === PIECES.length) return;
  if (Number(pauseMs) > 0) setTimeout(stream, Number(pauseMs), socket, at + 1);
  else setImmediate(stream, socket, at + 1);
}

const server = createServer({ noDelay: true }, (socket) => {
  let held = "";
  socket.setEncoding("latin1");
  socket.on("error", () => undefined);
  socket.on("data", (text: string) => {
    held += text;
    for (;;) {
      const end = held.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(held.slice(0, end))?.[1] ?? 0);
      if (held.length < end + 4 + length) return;
      const isStream = held.slice(end + 4, end + 4 + length).includes('"stream":true');
      held = held.slice(end + 4 + length);
      if (isStream) stream(socket, 0);
      else socket.write(WHOLE);
    }
  });
});
server.listen(Number(port), "127.0.0.1", 1024);
process.once("SIGTERM", () => process.exit(0));

import { pick, type Random } from "./random-zone.ts";

/** Valid requests and responses of every framing, as the input of mutations. */
const HOST = "Host: www.example.com\r\n";
const REQUESTS: readonly string[] = [
  `GET / HTTP/1.1\r\n${HOST}\r\n`,
  `GET /a/b?c=d HTTP/1.1\r\n${HOST}User-Agent: x/1\r\nAccept: */*\r\n\r\n`,
  `POST /length HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nhello`,
  `POST /chunks HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n`,
  `PUT /trailers HTTP/1.1\r\n${HOST}Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n`,
  `GET /old HTTP/1.0\r\n${HOST}Connection: keep-alive\r\n\r\n`,
  `HEAD / HTTP/1.1\r\n${HOST}\r\n`,
  `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
  `GET http://www.example.com/absolute HTTP/1.1\r\n${HOST}\r\n`,
  `POST /expect HTTP/1.1\r\n${HOST}Content-Length: 2\r\nExpect: 100-continue\r\n\r\nok`,
  `DELETE /empty HTTP/1.1\r\n${HOST}Content-Length: 0\r\nX-Empty:\r\n\r\n`,
];
const RESPONSES: readonly string[] = [
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n",
  "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n",
  "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
  "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n",
  "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end",
  "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
  "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
];

/** Texts that change the meaning of a message at the right position. */
const PIECES: readonly string[] = [
  ..."\r\n \t\0\x0b\x0c\x7f\xff:;,=/?#%*@",
  "\r\n",
  "\n\n",
  "\r\r\n",
  "\r\n\r\n",
  "\r\n ",
  "Content-Length: 3\r\n",
  "Content-Length: 0\r\n",
  "content-length: +5\r\n",
  "Content-Length: 5, 5\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: identity\r\n",
  "Transfer-Encoding: gzip, chunked\r\n",
  "transfer-encoding : chunked\r\n",
  "Connection: close\r\n",
  "Connection: keep-alive\r\n",
  "Connection: x, close\r\n",
  "Host: other.example\r\n",
  "Expect: x\r\n",
  "X: y\r\n",
  "0\r\n\r\n",
  "0\r\n",
  "3\r\nabc\r\n",
  "ffffffffff\r\n",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/2.0",
  "GET /x HTTP/1.1\r\nHost: www.example.com\r\n\r\n",
  "chunked",
  "close",
];

/** One or several messages, mostly right, with up to a few changes somewhere; one character a byte. */
const mutated =
  (messages: readonly string[]) =>
  (random: Random): string => {
    let text = "";
    for (let count = 1 + random(3); count > 0; count--) text += pick(random, messages);
    for (let changes = random(4); changes > 0; changes--) text = CHANGES[random(CHANGES.length)]!(text, random);
    return text;
  };

export const mutatedRequests = mutated(REQUESTS);
export const mutatedResponses = mutated(RESPONSES);

type Change = (text: string, random: Random) => string;

const splice = (text: string, at: number, removed: number, added: string): string => text.slice(0, at) + added + text.slice(at + removed);

const CHANGES: readonly Change[] = [
  (text, random) => splice(text, random(text.length + 1), 0, pick(random, PIECES)),
  (text, random) => splice(text, random(text.length + 1), 0, pick(random, PIECES)),
  // Inserts a whole line at the start of a line.
  (text, random) => splice(text, Math.max(0, text.indexOf("\n", random(text.length + 1))) + 1, 0, pick(random, PIECES)),
  (text, random) => splice(text, random(text.length + 1), 1, String.fromCharCode(random(256))),
  (text, random) => splice(text, random(text.length + 1), 1 + random(4), ""),
  (text, random) => splice(text, random(text.length + 1), 1, pick(random, PIECES)),
  (text, random) => {
    const at = random(text.length + 1);
    return splice(text, at, 0, text.slice(at, at + random(30)));
  },
  (text, random) => text.slice(0, random(text.length + 1)),
];

/** The bytes in chunks of random sizes. */
export function randomPieces(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random(random(3) === 0 ? 60 : 4);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

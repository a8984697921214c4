import { answerText, plainText } from "#gateway/streams/text-extraction.ts";
import { parsedJson } from "#gateway/http/json.ts";

/** Texts whose tokens are counted: a request's JSON, and the stream that answered it. */
export interface CountedTexts {
  readonly request: Uint8Array | null;
  readonly answer: Uint8Array | null;
}

/** Null without a text to count. */
export interface TokenCounts {
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
}

/** Of a longer text only this beginning is counted; the rest is assumed to be similar. */
const COUNTED_CHARACTERS_MAX = 8 * 1024;
/**
 * The tokenizer takes quadratic time in the length of a word: 13 s for 32,000 letters without a space. It gets pieces,
 * cut between words if possible.
 */
const PIECES = /[^]{1,128}(?=\s|$)|[^]{1,128}/g;
/** Names of special tokens count as text; by default the tokenizer throws for them. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };
/** Typical of most languages and of JSON. */
const BYTES_A_TOKEN = 4;

type CountPiece = (text: string, options: typeof AS_TEXT) => number;

/** Counts with the tokenizer, if it is given. */
export function countTexts({ request, answer }: CountedTexts, countPiece: CountPiece): TokenCounts {
  const count = (text: string): number => {
    if (text === "") return 0;
    const counted = text.slice(0, COUNTED_CHARACTERS_MAX);
    const tokens = (counted.match(PIECES) ?? []).reduce((sum, piece) => sum + countPiece(piece, AS_TEXT), 0);
    return Math.ceil((tokens * text.length) / counted.length);
  };
  return {
    tokensIn: request === null ? null : count(requestText(bufferOf(request))),
    tokensOut: answer === null ? null : count(answerText([bufferOf(answer)])),
  };
}

/** An image, sound or document in base64: long and bare, or of any length as a data URL. Slashes may be escaped. */
const FILE_ADDRESS = /^data:[^,"]{0,256};base64,/;
const BASE64 = /^[A-Za-z0-9+/=_\\-]*$/;
const FILE_CHARACTERS_MIN = 1024;
const isFile = (text: string): boolean => FILE_ADDRESS.test(text) || (text.length >= FILE_CHARACTERS_MIN && BASE64.test(text));

/** Parsing a longer request would delay all others; beside its text, what its JSON adds counts little. */
const PARSED_BYTES_MAX = 64 * 1024;

/** Estimates from lengths, without the tokenizer: of a request without embedded files, and of the text of a short answer. */
export const countLengths = ({ request, answer }: CountedTexts): TokenCounts => ({
  tokensIn: request === null ? null : Math.ceil(textLength(bufferOf(request)) / BYTES_A_TOKEN),
  tokensOut: answer === null ? null : Math.ceil(answerText([Buffer.from(answer)]).length / BYTES_A_TOKEN),
});

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

const textLength = (request: Buffer): number =>
  request.length <= PARSED_BYTES_MAX ? requestText(request).length : lengthWithoutFiles(request);

const requestText = (request: Buffer): string => plainText(parsedJson(request.toString("utf8")), isFile);

const QUOTE = 0x22;

/** Searches from quote to quote without parsing; of a long string it looks at both ends. */
function lengthWithoutFiles(request: Buffer): number {
  let length = request.length;
  for (let from = 0, at; (at = request.indexOf(QUOTE, from)) >= 0; from = at + 1) {
    if (at - from < FILE_CHARACTERS_MIN) continue;
    const start = request.toString("latin1", from, from + FILE_CHARACTERS_MIN);
    const end = request.toString("latin1", at - FILE_CHARACTERS_MIN / 2, at);
    if ((FILE_ADDRESS.test(start) || BASE64.test(start)) && BASE64.test(end)) length -= at - from;
  }
  return length;
}

import { type Json, objectOf, type Reader } from "#gateway/http/json.ts";

export interface TextPart {
  readonly kind: "text";
  readonly text: string;
  /** A marker for the provider's prompt cache, which clients add to parts. */
  readonly cacheControl?: Json | undefined;
  /** The provider's signature of what it made, which must be sent back. */
  readonly signature?: string | undefined;
}

export type Part =
  | TextPart
  /** `data` is base64. */
  | ({ readonly kind: "bytes"; readonly mediaType: string; readonly data: string; readonly name?: string | undefined } & Marked)
  /** At `http(s)://`, or in Google's storage at `gs://`. */
  | ({ readonly kind: "link"; readonly url: string; readonly mediaType?: string | undefined } & Marked)
  /** A file that the provider already has. */
  | ({ readonly kind: "file"; readonly id: string; readonly mediaType?: string | undefined } & Marked);

type Marked = Pick<TextPart, "cacheControl" | "signature">;

export function readContent(message: Reader): readonly Part[] {
  const content = message.raw("content");
  const refusal = message.optionalText("refusal");
  const said: readonly Part[] = refusal === undefined ? [] : [{ kind: "text", text: refusal }];
  if (content === undefined) return said;
  if (typeof content === "string") return [...textParts(content), ...said];
  return [...message.readers("content").flatMap(readPart), ...said];
}

/** A mark on a message applies to its last part: the provider caches up to there. */
export function withMark(parts: readonly Part[], cacheControl: Json | undefined): readonly Part[] {
  return cacheControl === undefined ? parts : parts.map((part, i) => (i === parts.length - 1 ? { ...part, cacheControl } : part));
}

/** Providers reject empty texts; a message with tool calls may have one. */
const textParts = (text: string): readonly TextPart[] => (text === "" ? [] : [{ kind: "text", text }]);

/** Readers of content parts, by kind. */
const PART_READERS: Readonly<Record<string, (part: Reader) => readonly Part[]>> = {
  text: (part) => textParts(part.text("text")),
  refusal: (part) => textParts(part.text("refusal")),
  image_url: (part) => {
    const image = part.reader("image_url");
    return [typed(readAddress(image, "url"), image)];
  },
  input_audio: (part) => {
    const audio = part.reader("input_audio");
    const format = audio.text("format");
    return [{ kind: "bytes", mediaType: format === "mp3" ? "audio/mpeg" : `audio/${format}`, data: audio.text("data") }];
  },
  // Read with the other thoughts of the message.
  thinking: () => [],
  redacted_thinking: () => [],
  file: (part) => {
    const file = part.reader("file");
    const id = file.optionalText("file_id");
    if (id !== undefined) return [typed({ kind: "file", id }, file)];
    const name = file.optionalText("filename");
    const found = readAddress(file, "file_data");
    return [found.kind === "bytes" ? { ...found, name } : typed(found, file)];
  },
};

function readPart(part: Reader): readonly Part[] {
  const type = part.text("type");
  const read = Object.hasOwn(PART_READERS, type) ? PART_READERS[type] : undefined;
  return read === undefined
    ? part.refuse("type", `content of type ${type} cannot be sent to this provider`)
    : withMark(read(part), part.object("cache_control"));
}

/** The media type of a file elsewhere, which some clients name as its `format`. */
function typed(part: Part, of: Reader): Part {
  const mediaType = part.kind === "link" || part.kind === "file" ? of.optionalText("format") : undefined;
  return mediaType === undefined ? part : ({ ...part, mediaType } as Part);
}

/** Images in a model's earlier answer, which clients send back beside its text. */
export const readAnswerImages = (message: Reader): readonly Part[] =>
  message.readers("images").map((image) => ({ ...readAddress(image.reader("image_url"), "url"), signature: signatureIn(image) }));

/** Google's signature of a part, where Google's own OpenAI-compatible endpoint has it. */
export function signatureIn(of: Reader): string | undefined {
  const signature = objectOf(objectOf(of.raw("extra_content"))?.["google"])?.["thought_signature"];
  return typeof signature === "string" ? signature : undefined;
}

/** RFC 2397 with base64, which clients use to embed files. */
// linear: pumped
const DATA_URL = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9-]+=[^;,]*)*;base64,/i;

/** Names that clients write and providers refuse, with the registered ones. */
const MEDIA_TYPE_NAMES: Readonly<Record<string, string>> = { "image/jpg": "image/jpeg", "application/x-pdf": "application/pdf" };
const mediaTypeFor = (name: string): string => (Object.hasOwn(MEDIA_TYPE_NAMES, name) ? (MEDIA_TYPE_NAMES[name] as string) : name);

function readAddress(from: Reader, key: string): Part {
  const url = from.text(key);
  // Only the beginning of a long image is matched.
  const head = DATA_URL.exec(url.slice(0, 256));
  if (head !== null) return { kind: "bytes", mediaType: mediaTypeFor((head[1] ?? "").toLowerCase()), data: url.slice(head[0].length) };
  if (/^(?:https?|gs):\/\//i.test(url)) return { kind: "link", url };
  return from.refuse(key, "must be an http(s) URL or a data URL with a media type and base64");
}

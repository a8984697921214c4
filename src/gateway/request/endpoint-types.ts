/** The kind of request that a path makes, and of the model that answers it. */
export interface RequestKind {
  readonly request_type: string;
  readonly model_type: string;
}

const KINDS: readonly (readonly [RegExp, string, string])[] = [
  // linear: at most 1024 bytes (a longer path is of no known kind)
  [/\/models?\/[^/]*embed[^/]*(?:\/invoke|:predict)$/, "embedding", "embedding"],
  [/\/chat\/completions$|:(?:stream)?generatecontent$|\/messages$|\/chat$|\/converse(?:-stream)?$/i, "chat", "llm"],
  [/\/responses(?:\/|$)/, "responses", "llm"],
  [/\/completions$|\/complete$|\/generate$|\/invoke(?:-with-response-stream)?$/, "completion", "llm"],
  [/\/embeddings?$|\/embed$|:(?:batch)?embedcontents?$/i, "embedding", "embedding"],
  [/\/rerank$/, "rerank", "rerank"],
  [/\/moderations$/, "moderation", "moderation"],
  [/\/images?\//, "image", "image"],
  [/\/audio\/speech$|\/text-to-speech\//, "speech", "audio"],
  [/\/audio\/(?:transcriptions|translations)$|\/speech-to-text$|\/listen$/, "transcription", "audio"],
  [/\/realtime(?:\/|$)/, "realtime", "llm"],
  [/\/files(?:\/|$)/, "files", ""],
  // linear: at most 1024 bytes (a longer path is of no known kind)
  [/\/models(?:\/[^:]*)?$/, "models", ""],
];
const UNKNOWN: RequestKind = { request_type: "", model_type: "" };

const kinds = new Map<string, RequestKind>();
const KINDS_MAX = 1000;
/** No provider has longer paths, and some patterns test each segment of a path again. */
const PATH_CHARACTERS_MAX = 1024;

/** Bounded memory of paths, because clients choose them. */
export function requestKind(path: string): RequestKind {
  if (path.length > PATH_CHARACTERS_MAX) return UNKNOWN;
  let kind = kinds.get(path);
  if (kind === undefined) {
    const row = KINDS.find(([pattern]) => pattern.test(path));
    kind = row === undefined ? UNKNOWN : { request_type: row[1], model_type: row[2] };
    if (kinds.size >= KINDS_MAX) kinds.clear();
    kinds.set(path, kind);
  }
  return kind;
}

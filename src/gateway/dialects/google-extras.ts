import { signatureMembers } from "./completion.ts";
import { type Json, countOf, objectOf, objectsOf, textOf } from "#gateway/http/json.ts";

/** Images that the model made, as clients of OpenAI's API know them from other gateways; the number of the first is `from`. */
export function googleImages(parts: readonly Json[], from: number): readonly Json[] {
  return parts.filter(isImage).map((part, i) => {
    const { mimeType, data } = objectOf(part["inlineData"]) ?? {};
    const url = `data:${textOf(mimeType) ?? ""};base64,${textOf(data) ?? ""}`;
    return { index: from + i, type: "image_url", image_url: { url }, ...signatureMembers(textOf(part["thoughtSignature"])) };
  });
}

/** Drafts of an image are part of the thoughts, not of the answer. */
export const isImage = (part: Json): boolean =>
  part["thought"] !== true && (textOf(objectOf(part["inlineData"])?.["mimeType"]) ?? "").startsWith("image/");

/** Signature of the text, which is in its last part; that part may be empty. Calls and images have their own. */
export const textSignature = (parts: readonly Json[]): string | undefined =>
  parts
    .filter((part) => textOf(part["text"]) !== undefined)
    .map((part) => textOf(part["thoughtSignature"]))
    .findLast((signature) => signature !== undefined);

/** Probabilities of the answer's tokens in OpenAI's shape; undefined if the provider told none. */
export function googleLogprobs(candidate: Json): Json | undefined {
  const result = objectOf(candidate["logprobsResult"]);
  if (result === undefined) return undefined;
  const tops = Array.isArray(result["topCandidates"]) ? (result["topCandidates"] as readonly unknown[]) : [];
  const content = objectsOf(result["chosenCandidates"]).map((chosen, i) => ({
    ...tokenOf(chosen),
    top_logprobs: objectsOf(objectOf(tops[i])?.["candidates"]).map(tokenOf),
  }));
  return { content, refusal: null };
}

function tokenOf({ token, logProbability }: Json): Json {
  const text = textOf(token) ?? "";
  return { token: text, logprob: typeof logProbability === "number" ? logProbability : 0, bytes: [...Buffer.from(text)] };
}

/** More of them would make an answer of a few megabytes very long. */
const CITATIONS_MAX = 1000;

/**
 * Sources of a grounded answer as OpenAI's `annotations`, with the provider's own facts beside them; undefined if the answer is not
 * grounded. `text` is the text of the answer.
 */
export function groundingMembers(candidate: Json, text: string, signature?: string): Json {
  const grounding = objectOf(candidate["groundingMetadata"]);
  if (grounding === undefined) return signatureMembers(signature);
  const sources = objectsOf(grounding["groundingChunks"]).map(
    (chunk) => objectOf(chunk["web"]) ?? objectOf(chunk["retrievedContext"]) ?? objectOf(chunk["maps"]) ?? {},
  );
  const supports = objectsOf(grounding["groundingSupports"]).map((support) => ({
    segment: objectOf(support["segment"]) ?? {},
    from: sourceNumbers(support["groundingChunkIndices"]),
  }));
  const cited = supports
    .flatMap(({ segment, from }) => from.map((number) => ({ segment, source: sources[number] })))
    .slice(0, CITATIONS_MAX);
  const whole: Json = { endIndex: Infinity };
  const unsupported = sources.slice(0, CITATIONS_MAX).map((source) => ({ segment: whole, source }));
  const all = supports.length > 0 ? cited : unsupported;
  const characters = charactersAt(
    text,
    all.flatMap(({ segment }) => [countOf(segment["startIndex"]), endOf(segment)]),
  );
  const annotations = all.flatMap(({ segment, source }) => {
    const url = textOf(source?.["uri"]);
    if (url === undefined) return [];
    const [start_index, end_index] = [characters(countOf(segment["startIndex"])), characters(endOf(segment))];
    return [{ type: "url_citation", url_citation: { url, title: textOf(source?.["title"]) ?? "", start_index, end_index } }];
  });
  const google = { grounding_metadata: grounding, ...(signature === undefined ? {} : { thought_signature: signature }) };
  return { ...(annotations.length === 0 ? {} : { annotations }), extra_content: { google } };
}

const endOf = (segment: Json): number => (segment["endIndex"] === Infinity ? Infinity : countOf(segment["endIndex"]));

const sourceNumbers = (value: unknown): readonly number[] =>
  Array.isArray(value) ? value.filter((number): number is number => Number.isInteger(number)) : [];

/** The provider counts bytes, and OpenAI's API counts characters. Reads the text once for all places. */
function charactersAt(text: string, places: readonly number[]): (place: number) => number {
  const bytes = Buffer.from(text);
  const found = new Map<number, number>();
  let [at, characters] = [0, 0];
  for (const place of [...new Set(places)].sort((a, b) => a - b)) {
    // Bytes that continue a character begin with the bits 10.
    for (; at < bytes.length && at < place; at++) if (((bytes[at] as number) & 0xc0) !== 0x80) characters++;
    found.set(place, characters);
  }
  return (place) => found.get(place) ?? 0;
}

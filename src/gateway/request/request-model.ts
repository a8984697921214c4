import { parseJson } from "#gateway/http/json.ts";

/** The result of reading the model from a JSON request body. */
export type ModelReading = { readonly kind: "object"; readonly model: string } | { readonly kind: "malformed" };

export const MODEL_CHARACTERS_MAX = 256;

/** Reads `model` of a whole JSON body; empty if the object has none. */
export function readModel(bytes: Buffer): ModelReading {
  let value: unknown;
  try {
    value = parseJson(bytes.toString("utf8"));
  } catch {
    return { kind: "malformed" };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { kind: "malformed" };
  const { model } = value as { readonly model?: unknown };
  return { kind: "object", model: typeof model === "string" ? model.slice(0, MODEL_CHARACTERS_MAX) : "" };
}

/** Finds `model` at the top level of the beginning of a body. The provider checks that the rest is JSON. */
export function readModelFromHead(head: Buffer): string {
  let depth = 0;
  let isKey = false;
  let key = "";
  for (let i = 0; i < head.length; i++) {
    const byte = head[i];
    if (byte === 0x22) {
      const end = stringEnd(head, i);
      if (end < 0) return "";
      if (depth === 1 && isKey) key = head.toString("latin1", i + 1, end);
      else if (depth === 1 && key === "model") return parsedString(head.toString("utf8", i, end + 1));
      isKey = false;
      i = end;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      isKey = byte === 0x7b;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (byte === 0x2c) isKey = depth === 1;
  }
  return "";
}

const FORM_FIELD = Buffer.from('name="model"');
// linear: pumped
const FORM_VALUE = /^name="model"(?:\r\n[^\r\n]{1,200}){0,3}\r\n\r\n([^\r\n]{1,256})\r\n/;

/** The field `model` of a form with files (RFC 7578); a file may precede it. */
export function readModelFromForm(bytes: Buffer): string {
  const at = bytes.lastIndexOf(FORM_FIELD);
  return at < 0 ? "" : (FORM_VALUE.exec(bytes.toString("utf8", at, at + 1024))?.[1] ?? "");
}

/** Index of the quote that closes the string which opens at `start`, or -1. */
function stringEnd(bytes: Buffer, start: number): number {
  for (let i = bytes.indexOf(0x22, start + 1); i >= 0; i = bytes.indexOf(0x22, i + 1)) {
    let slashes = 0;
    while (bytes[i - 1 - slashes] === 0x5c) slashes++;
    if (slashes % 2 === 0) return i;
  }
  return -1;
}

function parsedString(text: string): string {
  try {
    return (JSON.parse(text) as string).slice(0, MODEL_CHARACTERS_MAX);
  } catch {
    return "";
  }
}

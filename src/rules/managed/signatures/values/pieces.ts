import { type Argument, createFindings, type Findings } from "#rules/body/body-reading.ts";
import { formArguments } from "#rules/body/form.ts";
import { addJson } from "#rules/body/json-body.ts";
import { eachInner, eachPacked, isPacked, packedText } from "#rules/body/inner-values.ts";
import { addXmlBody } from "#rules/body/xml.ts";
import { bodyReading } from "#rules/body/request-body.ts";
import type { RequestView } from "../../../views.ts";
import { eachHeader, STRANGE } from "./header-pieces.ts";
import { joinedByComments } from "./joined-comments.ts";
import { type Decoded, normalise } from "./normalise.ts";
import { ARGUMENTS, BODY, FILES, HEADERS, PATH, UPLOADS } from "./places.ts";
import { eachSegment, takeArgument, type TakeValue } from "./taken-values.ts";

/** Receives a value; `part` is its field of expressions, and `name` its name there, if it has one. */
export type TakePiece = (value: Decoded, target: number, part: string, name: string) => void;

/** Calls `take` with every value of a request that signatures inspect. */
export function eachPiece(request: RequestView, take: TakePiece): void {
  const value: TakeValue = (text, target, part, name, isDocument = false) => {
    if (text.length >= PIECE_BYTES_MIN) take(isDocument ? { ...normalise(text), isDocument } : normalise(text), target, part, name);
  };
  const path = request.origin_path ?? request.path;
  value(path, PATH, "http.request.uri.path", "");
  eachSegment(path, (segment) => value(segment, ARGUMENTS, "http.request.uri.path", ""));
  const args: Argument[] = [];
  if (request.query !== "") formArguments(request.query, "query", "", args);
  for (const argument of args) takeArgument(argument, value);
  eachHeader(request, value);
  if (request.body === undefined || request.body.raw === "") return takeJoined(args, value);
  const reading = bodyReading(request);
  const names = new Set<string>();
  for (const argument of reading.args) takeArgument(argument, value, names);
  for (const { filenames, type, text } of reading.files) {
    for (const name of filenames) {
      // Programs store names, show them, and give them to other programs.
      const take = (text: string): void => value(text, FILES | ARGUMENTS, "http.request.body.multipart.filenames", "");
      take(name);
      eachInner(name, take);
    }
    value(text.slice(0, FILE_BYTES_MAX), UPLOADS, "http.request.body.multipart", "");
    const { args: inside, pieces } = contentOf(type.toLowerCase(), text, filenames);
    for (const argument of inside) takeArgument(argument, value, names);
    for (const piece of pieces) value(piece, BODY, "http.request.body.multipart", "");
  }
  const types = request.headers("content-type");
  if (isPacked(types)) eachPacked(packedText(reading.text, types), (text) => value(text, ARGUMENTS, "http.request.body.raw", ""));
  for (const { types, dispositions, encodings } of reading.parts)
    for (const text of [...types, ...encodings, ...dispositions])
      if (STRANGE.test(text)) value(text, HEADERS, "http.request.body.multipart", "");
  for (const text of [...reading.texts, ...reading.pieces]) value(text, BODY, "http.request.body.raw", "");
  takeJoined(args.length === 0 ? reading.args : [...args, ...reading.args], value);
}

/** Scripts of pages send JSON as a part with a file name, and frameworks read it, a form or a document, as they read a body. */
function contentOf(type: string, text: string, filenames: readonly string[]): Findings {
  const findings = createFindings();
  if (type.includes("json")) addJson(text, findings);
  else if (type.includes("urlencoded")) formArguments(text, "multipart", "", findings.args);
  // Pictures in SVG and documents that people pick are files, whose own rows read the beginning.
  else if (/[/+]xml/.test(type) && !type.includes("svg") && !(text.length <= FILE_BYTES_MAX && filenames.some((name) => PICKED.test(name))))
    addXmlBody(text, true, findings);
  return findings;
}

/** Scripts name a part `blob` or without an extension. */
const PICKED = /[^/\\.]\.[a-z0-9]{2,8}$/i;

/** A program that servers run starts with its language's mark, or has it after an image's header. */
const FILE_BYTES_MAX = 16_384;

// No signature searches a shorter text.
const PIECE_BYTES_MIN = 3;

function takeJoined(args: readonly Argument[], value: TakeValue): void {
  const joined = joinedByComments(args);
  if (joined !== "") value(joined, ARGUMENTS, "http.request.uri.args", "");
  // Servers of GraphQL take a list of operations, which together ask for as much as one.
  const operations = args.flatMap(({ source, path, value }) => (source === "json" && path === "query" && value !== "" ? [value] : []));
  if (operations.length > 1) value(operations.join("\n"), ARGUMENTS, "http.request.body.raw", "query");
}

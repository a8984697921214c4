import { parseAddressRange } from "#rules/expression/values/address-set.ts";
import { parsePcre } from "../patterns/pcre-parse.ts";
import { PatternError } from "../patterns/pcre-node.ts";
import type { OperatorRef } from "../syntax/operator.ts";
import { hasVariables } from "../syntax/macro.ts";
import { refuse, type Text } from "../syntax/source-error.ts";

const WORDS_MAX = 100_000;

/** The words that an operator searches; empty for operators without words. Arguments are checked here, where errors have a position. */
export function wordsOf({ name, argument }: OperatorRef, dataFile: (name: string, beside: string) => string | null): readonly string[] {
  switch (name) {
    case "pm":
      return phrasesOf(argument.text);
    case "pmf":
    case "pmFromFile":
    case "ipMatchF":
    case "ipMatchFromFile":
      return argument.text
        .split(/\s+/)
        .filter((file) => file !== "")
        .flatMap((file) => wordsIn(file, argument, dataFile));
    case "ipMatch":
      return argument.text.split(",").map((address) => checkedAddress(address.trim(), argument));
    case "validateByteRange":
      return rangesOf(argument);
    case "rx":
    case "rxGlobal":
      checkPattern(argument);
      return [];
    default:
      return [];
  }
}

/** Words separated by spaces; `|0d 0a|` denotes bytes, including the spaces in it. */
function phrasesOf(text: string): readonly string[] {
  const phrases: string[] = [];
  let phrase = "";
  for (let at = 0; at < text.length; at++) {
    const bytes = text[at] === "|" ? /^\|((?:[0-9a-fA-F]{2} ?){1,100})\|/.exec(text.slice(at, at + 400)) : null;
    if (bytes !== null) {
      phrase += Buffer.from(bytes[1]!.replaceAll(" ", ""), "hex").toString("latin1");
      at += bytes[0].length - 1;
    } else if (/\s/.test(text[at]!)) {
      if (phrase !== "") phrases.push(phrase);
      phrase = "";
    } else phrase += text[at]!;
  }
  return phrase === "" ? phrases : [...phrases, phrase];
}

function checkedAddress(address: string, argument: Text): string {
  if (parseAddressRange(address) === undefined)
    refuse(argument, `${address.slice(0, 60)} is no address and no block, such as 192.0.2.0/24`);
  return address;
}

/** One per line; lines that start with # are comments. */
function wordsIn(file: string, argument: Text, dataFile: (name: string, beside: string) => string | null): readonly string[] {
  const content = dataFile(file, argument.at(0).file);
  if (content === null) return refuse(argument, `the file ${file} is missing beside the rules`);
  const words = content
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (words.length > WORDS_MAX) return refuse(argument, `${file} has more than ${WORDS_MAX} words`);
  return words;
}

function rangesOf(argument: Text): readonly string[] {
  const ranges = argument.text.split(",").map((range) => range.trim());
  for (const range of ranges) {
    const found = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(range);
    if (found === null || Number(found[1]) > 255 || Number(found[2] ?? 0) > 255)
      refuse(argument, `expected ranges such as 32-126, not ${range.slice(0, 20)}`);
  }
  return ranges;
}

function checkPattern(argument: Text): void {
  if (hasVariables(argument.text)) return;
  try {
    parsePcre(argument.text);
  } catch (error) {
    if (error instanceof PatternError) refuse(argument, `the pattern: ${error.message}`, error.at);
    throw error;
  }
}

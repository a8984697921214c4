import { REDIRECTS, TRANSFORMS } from "./availability.ts";
import type { LanguageFunction, Parameter } from "./language-function.ts";
import { RegexError } from "#rules/regex/regex.ts";
import { STRING, type Value } from "#rules/expression/values/value-type.ts";
import { wildcardCaptures, wildcardProblem } from "#rules/regex/wildcard.ts";

const literal = (name: string): Parameter => ({ name, takes: ["string"], only: "literal" });
const text = (value: Value | undefined): string => value as string;

/** The vendor's limit of `${n}` in a replacement. */
const REFERENCES_MAX = 8;

/** Parts of a replacement: text, and numbers of groups. `$$` is a dollar sign. Undefined if it has too many references. */
function readReplacement(replacement: string): readonly (string | number)[] | undefined {
  const parts: (string | number)[] = [];
  for (const [whole, number] of replacement.matchAll(/\$\{(\d{1,3})\}|\$\$|[^$]+|\$/g)) {
    if (number !== undefined) parts.push(Number(number));
    else parts.push(whole === "$$" ? "$" : whole);
  }
  return parts.filter((part) => typeof part === "number").length > REFERENCES_MAX ? undefined : parts;
}

const TOO_MANY = `a replacement can have at most ${REFERENCES_MAX} references to groups`;

const fill = (parts: readonly (string | number)[], group: (number: number) => string): string =>
  parts.map((part) => (typeof part === "number" ? group(part) : part)).join("");

export const REPLACEMENT_FUNCTIONS: readonly LanguageFunction[] = [
  {
    name: "regex_replace",
    stepsPerByte: 0,
    summary: "The string with the first match of a regular expression replaced; ${1} to ${8} are its groups.",
    parameters: [{ name: "source", takes: ["string"] }, literal("regular_expression"), literal("replacement")],
    returns: STRING,
    filters: "nowhere",
    values: [...TRANSFORMS, ...REDIRECTS],
    once: "replace",
    make: ([, pattern, replacement], problem, _, regexes) => {
      const parts = readReplacement(text(replacement)) ?? problem(2, TOO_MANY);
      try {
        const { replace } = regexes.replacer(text(pattern));
        return (source) => replace(text(source), (group) => fill(parts, group));
      } catch (error) {
        if (error instanceof RegexError) return problem(1, error.message);
        throw error;
      }
    },
  },
  {
    name: "wildcard_replace",
    stepsPerByte: 0,
    summary: 'The string, where the whole of it fits a wildcard, replaced; ${1} to ${8} are what each * stood for. "s" heeds case.',
    parameters: [
      { name: "source", takes: ["string"], only: "field" },
      literal("wildcard_pattern"),
      literal("replacement"),
      { ...literal("flags"), optional: true },
    ],
    returns: STRING,
    filters: "nowhere",
    values: [...TRANSFORMS, ...REDIRECTS],
    once: "replace",
    make: ([, pattern, replacement, flags], problem) => {
      const wrong = wildcardProblem(text(pattern));
      if (wrong !== null) problem(1, wrong);
      const parts = readReplacement(text(replacement)) ?? problem(2, TOO_MANY);
      if (flags !== undefined && flags !== "s" && flags !== "") problem(3, 'the flag is "s"');
      const captures = wildcardCaptures(text(pattern), flags === "s");
      return (source) => {
        const found = captures(text(source));
        return found === null ? source : fill(parts, (number) => (number === 0 ? text(source) : (found[number - 1] ?? "")));
      };
    },
  },
];

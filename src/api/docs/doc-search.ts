import { lexer, type Tokens } from "marked";
import { anchorOf } from "./anchor.ts";
import type { Doc } from "./doc-files.ts";
import { plainText } from "./plain-text.ts";

/** A part of a document under one heading. */
export interface Hit {
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  /** Anchor of the heading; empty for the document's own title. */
  readonly anchor: string;
  readonly excerpt: string;
}

interface Part extends Omit<Hit, "excerpt"> {
  readonly text: string;
  readonly lowerHeading: string;
  readonly lowerText: string;
}

const WORDS_MAX = 8;
const QUERY_LENGTH_MAX = 100;
const HITS_MAX = 50;
const EXCERPT_LENGTH = 200;
/** A word in the heading counts as much as this many parts of text. */
const HEADING_WEIGHT = 4;

/** Finds the parts that contain every word of the query, the best and shortest first. A search reads each document once. */
export function createDocSearch(docs: Iterable<Doc>): (query: string) => readonly Hit[] {
  const parts = Array.from(docs).flatMap(partsOf);
  return (query) => {
    const words = query.slice(0, QUERY_LENGTH_MAX).toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);
    if (words.length === 0) return [];
    const scored = parts.flatMap((part) => {
      let score = 0;
      for (const word of words) {
        const inHeading = part.lowerHeading.includes(word);
        if (!inHeading && !part.lowerText.includes(word)) return [];
        score += inHeading ? HEADING_WEIGHT : 1;
      }
      return [{ part, score }];
    });
    return scored
      .toSorted((a, b) => b.score - a.score || a.part.text.length - b.part.text.length)
      .slice(0, HITS_MAX)
      .map(({ part: { path, title, heading, anchor, text, lowerText } }) => ({
        path,
        title,
        heading,
        anchor,
        excerpt: excerptOf(text, lowerText, words),
      }));
  };
}

function excerptOf(text: string, lowerText: string, words: readonly string[]): string {
  const at = Math.max(0, Math.min(...words.map((word) => lowerText.indexOf(word)).filter((index) => index >= 0), lowerText.length));
  const from = at === lowerText.length ? 0 : Math.max(0, at - EXCERPT_LENGTH / 2);
  return text.slice(from, from + EXCERPT_LENGTH).trim();
}

/** The part of each heading, with the text until the next one. */
function partsOf({ path, title, markdown }: Doc): readonly Part[] {
  const found: { heading: string; depth: number; anchor: string; texts: string[] }[] = [];
  /** In the API reference, a route's anchor precedes its heading, and applies to the smaller headings below it. */
  let route = "";
  let name = "";
  for (const token of lexer(markdown)) {
    const id = token.type === "html" || token.type === "paragraph" ? routeAnchor(token.raw) : undefined;
    if (id !== undefined) route = id;
    else if (token.type === "heading") {
      const text = plainText(token);
      const depth = (token as Tokens.Heading).depth;
      // `Body` is only meaningful together with its route.
      const heading = depth > 2 && route !== "" ? `${name}: ${text}` : text;
      if (depth <= 2) name = text;
      found.push({ heading, depth, anchor: depth === 1 ? "" : route || anchorOf(text), texts: [] });
    } else found.at(-1)?.texts.push(plainText(token));
  }
  return found.map(({ heading, anchor, texts }) => {
    const text = texts.join(" ").replaceAll("\n", " ");
    return { path, title, heading, anchor, text, lowerHeading: `${title} ${heading}`.toLowerCase(), lowerText: text.toLowerCase() };
  });
}

function routeAnchor(raw: string): string | undefined {
  const start = '<a id="';
  return raw.startsWith(start) ? raw.slice(start.length, raw.indexOf('"', start.length)) : undefined;
}

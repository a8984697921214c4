import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../tools/steps.ts";

/** A fenced block of a page. */
export interface Block {
  /** Of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  /** The file name for the reader to save it, written after the language: `js receiver.mjs`. */
  readonly file?: string;
  readonly text: string;
  /** The reason of a comment `<!-- not run: … -->` above it. */
  readonly notRun?: string;
}

export interface GuidePage {
  /** From the repository's root. */
  readonly path: string;
  /** The paragraph that starts with "You need", below the title. */
  readonly needs?: string;
  readonly blocks: readonly Block[];
  /** The text without the blocks. */
  readonly prose: string;
}

/** The page with the variables and `call`, which every other page starts from. */
export const VARIABLES_PAGE = "docs/guides/README.md";

export const guidePages = (): readonly GuidePage[] =>
  ["README.md", ...globSync("docs/guides/*.md", { cwd: ROOT }).toSorted()].map((path) =>
    parsePage(path, readFileSync(join(ROOT, path), "utf8")),
  );

const FENCE = /^ *```+(?<info>.*)$/;
const NOT_RUN = /^<!-- not run: (?<reason>\S.*) -->$/;

export function parsePage(path: string, text: string): GuidePage {
  const needs = /^# [^\n]+\n\n(?<paragraph>\*\*You need\*\* (?:[^\n]+\n)+)/.exec(text)?.groups?.["paragraph"];
  const blocks: Block[] = [];
  let open: { readonly from: number; readonly info: string; readonly notRun: string | undefined } | undefined;
  const lines = text.split("\n");
  for (const [i, line] of lines.entries()) {
    const info = FENCE.exec(line)?.groups?.["info"];
    if (info === undefined) continue;
    if (open === undefined) open = { from: i, info, notRun: reasonAbove(lines, i) };
    else {
      const [language = "", file] = open.info.trim().split(" ");
      const { from, notRun } = open;
      const body = lines.slice(from + 1, i).join("\n");
      blocks.push({ line: from + 1, language, text: body, ...(file !== undefined && { file }), ...(notRun !== undefined && { notRun }) });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${path}:${open.from + 1}: the block has no end`);
  const prose = text.replaceAll(/^ *```.*?^ *```$/gms, "");
  return { path, blocks, prose, ...(needs !== undefined && { needs }) };
}

function reasonAbove(lines: readonly string[], fence: number): string | undefined {
  const above = lines.slice(0, fence).findLast((line) => line !== "");
  return NOT_RUN.exec(above ?? "")?.groups?.["reason"];
}

import { basename, dirname } from "node:path";
/** The part of a syntax node that our rules read; every other property is a child or a flag. */
export interface Node {
  readonly type: string;
  readonly [property: string]: unknown;
}

export interface RuleContext {
  readonly sourceCode: { readonly text: string };
  /** Absolute path of the file. */
  readonly filename: string;
  report(finding: { readonly node: Node; readonly message: string }): void;
}

/** A lint rule in the form that the linter shares with ESLint. */
export interface Rule {
  create(context: RuleContext): Readonly<Record<string, (node: never) => void>>;
}

export const asNode = (value: unknown): Node | undefined =>
  typeof value === "object" && value !== null && "type" in value ? (value as Node) : undefined;

/** The name of an identifier, or the value of a string literal. */
export function nameOf(value: unknown): string | undefined {
  const node = asNode(value);
  if (node?.type === "Identifier") return node["name"] as string;
  return node?.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined;
}

export const stringValue = (value: unknown): string | undefined => (asNode(value)?.type === "Literal" ? nameOf(value) : undefined);

/** Tests and their helpers. */
export const isTestFile = (filename: string): boolean => filename.endsWith(".test.ts") || isTestingFolder(dirname(filename));

export const isTestingFolder = (folder: string): boolean => basename(folder) === "testing";

import type { RuleMaterial } from "#kernel/process/worker-protocol.ts";
import { useManagedLists } from "#rules/expression/values/managed-lists.ts";
import type { Program } from "#rules/seclang/program/program.ts";
import { useOperatorRules } from "./rulesets.ts";
import type { OperatorRow } from "./operator/operator-row.ts";
import { type CoreRuleSet, createCoreRuleSet } from "#rules/managed/core/core-rule-set.ts";

/** Digest and version of a compiled Core Rule Set, known without reading it. */
export interface CoreRulesHead {
  /** SHA-256 of the files that it was read from, in hexadecimal. */
  readonly digest: string;
  /** The version in its files: `OWASP_CRS/3.3.4`. */
  readonly version: string;
  /** Of the compiled form. */
  readonly format: number;
}

/** Addresses, blocks and ranges by the name of the list, without its prefix. */
export type ManagedLists = Readonly<Record<string, readonly string[]>>;

export const NO_RULE_MATERIAL: RuleMaterial = { coreRules: null, followsControl: false, lists: null, rows: null };

let used = NO_RULE_MATERIAL;
let core: CoreRuleSet | null = null;
let version = 0;

/** Uses it in this thread, before it compiles rulesets; unchanged memory stays as it is. */
export function useRuleMaterial(material: RuleMaterial): void {
  if (material.coreRules !== used.coreRules) core = coreRuleSetOf(material.coreRules);
  if (material.coreRules !== used.coreRules || material.rows !== used.rows)
    useOperatorRules({ core, rows: material.rows === null ? [] : (JSON.parse(textOf(material.rows)) as readonly OperatorRow[]) });
  if (material.lists !== used.lists)
    useManagedLists(material.lists === null ? [] : Object.entries(JSON.parse(textOf(material.lists)) as ManagedLists));
  used = material;
  version++;
}

/** Increases with each change, because earlier compilations may be of other rules and lists. */
export const ruleMaterialVersion = (): number => version;

function coreRuleSetOf(memory: SharedArrayBuffer | null): CoreRuleSet | null {
  if (memory === null) return null;
  const text = textOf(memory);
  const { digest } = JSON.parse(text.slice(0, text.indexOf("\n"))) as CoreRulesHead;
  return createCoreRuleSet(JSON.parse(text.slice(text.indexOf("\n") + 1)) as Program, digest);
}

/** Programs of other formats are read again from their files. */
const FORMAT = 2;
const HEAD_BYTES_MAX = 1000;

/** A compiled Core Rule Set, as stored on disk and sent to threads. */
export const coreRulesBytes = (head: Omit<CoreRulesHead, "format">, program: Program): SharedArrayBuffer =>
  sharedText(`${JSON.stringify({ format: FORMAT, ...head })}\n${JSON.stringify(program)}`);

/** Null if there is none, or if it has another format. */
export function coreRulesHead(memory: SharedArrayBuffer): CoreRulesHead | null {
  try {
    const start = Buffer.from(new Uint8Array(memory, 0, Math.min(memory.byteLength, HEAD_BYTES_MAX))).toString("utf8");
    const { format, digest, version: named } = JSON.parse(start.slice(0, start.indexOf("\n"))) as CoreRulesHead;
    return format === FORMAT ? { digest, version: named, format } : null;
  } catch {
    return null;
  }
}

/** Decoding needs memory of this thread's own. */
const textOf = (memory: SharedArrayBuffer): string => Buffer.from(new Uint8Array(memory)).toString("utf8");

export function sharedText(text: string): SharedArrayBuffer {
  const bytes = Buffer.from(text, "utf8");
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
}

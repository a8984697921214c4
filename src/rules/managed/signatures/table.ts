import { CROSS_SITE_SCRIPTING } from "./xss.ts";
import { DATA_INJECTION, JAVA_INJECTION, NODE_INJECTION, PHP_INJECTION, TEMPLATE_INJECTION } from "./code.ts";
import { COMMAND_INJECTION } from "./commands.ts";
import { FILE_INCLUSION, FILE_UPLOADS, REQUEST_FORGERY } from "./files.ts";
import { SCANNERS } from "./scanners.ts";
import { createSignatureSet, type SignatureSet } from "./signature-set.ts";
import type { Signature } from "./signature.ts";
import { SQL_INJECTION } from "./sqli.ts";

/** Every signature. New rows are added anywhere; slugs never change. */
export const SIGNATURES: readonly Signature[] = [
  ...SQL_INJECTION,
  ...CROSS_SITE_SCRIPTING,
  ...FILE_INCLUSION,
  ...REQUEST_FORGERY,
  ...FILE_UPLOADS,
  ...COMMAND_INJECTION,
  ...TEMPLATE_INJECTION,
  ...PHP_INJECTION,
  ...JAVA_INJECTION,
  ...NODE_INJECTION,
  ...DATA_INJECTION,
  ...SCANNERS,
];

/** Signatures that rulesets refer to by number, compiled for scans of requests. */
export interface SignatureTable {
  readonly signatures: readonly Signature[];
  /** Made when the first zone wants it: no zone needs it by itself. */
  set(): SignatureSet;
}

export function createSignatureTable(signatures: readonly Signature[]): SignatureTable {
  let made: SignatureSet | undefined;
  return { signatures, set: () => (made ??= createSignatureSet(signatures)) };
}

export const OWN_SIGNATURES = createSignatureTable(SIGNATURES);

import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { newEnvelopeKeys, openEnvelope } from "#kernel/envelope.ts";
import { CliError, EXIT, type ExitCode } from "./outcome.ts";

/** Prints a pair of keys: the public one goes into rules, the private one stays with who may read matches. */
export function generateKeys(): ExitCode {
  console.log(JSON.stringify(newEnvelopeKeys(), null, 2));
  return EXIT.ok;
}

/** Prints what a `matched_data` of an event holds; it is read from standard input where it is not given. */
export async function decrypt(flags: { readonly privateKeyFile: string; readonly data?: string }): Promise<ExitCode> {
  const envelope = (flags.data ?? (await text(process.stdin))).trim();
  try {
    console.log(openEnvelope(privateKeyOf(readFileSync(flags.privateKeyFile, "utf8")), envelope));
  } catch (error) {
    throw new CliError(`cannot decrypt this: ${error instanceof Error ? error.message : String(error)}`);
  }
  return EXIT.ok;
}

/** The file is what `keygen` prints, or the key alone. */
function privateKeyOf(file: string): string {
  const trimmed = file.trim();
  if (!trimmed.startsWith("{")) return trimmed;
  const { private_key: key } = JSON.parse(trimmed) as { private_key?: unknown };
  if (typeof key !== "string") throw new Error("the file holds no private_key");
  return key;
}

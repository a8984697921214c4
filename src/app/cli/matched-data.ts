import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { newEnvelopeKeys, openEnvelope } from "#kernel/crypto/envelope.ts";
import { CliError, EXIT, type ExitCode, print } from "./outcome.ts";

/** Prints a key pair: the public key goes into rules, the private key stays with the person who may read matches. */
export function generateKeys({ json = false }: { readonly json?: boolean }): ExitCode {
  const keys = newEnvelopeKeys();
  print(json, keys, [JSON.stringify(keys, null, 2)]);
  return EXIT.ok;
}

/**
 * Prints the decrypted content of an event's `matched_data`; for JSON, such as an answer of the API, the content of each
 * one in it, one per line. Without an argument it reads standard input.
 */
export async function decrypt(flags: { readonly privateKeyFile: string; readonly data?: string }): Promise<ExitCode> {
  const given = (flags.data ?? (await text(process.stdin))).trim();
  const key = privateKeyOf(flags.privateKeyFile);
  if (!/^[[{]/.test(given)) {
    console.log(opened(key, given));
    return EXIT.ok;
  }
  const holders = holdersIn(parsed(given, "the input"));
  if (holders.length === 0) throw new CliError("no object in this JSON has matched_data");
  const refused: string[] = [];
  for (const { event, matched_data, detector, rule_id } of holders) {
    try {
      const found = parsed(opened(key, matched_data), "the decrypted text");
      console.log(JSON.stringify({ event_id: event?.id, detector, rule_id, matched_data: found }));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      refused.push(error.message);
    }
  }
  // Events may be older than the key.
  if (refused.length > 0)
    throw new CliError(`${refused.length} of ${holders.length} could not be decrypted; the first error: ${refused[0]}`);
  return EXIT.ok;
}

interface Holder {
  readonly matched_data: string;
  readonly detector?: unknown;
  readonly rule_id?: unknown;
  /** Absent if the match is not part of an event. */
  readonly event?: { readonly id: unknown };
}

/** All objects in the value that have an encrypted copy, in order, with their events. */
function holdersIn(value: unknown, around?: Holder["event"]): readonly Holder[] {
  if (typeof value !== "object" || value === null) return [];
  const event = "id" in value && "matches" in value ? value : around;
  const inner = Object.values(value).flatMap((one) => holdersIn(one, event));
  if (!("matched_data" in value) || typeof value.matched_data !== "string") return inner;
  return [{ ...(value as Holder), ...(event && { event }) }, ...inner];
}

function opened(key: string, envelope: string): string {
  try {
    return openEnvelope(key, envelope);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(`cannot decrypt this: ${why.includes("authenticate") ? "it was encrypted for another key, or modified" : why}`);
  }
}

function parsed(json: string, what: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new CliError(`${what} is not valid JSON`);
  }
}

/** The file contains the output of `keygen`, or only the key. */
function privateKeyOf(path: string): string {
  let file: string;
  try {
    file = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new CliError(`cannot read the private key: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!file.startsWith("{")) return file;
  const { private_key: key } = parsed(file, path) as { private_key?: unknown };
  if (typeof key !== "string") throw new CliError(`${path} contains no private_key`);
  return key;
}

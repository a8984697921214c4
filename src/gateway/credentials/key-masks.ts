import { createKeyMask, type KeyMask } from "#gateway/http/key-mask.ts";
import { isSecretName } from "#gateway/http/secret-header.ts";
import type { Step } from "#gateway/request/plan.ts";

/** Masks for keys that the gateway sends. */
export interface KeyMasks {
  /** The step, which hides the credentials among these of its header fields too. */
  masked(step: Step, fields: readonly string[]): Step;
}

const KEPT_MAX = 1_000;
/** A signature is valid for one request and one time, so that it is useless to a reader of the log. */
const SIGNED = "AWS4-";

export function createKeyMasks(): KeyMasks {
  /** By the keys; making one costs more than using it. */
  const made = new Map<string, KeyMask | undefined>();
  return {
    masked: (step, fields) => {
      const keys = [...(step.secrets ?? []), ...credentialsIn(fields)];
      if (keys.length === 0) return step;
      const name = keys.join("\n");
      if (!made.has(name)) {
        if (made.size >= KEPT_MAX) made.clear();
        made.set(name, createKeyMask(keys));
      }
      const mask = made.get(name);
      return mask === undefined ? step : { ...step, secrets: keys, mask };
    },
  };
}

/** The values of credential fields, without their scheme; of a name and a password, the password as well. */
function credentialsIn(fields: readonly string[]): string[] {
  const keys: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const value = fields[i + 1] ?? "";
    if (!isSecretName((fields[i] ?? "").toLowerCase()) || value.startsWith(SIGNED)) continue;
    const key = value.replace(/^[A-Za-z]+ /, "");
    keys.push(key);
    if (/^basic /i.test(value))
      keys.push(
        Buffer.from(key, "base64")
          .toString()
          .replace(/^[^:]*:/, ""),
      );
  }
  return keys;
}

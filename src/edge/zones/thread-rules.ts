import { zstdDecompressSync } from "node:zlib";
import type { RuleMaterial } from "#kernel/process/worker-protocol.ts";
import { coreRulesHead } from "#rules/managed/rule-material.ts";
import { rememberLast } from "#rules/text/memo.ts";
import type { CoreRulesEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";

/** The rules of this thread: those that the process gave it, and, without control in the process, the Core Rule Set of the snapshot. */
export interface ThreadRules {
  current(): RuleMaterial;
  give(material: RuleMaterial): void;
  /** Calls `listener` when the snapshot has another one. */
  onShared(listener: () => void): void;
}

export interface ThreadRulesDeps {
  readonly replica: Replica;
  readonly given: RuleMaterial;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

const COMPILED_BYTES_MAX = 64 << 20;

export function createThreadRules({ replica, given, warn }: ThreadRulesDeps): ThreadRules {
  let material = given;
  let entry: CoreRulesEntry | null = null;
  let listener = (): void => undefined;
  /** The last one that could be read. */
  let shared: SharedArrayBuffer | null | undefined;
  const read = rememberLast((found: CoreRulesEntry): void => {
    const memory = memoryOf(found);
    if (memory !== undefined) shared = memory;
    else
      warn(
        "cannot read the OWASP Core Rule Set that control shares, perhaps because it has another version; the previous one stays in use",
        {
          digest: found.digest,
          version: found.version,
        },
      );
  });
  followKind(replica, "core_rules", {
    clear: () => void (entry = null),
    put: (_id, value) => void (entry = value),
    remove: () => void (entry = null),
    changed: () => {
      if (material.followsControl) listener();
    },
  });
  return {
    current: () => {
      if (!material.followsControl || entry === null) return material;
      read(entry);
      return shared === undefined ? material : { ...material, coreRules: shared };
    },
    give: (next) => void (material = next),
    onShared: (next) => void (listener = next),
  };
}

/** Null if control has none, undefined if it cannot be read. */
function memoryOf({ digest, program }: CoreRulesEntry): SharedArrayBuffer | null | undefined {
  if (digest === "") return null;
  try {
    const bytes = zstdDecompressSync(Buffer.from(program, "base64"), { maxOutputLength: COMPILED_BYTES_MAX });
    const memory = new SharedArrayBuffer(bytes.length);
    new Uint8Array(memory).set(bytes);
    return coreRulesHead(memory)?.digest === digest ? memory : undefined;
  } catch {
    return undefined;
  }
}

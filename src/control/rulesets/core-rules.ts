import { zstdCompressSync } from "node:zlib";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { coreRulesHead } from "#rules/managed/rule-material.ts";
import type { CoreRulesEntry } from "#snapshot/entries.ts";
import { coreRulesRow, putCoreRules } from "#store/rulesets/core-rules.ts";
import type { Store, Unit } from "#store/database/store.ts";

/** Its only entry. */
export const CORE_RULES_ID = "owasp";

/**
 * Tells planes on other machines which Core Rule Set this process uses; null for none. Nothing is written if they know. Of several processes
 * on a database the one that started or read its files last decides.
 */
export async function shareCoreRules(
  deps: { readonly store: Store; readonly clock: Clock },
  call: Call,
  memory: SharedArrayBuffer | null,
): Promise<void> {
  const head = memory === null ? null : coreRulesHead(memory);
  const { digest, version, format } = head ?? { digest: "", version: "", format: 0 };
  const known = await coreRulesEntry(deps.store.read);
  if (known === null ? head === null : known.digest === digest && known.format === format) return;
  const program = memory === null ? "" : zstdCompressSync(new Uint8Array(memory)).toString("base64");
  const row = { digest, version, program, format, modified_on: isoMicros(deps.clock.nowMicros()) };
  await commit(deps, call, async (unit) => {
    await putCoreRules(unit.db, row);
    unit.change({ kind: "core_rules", id: CORE_RULES_ID, value: { digest, version, format, program } });
    unit.audit({
      action: "core_rules.use",
      actor: auditActor(call),
      account_id: null,
      zone_id: null,
      resource: { type: "core_rules", id: CORE_RULES_ID },
      after: { digest, version },
    });
  });
}

export async function coreRulesEntry(db: Unit["db"]): Promise<CoreRulesEntry | null> {
  const row = await coreRulesRow(db);
  if (row === undefined) return null;
  const { digest, version, format, program } = row;
  return { digest, version, format, program };
}

import { createHash } from "node:crypto";
import { Worker } from "node:worker_threads";
import type { RuleMaterial } from "#kernel/process/worker-protocol.ts";
import { NO_RULE_MATERIAL, sharedText, useRuleMaterial } from "#rules/managed/rule-material.ts";
import type { Config } from "#app/config/config.ts";
import type { Log } from "#app/log/log.ts";
import { type CoreRulesLocations, findCoreRules, type FoundCoreRules, logCoreRules } from "./core-rules.ts";
import { readManagedLists } from "./managed-list-files.ts";
import { readOperatorRows } from "./operator-rows-file.ts";

/** The operator's files for rules: in use in this thread, and in the form for other threads. */
export interface RuleFiles {
  material(): RuleMaterial;
  /**
   * Reads the files again; `onChanged` gets the changes. Errors are logged, and the earlier content stays in use. Requests
   * during a reading cost one more reading together, of the newest configuration.
   */
  reload(config: Config): Promise<void>;
  /** Ends a reading, which would keep the process for as long as it takes. */
  close(): void;
}

export interface RuleFilesDeps {
  readonly config: Config;
  /** Directory of a Core Rule Set from `selvedge waf crs install`, and the file of the last successful compilation. */
  readonly files: { readonly coreRules: string; readonly lastCoreRules: string };
  /** Whether control runs in another process, whose Core Rule Set this one uses. */
  readonly followsControl: boolean;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  onChanged(material: RuleMaterial): void;
}

/** Throws an Error that names the key, the file, the line and the column if a list or a row is invalid. */
export function openRuleFiles({ config, files, followsControl, log, onChanged }: RuleFilesDeps): RuleFiles {
  const shared = { lists: createSharedJson(), rows: createSharedJson() };
  const filesIn: { readonly [K in keyof typeof shared]: (next: Config) => SharedArrayBuffer | null } = {
    lists: (next) => shared.lists.of(listsIn(next)),
    rows: (next) => shared.rows.of(rowsIn(next)),
  };
  const placesIn = ({ waf }: Config): CoreRulesLocations => ({
    configured: waf.crs_directory,
    installed: files.coreRules,
    lastGood: files.lastCoreRules,
    followsControl,
  });
  let material: RuleMaterial = NO_RULE_MATERIAL;
  const useMaterial = (now: RuleMaterial): void => {
    material = now;
    useRuleMaterial(material);
  };
  const follows = ({ waf }: Config): boolean => followsControl && waf.crs_directory === "";
  const use = (found: FoundCoreRules, now: Omit<RuleMaterial, "coreRules">): void => {
    // The same rules in another place need no new compilation.
    const coreRules = isSame(found.memory, material.coreRules) ? material.coreRules : found.memory;
    useMaterial({ ...now, coreRules });
  };
  const found = findCoreRules(placesIn(config));
  logCoreRules(found, log);
  use(found, { followsControl: follows(config), lists: filesIn.lists(config), rows: filesIn.rows(config) });

  const ending = new AbortController();
  const readAgain = async (next: Config): Promise<void> => {
    const before = material;
    const again = (kind: keyof typeof filesIn): SharedArrayBuffer | null => {
      try {
        return filesIn[kind](next);
      } catch (error) {
        const problem = (error as Error).message;
        log.error({ problem }, `${problem}; the previous rules stay in use`);
        return before[kind];
      }
    };
    const now = { followsControl: follows(next), lists: again("lists"), rows: again("rows") };
    try {
      const core = await findInThread(placesIn(next), ending.signal);
      logCoreRules(core, log);
      use(core, now);
    } catch (error) {
      if (ending.signal.aborted) return;
      log.error({ err: error }, "cannot read the OWASP Core Rule Set again; the previous rules stay in use");
      useMaterial({ ...now, coreRules: before.coreRules });
    }
    if (MEMBERS.some((member) => material[member] !== before[member])) onChanged(material);
  };
  let waiting: Config | null = null;
  let running: Promise<void> | null = null;
  const readWaiting = async (): Promise<void> => {
    try {
      while (waiting !== null && !ending.signal.aborted) {
        const next = waiting;
        waiting = null;
        await readAgain(next);
      }
    } finally {
      running = null;
    }
  };
  return {
    material: () => material,
    reload: (next) => {
      waiting = next;
      return (running ??= readWaiting());
    },
    close: () => ending.abort(),
  };
}

const MEMBERS = ["coreRules", "followsControl", "lists", "rows"] as const;

function listsIn({ rules: { managed_lists_directory: directory } }: Config): object | null {
  if (directory === "") return null;
  try {
    return readManagedLists(directory);
  } catch (error) {
    throw new Error(`rules.managed_lists_directory: ${(error as Error).message}`, { cause: error });
  }
}

function rowsIn({ waf: { rows_file: path } }: Config): object | null {
  if (path === "") return null;
  try {
    return readOperatorRows(path);
  } catch (error) {
    throw new Error(`waf.rows_file: ${(error as Error).message}`, { cause: error });
  }
}

const COMPILE_MS_MAX = 120_000;

function findInThread(places: CoreRulesLocations, signal: AbortSignal): Promise<FoundCoreRules> {
  const worker = new Worker(new URL(import.meta.resolve("#app/waf/core-rules-thread.ts")), {
    name: "core-rules",
    workerData: places,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const end = (): void => void worker.terminate();
  const limit = setTimeout(end, COMPILE_MS_MAX);
  signal.addEventListener("abort", end);
  return new Promise<FoundCoreRules>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("reading the OWASP Core Rule Set took too long")));
  }).finally(() => {
    clearTimeout(limit);
    signal.removeEventListener("abort", end);
  });
}

function isSame(a: SharedArrayBuffer | null, b: SharedArrayBuffer | null): boolean {
  if (a === null || b === null) return a === b;
  return a.byteLength === b.byteLength && Buffer.compare(new Uint8Array(a), new Uint8Array(b)) === 0;
}

/** JSON in shared memory: the same memory for the same value, so that unchanged rules are not compiled again. */
function createSharedJson(): { of(value: object | null): SharedArrayBuffer | null } {
  let digest = "";
  let memory: SharedArrayBuffer | null = null;
  return {
    of: (value) => {
      const text = value === null ? "" : JSON.stringify(value);
      const now = createHash("sha256").update(text).digest("hex");
      if (now === digest) return memory;
      digest = now;
      memory = value === null ? null : sharedText(text);
      return memory;
    },
  };
}

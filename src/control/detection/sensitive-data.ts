import { PlatformError } from "#kernel/errors/errors.ts";
import type { Clock } from "#kernel/clock.ts";
import { createTaskThread, TaskRefused } from "#kernel/process/task-thread.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Call } from "#control/call.ts";
import {
  type AllowedData,
  type AllowedDataChange,
  AllowedDataCreate,
  type SensitiveDataFindings,
  type SensitiveDataPattern,
  type SensitiveDataPatternChange,
  SensitiveDataPatternCreate,
  type SensitiveDataScan,
} from "#model/detection/sensitive-data.ts";
import type { Store } from "#store/database/store.ts";
import { createOwnedObjects, type OwnedObjects, type OwnedZone, type Owner } from "./objects.ts";
import { ownPatterns } from "./own-patterns.ts";
import { CATEGORIES, type ScanTask } from "./scan.ts";
import { ruleProblems } from "#rules/check.ts";
import type { RuleContext } from "#rules/parameters/rule-context.ts";
import { jsonSteps } from "#rules/detectors/masking/allowed-place.ts";
import { customDetector, type CustomPattern } from "#rules/detectors/engine/custom.ts";
import { VALUE_HASH_PURPOSE } from "#rules/detectors/engine/value-hash.ts";
import { RegexError } from "#rules/regex/regex.ts";
import { isSwitchedOn } from "#rules/managed/own-patterns.ts";
import { executeManaged, SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";

export interface SensitiveData {
  /**
   * Findings of all detectors in a text, whether enabled or not. Throws `invalid_input` for overrides that a rule cannot
   * have, and `scans_busy`.
   */
  scan(zone: OwnedZone, request: SensitiveDataScan): Promise<SensitiveDataFindings>;
  readonly allowed: Omit<OwnedObjects<AllowedDataCreate>, "update"> & {
    /** Throws `invalid_input` for a value that could match nothing, or would match everything. */
    update(call: Call, owner: Owner, id: string, change: AllowedDataChange): Promise<AllowedData>;
  };
  readonly patterns: Omit<OwnedObjects<PatternValue>, "create" | "update"> & {
    /** Throws `invalid_input` with the location of the mistake. */
    create(call: Call, owner: Owner, pattern: SensitiveDataPatternCreate): Promise<SensitiveDataPattern>;
    update(call: Call, owner: Owner, id: string, change: SensitiveDataPatternChange): Promise<SensitiveDataPattern>;
  };
}

type PatternValue = Omit<SensitiveDataPattern, "id" | "created_on" | "modified_on">;

export interface SensitiveDataDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
}

const SCAN_LIMITS = { waitingMax: 100, answerMs: 10_000, quietMs: 60_000, heapMegabytesMax: 256 };
const ALLOWED_MAX = 1000;
const PATTERNS_MAX = 50;

export function createSensitiveData({ store, clock, sealer }: SensitiveDataDeps): SensitiveData {
  const scans = createTaskThread<ScanTask, SensitiveDataFindings>({
    name: "scans",
    script: import.meta.resolve("#control/detection/scan-thread.ts"),
    workerData: sealer.derive(VALUE_HASH_PURPOSE),
    ...SCAN_LIMITS,
  });
  const allowed = createOwnedObjects<AllowedDataCreate>({
    store,
    clock,
    kind: "allowed",
    max: ALLOWED_MAX,
    members: Object.keys(AllowedDataCreate.properties),
  });
  const patterns = createOwnedObjects<PatternValue>({
    store,
    clock,
    kind: "pattern",
    max: PATTERNS_MAX,
    members: Object.keys(SensitiveDataPatternCreate.properties),
  });
  const patternsOf = async (owner: Owner): Promise<readonly CustomPattern[]> =>
    "zone" in owner ? ownPatterns(store.read, { zone_id: owner.zone.id, account_id: owner.zone.account_id }) : [];
  return {
    allowed: {
      ...allowed,
      create: async (call, owner, value) => {
        checkAllowed(value, await patternsOf(owner));
        return allowed.create(call, owner, value);
      },
      update: async (call, owner, id, change) => {
        const own = await patternsOf(owner);
        return allowed.update(call, owner, id, change, (value) => checkAllowed(value, own));
      },
    },
    patterns: {
      ...patterns,
      create: async (call, owner, given) => {
        const value: PatternValue = { context: [], validator: "none", tags: [], enabled: true, ...given };
        checkPattern(value);
        return patterns.create(call, owner, value);
      },
      update: (call, owner, id, change) => patterns.update(call, owner, id, change, checkPattern),
    },
    scan: async (zone, { text, overrides }) => {
      const own = await ownPatterns(store.read, { zone_id: zone.id, account_id: zone.account_id });
      const enabled = enabledRules(overrides, own);
      return scans.run(zone.account_id, { zoneId: zone.id, text, own, enabled }).catch((error: unknown) => {
        throw error instanceof TaskRefused ? new PlatformError("scans_busy") : error;
      });
    },
  };
}

/** Throws `invalid_input` for a value that could match nothing, or would match everything. */
function checkAllowed({ value_hash, json_path, path, rule_id }: AllowedDataCreate, own: readonly CustomPattern[]): void {
  const refuse = (message: string, source: string): never => {
    throw new PlatformError("invalid_input", { message, source });
  };
  if (value_hash === undefined && json_path === undefined && path === undefined)
    refuse("one of value_hash, json_path and path is required", "/");
  if (json_path !== undefined && jsonSteps(json_path) === null)
    refuse('json_path must consist of member names, indexes and [*] for all of them: $.orders[*].number or $["full name"]', "/json_path");
  if (path !== undefined && /[?#]/.test(path)) refuse("path must be a request path without a query; * matches any characters", "/path");
  if (rule_id !== undefined && !CATEGORIES.has(rule_id) && !own.some(({ id }) => id === rule_id))
    refuse("no rule and no pattern has this rule_id", "/rule_id");
}

/** Throws `invalid_input` for a pattern that cannot be compiled. */
function checkPattern({ pattern, ...rest }: PatternValue): void {
  try {
    customDetector({ id: "", pattern, ...rest });
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    const place = error.at > 0 ? ` (at character ${error.at + 1})` : "";
    throw new PlatformError("invalid_input", { message: `pattern: ${error.message}${place}`, source: "/pattern" });
  }
}

function enabledRules(overrides: SensitiveDataScan["overrides"], own: readonly CustomPattern[]): ReadonlySet<string> {
  const parameters = { id: SENSITIVE_DATA_RULESET_ID, ...(overrides === undefined ? {} : { overrides }) };
  const rule = { action: "execute", action_parameters: parameters, expression: "true" };
  const [problem] = ruleProblems(rule, "http_response_firewall_managed", { ...IN_A_ZONE, patterns: own });
  if (problem !== undefined) {
    throw new PlatformError("invalid_input", { message: problem.message, source: problem.pointer.replace(/^\/action_parameters/, "") });
  }
  const execution = executeManaged(parameters);
  const patterns = own.filter((pattern) => isSwitchedOn(execution?.own ?? "", pattern));
  return new Set([...(execution?.rules ?? []), ...patterns].map(({ id }) => id));
}

const IN_A_ZONE: RuleContext = { kind: "zone", customRulesets: new Map(), lists: { find: () => undefined } };

import { refuse, slice, type Text, trimmed } from "../syntax/source-error.ts";
import { readVariables } from "../syntax/variables.ts";
import type { Control, EngineMode, Target } from "./program.ts";
import { type IdRange, readIdRanges } from "./rule-draft.ts";

/** The rules that a directive means. */
export interface ControlResources {
  readonly idsTagged: (tag: Text) => readonly number[];
  readonly idsTitled: (title: Text) => readonly number[];
  readonly idsIn: (ranges: readonly IdRange[]) => readonly number[];
}

/** `ctl`: one option, or none if it has no effect here. */
export function readControl(source: Text, resources: ControlResources): readonly Control[] {
  const equals = source.text.indexOf("=");
  if (equals === -1) return refuse(source, "expected an option and a value, as in ruleRemoveById=942100");
  const option = source.text.slice(0, equals).trim();
  const reader = OPTIONS.get(option.toLowerCase());
  if (reader === undefined) return refuse(source, `unknown option ${option} of ctl`);
  return reader(trimmed(slice(source, equals + 1)), resources);
}

type OptionReader = (value: Text, resources: ControlResources) => readonly Control[];

const ids: OptionReader = (value, { idsIn }) => [{ kind: "remove-rules", ids: idsIn(readIdRanges(value)) }];

/** `942100;ARGS:name`. */
const targets =
  (find: (value: Text, resources: ControlResources) => readonly number[]): OptionReader =>
  (value, resources) => {
    const semicolon = value.text.indexOf(";");
    if (semicolon === -1) return refuse(value, "expected rules and a variable, as in 942100;ARGS:name");
    const rules = find(trimmed(slice(value, 0, semicolon)), resources);
    return readVariables(slice(value, semicolon + 1)).map((variable) => ({
      kind: "remove-target",
      ids: rules,
      target: plainTarget(variable),
    }));
  };

/** A target as exclusions name it. */
export const plainTarget = ({ collection, selector }: ReturnType<typeof readVariables>[number]): Target => ({
  collection,
  isCount: false,
  selector: selector?.kind === "pattern" ? { kind: "pattern", pattern: selector.pattern.text } : selector,
});

const ENGINES: ReadonlyMap<string, EngineMode> = new Map([
  ["on", "on"],
  ["off", "off"],
  ["detectiononly", "detection"],
]);

const PROCESSORS = ["URLENCODED", "MULTIPART", "XML", "JSON"];

function processor(value: Text): string {
  const name = value.text.toUpperCase();
  return PROCESSORS.includes(name) ? name : refuse(value, `expected one of ${PROCESSORS.join(", ")}`);
}

const nothing: OptionReader = () => [];

const OPTIONS: ReadonlyMap<string, OptionReader> = new Map<string, OptionReader>(
  Object.entries({
    // Options of ModSecurity's own logs, which do not exist here.
    auditEngine: nothing,
    auditLogParts: nothing,
    debugLogLevel: nothing,
    forceRequestBodyVariable: (value) => (value.text.toLowerCase() === "on" ? [{ kind: "force-body" }] : []),
    // Bodies are always read here, within the edge's own limits.
    parseXmlIntoArgs: nothing,
    requestBodyAccess: nothing,
    requestBodyLimit: nothing,
    requestBodyProcessor: (value) => [{ kind: "body-processor", processor: processor(value) }],
    responseBodyAccess: nothing,
    responseBodyLimit: nothing,
    ruleEngine: (value) => [
      { kind: "engine", mode: ENGINES.get(value.text.toLowerCase()) ?? refuse(value, "expected On, Off or DetectionOnly") },
    ],
    ruleRemoveById: ids,
    ruleRemoveByMsg: (value, { idsTitled }) => [{ kind: "remove-rules", ids: idsTitled(value) }],
    ruleRemoveByTag: (value, { idsTagged }) => [{ kind: "remove-rules", ids: idsTagged(value) }],
    ruleRemoveTargetById: targets((value, { idsIn }) => idsIn(readIdRanges(value))),
    ruleRemoveTargetByMsg: targets((value, { idsTitled }) => idsTitled(value)),
    ruleRemoveTargetByTag: targets((value, { idsTagged }) => idsTagged(value)),
  } satisfies Record<string, OptionReader>).map(([name, reader]) => [name.toLowerCase(), reader]),
);

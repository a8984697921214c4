import { block, compressResponse, logCustomField, redirect, serveError } from "./answers.ts";
import { setCacheControl, setCacheSettings, setCacheTags } from "./caching.ts";
import { rewrite, route, setConfig } from "./requests.ts";
import { skip } from "./skip.ts";
import { execute } from "#rules/managed/deployment.ts";
import { object, type Shape, whole } from "#rules/parameters/shape.ts";
import { type ActionName, PHASES, type PhaseName } from "#rules/phases.ts";

export interface Action {
  /** Shape of `action_parameters`. */
  readonly parameters: Shape;
  /** No later rule of the phase runs after a rule with this action has matched (waf.md, "Terminating actions"). */
  readonly terminates: boolean;
  /** Writes a security event, unless the rule's `logging` says otherwise. */
  readonly logs: boolean;
}

const NONE = object({});

/** Actions of rules. The rule engine itself runs `execute`, `skip` and `score`; stages of the edge carry out the others. */
export const ACTIONS: Readonly<Record<ActionName, Action>> = {
  block: { parameters: block, terminates: true, logs: true },
  challenge: { parameters: NONE, terminates: true, logs: true },
  compress_response: { parameters: compressResponse, terminates: false, logs: false },
  execute: { parameters: execute, terminates: false, logs: false },
  js_challenge: { parameters: NONE, terminates: true, logs: true },
  log: { parameters: NONE, terminates: false, logs: true },
  log_custom_field: { parameters: logCustomField, terminates: false, logs: false },
  managed_challenge: { parameters: NONE, terminates: true, logs: true },
  redirect: { parameters: redirect, terminates: true, logs: false },
  rewrite: { parameters: rewrite, terminates: false, logs: false },
  route: { parameters: route, terminates: false, logs: false },
  score: { parameters: object({ increment: whole(-1000, 1000) }, { required: ["increment"] }), terminates: false, logs: false },
  serve_error: { parameters: serveError, terminates: true, logs: false },
  set_cache_control: { parameters: setCacheControl, terminates: false, logs: false },
  set_cache_settings: { parameters: setCacheSettings, terminates: false, logs: false },
  set_cache_tags: { parameters: setCacheTags, terminates: false, logs: false },
  set_config: { parameters: setConfig, terminates: false, logs: false },
  skip: { parameters: skip, terminates: false, logs: true },
};

/** `action_parameters` with defaults (SPEC 2.6: `version` is `latest`). */
export const completeParameters = (action: string, parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  action === "execute" ? { ...parameters, version: parameters["version"] ?? "latest" } : parameters;

/** The phases whose entry points may have rules with this action. */
export const phasesOf = (action: ActionName): readonly PhaseName[] =>
  PHASES.filter((phase) => (phase.actions as readonly ActionName[]).includes(action)).map((phase) => phase.name);

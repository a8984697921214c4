import { executeProblems } from "./managed/deployment.ts";
import { PHASES, type PhaseName } from "./phases.ts";
import { object, only, present, text, wholeNumber } from "./parameters.ts";
import type { RuleSurroundings } from "./check.ts";
import type { RuleProblem } from "./types.ts";

export type ActionName =
  | "block"
  | "challenge"
  | "compress_response"
  | "execute"
  | "js_challenge"
  | "log"
  | "log_custom_field"
  | "managed_challenge"
  | "redirect"
  | "rewrite"
  | "route"
  | "score"
  | "serve_error"
  | "set_cache_control"
  | "set_cache_settings"
  | "set_cache_tags"
  | "set_config"
  | "skip";

export interface Action {
  readonly name: ActionName;
  /** What is wrong with `action_parameters`; pointers are below it (`/origin/port`). Empty means valid. */
  validate(parameters: Readonly<Record<string, unknown>>, phase: PhaseName, around: RuleSurroundings): readonly RuleProblem[];
  /** Fills in what the service sets when it is absent (SPEC 2.6: `version` is `latest`). */
  complete(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

const same = (parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => parameters;

/** Actions that the engine can run. A rule with any other is refused at save, never silently ignored. */
export const ACTIONS: Readonly<Partial<Record<ActionName, Action>>> = {
  execute: {
    name: "execute",
    validate: executeProblems,
    complete: (parameters) => ({ ...parameters, version: parameters["version"] ?? "latest" }),
  },
  log: { name: "log", validate: (parameters) => only(parameters, []), complete: same },
  route: { name: "route", validate: routeProblems, complete: same },
  block: { name: "block", validate: blockProblems, complete: same },
  skip: { name: "skip", validate: skipProblems, complete: same },
};

/** The phases whose entry points may hold rules with this action. */
export const phasesOf = (action: ActionName): readonly PhaseName[] =>
  PHASES.filter((phase) => (phase.actions as readonly ActionName[]).includes(action)).map((phase) => phase.name);

const HOST = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

function routeProblems(parameters: Readonly<Record<string, unknown>>): readonly RuleProblem[] {
  const problems = only(parameters, ["host_header", "origin", "sni"]);
  if (Object.keys(parameters).length === 0) return [{ pointer: "", message: "a route needs host_header, origin or sni" }];
  const origin = object(parameters, "origin", problems);
  if (origin !== undefined) {
    problems.push(...only(origin, ["host", "port"], "/origin"));
    present(origin, ["host", "port"], problems, "/origin");
    text(origin, "host", problems, { at: "/origin", pattern: HOST, what: "a host name" });
    wholeNumber(origin, "port", problems, { at: "/origin", min: 1, max: 65_535 });
  }
  const sni = object(parameters, "sni", problems);
  if (sni !== undefined) {
    problems.push(...only(sni, ["value"], "/sni"));
    present(sni, ["value"], problems, "/sni");
    text(sni, "value", problems, { at: "/sni", pattern: HOST, what: "a host name" });
  }
  text(parameters, "host_header", problems, { pattern: HOST, what: "a host name" });
  return problems;
}

// waf.md: a custom response has a status of 400–499 and up to 30 KB.
const BLOCK_CONTENT_BYTES_MAX = 30 * 1024;
const BLOCK_CONTENT_TYPES = ["application/json", "text/html", "text/plain", "text/xml"];

function blockProblems(parameters: Readonly<Record<string, unknown>>): readonly RuleProblem[] {
  const problems = only(parameters, ["response"]);
  const response = object(parameters, "response", problems);
  if (response === undefined) return problems;
  problems.push(...only(response, ["status_code", "content", "content_type"], "/response"));
  wholeNumber(response, "status_code", problems, { at: "/response", min: 400, max: 499 });
  text(response, "content", problems, { at: "/response" });
  const content = response["content"];
  if (typeof content === "string" && Buffer.byteLength(content) > BLOCK_CONTENT_BYTES_MAX) {
    problems.push({ pointer: "/response/content", message: `content is longer than ${BLOCK_CONTENT_BYTES_MAX} bytes` });
  }
  const type = response["content_type"];
  if (type !== undefined && !BLOCK_CONTENT_TYPES.includes(type as string)) {
    problems.push({ pointer: "/response/content_type", message: `content_type must be one of ${BLOCK_CONTENT_TYPES.join(", ")}` });
  }
  return problems;
}

const SKIP_LATER = ["phases", "products", "rulesets", "rules"];

function skipProblems(parameters: Readonly<Record<string, unknown>>): readonly RuleProblem[] {
  const problems = only(parameters, ["ruleset", "phase", ...SKIP_LATER]);
  for (const key of SKIP_LATER) {
    if (parameters[key] !== undefined)
      problems.push({ pointer: `/${key}`, message: `this version cannot run skip with "${key}"; use ruleset or phase "current"` });
  }
  for (const key of ["ruleset", "phase"]) {
    if (parameters[key] !== undefined && parameters[key] !== "current")
      problems.push({ pointer: `/${key}`, message: `${key} must be "current"` });
  }
  if (problems.length === 0 && parameters["ruleset"] === undefined && parameters["phase"] === undefined) {
    problems.push({ pointer: "", message: 'skip needs ruleset: "current" or phase: "current"' });
  }
  return problems;
}

/** Effect of an action: describes the rule, disrupts, changes stored data, or controls which rules run next. */
export type ActionGroup = "metadata" | "disruptive" | "data" | "flow";

interface ActionRow {
  readonly argument: "required" | "optional" | "none";
  readonly group: ActionGroup;
}

const metadata = (argument: ActionRow["argument"]): ActionRow => ({ argument, group: "metadata" });
const disruptive = (argument: ActionRow["argument"]): ActionRow => ({ argument, group: "disruptive" });
const data = (argument: ActionRow["argument"]): ActionRow => ({ argument, group: "data" });
const flow = (argument: ActionRow["argument"]): ActionRow => ({ argument, group: "flow" });

// ModSecurity Reference Manual, "Actions". `exec`, `pause`, `prepend` and others that act on the web server are not here.
export const SEC_ACTIONS = {
  accuracy: metadata("required"),
  allow: disruptive("optional"),
  auditlog: metadata("none"),
  block: disruptive("none"),
  capture: data("none"),
  chain: flow("none"),
  ctl: data("required"),
  deny: disruptive("none"),
  drop: disruptive("none"),
  expirevar: data("required"),
  deprecatevar: data("required"),
  id: metadata("required"),
  initcol: data("required"),
  log: metadata("none"),
  logdata: metadata("required"),
  maturity: metadata("required"),
  msg: metadata("required"),
  multiMatch: data("none"),
  noauditlog: metadata("none"),
  nolog: metadata("none"),
  pass: disruptive("none"),
  phase: metadata("required"),
  redirect: disruptive("required"),
  rev: metadata("required"),
  sanitiseArg: metadata("required"),
  sanitiseMatched: metadata("none"),
  sanitiseRequestHeader: metadata("required"),
  setenv: data("required"),
  setsid: data("required"),
  setuid: data("required"),
  setvar: data("required"),
  severity: metadata("required"),
  skip: flow("required"),
  skipAfter: flow("required"),
  status: metadata("required"),
  t: data("required"),
  tag: metadata("required"),
  ver: metadata("required"),
} as const satisfies Readonly<Record<string, ActionRow>>;

export type SecActionName = keyof typeof SEC_ACTIONS;

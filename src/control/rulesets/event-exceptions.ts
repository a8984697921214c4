import type { Call } from "#control/call.ts";
import { ulidTimeMs } from "#kernel/crypto/ids.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { EventReads } from "#events/read/read-client.ts";
import type { EventMatch, SecurityEventRow } from "#events/rows/rows.ts";
import type { ExceptionDraft, ExceptionRequest } from "#model/rulesets/exception.ts";
import { urlNormalizationOf, viewedUrl } from "#control/open-zone/url-paths.ts";
import { MASK } from "#rules/detectors/masking/mask.ts";
import type { UrlNormalization } from "#rules/expression/request/normalize-path.ts";
import { isRequestRuleset } from "#rules/managed/excepted-parts.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import type { PhaseName } from "#rules/phases.ts";
import { entryPoint } from "#store/rulesets/rulesets.ts";
import type { Store } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";

/** Drafts of rules that exempt a request from a managed rule that matched wrongly. */
export interface EventExceptions {
  /** Throws `not_found` if the zone has no such event, and `invalid_input` if no exception is possible for it. */
  fromEvent(call: Call, zoneId: string, request: ExceptionRequest): Promise<ExceptionDraft>;
}

export interface EventExceptionsDeps {
  readonly store: Store;
  readonly reads: Pick<EventReads, "page">;
}

const MANAGED: PhaseName = "http_request_firewall_managed";
const CUSTOM: PhaseName = "http_request_firewall_custom";
/** Maximum delay between the time in an event's identifier and its writing. */
const WRITTEN_WITHIN_MS = 3_600_000;

export function createEventExceptions({ store, reads }: EventExceptionsDeps): EventExceptions {
  return {
    fromEvent: async (call, zoneId, { event_id: id }) => {
      const event = await findEvent(reads, zoneId, id);
      if (!isRequestRuleset(event.ruleset_id))
        throw new PlatformError("invalid_input", {
          message: `The event does not come from a managed rule for requests: change the rule ${event.rule_id} itself.`,
          source: "/event_id",
        });
      const ruleset = await entryPoint(store.read, { level: "zone", owner_id: zoneId }, MANAGED);
      const isOfZone = ruleset !== undefined && idsIn(ruleset.rules).includes(event.deployed_by);
      // The account's rules run before the zone's in the same phase, and after the zone's earlier phases.
      const phase = isOfZone ? MANAGED : CUSTOM;
      const place = isOfZone ? ruleset : await entryPoint(store.read, { level: "zone", owner_id: zoneId }, CUSTOM);
      const notes = notesOf(event);
      const normalization = urlNormalizationOf(await zoneRowById(store.read, zoneId));
      if (notes.length > 0) (call.notes ??= []).push(...notes);
      return {
        phase,
        ruleset_id: place?.id ?? null,
        rule: { ...draftOf(event, normalization), ...(isOfZone ? { position: { before: event.deployed_by } } : {}) },
      };
    },
  };
}

const idsIn = (rules: string): readonly string[] => (JSON.parse(rules) as readonly { readonly id: string }[]).map(({ id }) => id);

async function findEvent(reads: EventExceptionsDeps["reads"], zoneId: string, id: string): Promise<SecurityEventRow> {
  const ms = ulidTimeMs(id);
  const { rows } =
    ms === undefined
      ? { rows: [] }
      : await reads.page("security_events", {
          where: [
            { column: "zone_id", operator: "eq", value: zoneId },
            { column: "at_ms", operator: "ge", value: ms - WRITTEN_WITHIN_MS },
            { column: "at_ms", operator: "le", value: ms },
            { column: "id", operator: "eq", value: id },
          ],
          limit: 1,
        });
  const [event] = rows;
  if (event === undefined) throw new PlatformError("not_found", { message: `The zone has no security event ${JSON.stringify(id)}.` });
  return event;
}

/** A rule for this request only: its method, host and path, limited to the parts in which rules matched. */
function draftOf(event: SecurityEventRow, normalization: UrlNormalization): ExceptionDraft["rule"] {
  const { ruleset_id, rule_id, matches, method, host } = event;
  // Events have the path that the origin got.
  const { path } = event.path.includes(MASK) ? event : viewedUrl(event.path, "", normalization);
  const found = matches.filter((match) => match.part !== undefined && !isMasked(match));
  if (found.length === 0 && matches.some(isMasked))
    throw new PlatformError("invalid_input", {
      message: `The event's argument names are masked because they look like sensitive data. Write the exception yourself.`,
      source: "/event_id",
    });
  if (found.length === 0)
    throw new PlatformError("invalid_input", {
      message: `An older version recorded the event without naming a part of the request. Use a newer event.`,
      source: "/event_id",
    });
  const rules = [...new Set(found.map((match) => match.rule_id))];
  const places = placesIn(found);
  const [first] = places;
  const matched =
    places.length === 1
      ? { part: first!.part, name: first!.name }
      : places.map((place) => (rules.length === 1 ? { part: place.part, name: place.name } : place));
  const known = MANAGED_RULESETS.get(ruleset_id)?.rules.find(({ id }) => id === rule_id);
  return {
    action: "skip",
    action_parameters: { rules: { [ruleset_id]: rules }, matched },
    expression: [`http.request.method eq ${quoted(method)}`, `http.host eq ${quoted(host)}`, ...pathConditions(path)].join(" and "),
    description: `Exception of event ${event.id} (${known?.description ?? rule_id})`,
    enabled: true,
  };
}

/** Conditions for a path; if the event masks it, for the parts around the masks. Throws if nothing remains. */
function pathConditions(path: string): readonly string[] {
  const [first = "", ...others] = path.split(MASK);
  const last = others.pop();
  if (last === undefined) return [`http.request.uri.path eq ${quoted(path)}`];
  if (first === "/" && last === "" && others.every((piece) => piece === "" || piece === "/"))
    throw new PlatformError("invalid_input", {
      message: "The event's path is masked because it looks like sensitive data. Write the exception yourself.",
      source: "/event_id",
    });
  return [
    `starts_with(http.request.uri.path, ${quoted(first)})`,
    ...others.filter((piece) => piece !== "").map((piece) => `http.request.uri.path contains ${quoted(piece)}`),
    ...(last === "" ? [] : [`ends_with(http.request.uri.path, ${quoted(last)})`]),
  ];
}

interface FoundPlace {
  readonly part: string;
  readonly name: string;
  readonly rules: string[];
}

/** Each part once, with the rules that matched in it. */
function placesIn(matches: readonly EventMatch[]): readonly FoundPlace[] {
  const places = new Map<string, FoundPlace>();
  for (const { rule_id, part = "", name = "" } of matches) {
    const key = `${part} ${name}`;
    const known = places.get(key);
    if (known === undefined) places.set(key, { part, name, rules: [rule_id] });
    else if (!known.rules.includes(rule_id)) known.rules.push(rule_id);
  }
  return [...places.values()];
}

// Limits of an event (edge/logs/matched-data.ts, rules/engine.ts).
const MATCHES_MAX = 64;
const RULES_MAX = 32;

/** The name looked like sensitive data (events/write/mask-match-names.ts), so it was not stored. */
const isMasked = ({ name = "" }: EventMatch): boolean => name.includes(MASK);

/** Reasons why the draft may not be sufficient. */
function notesOf({ matches, path }: SecurityEventRow): readonly string[] {
  const isFull = matches.length >= MATCHES_MAX || new Set(matches.map(({ rule_id }) => rule_id)).size >= RULES_MAX;
  const hidden = [
    ...(matches.some(isMasked) ? ["The draft leaves out the event's masked argument names."] : []),
    ...(path.includes(MASK)
      ? ["The event's path is partly masked: the draft applies to every path with the same text around the masked part."]
      : []),
  ];
  return isFull ? [...hidden, "The event does not list all findings of its rules: the same request may be blocked again."] : hidden;
}

const quoted = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

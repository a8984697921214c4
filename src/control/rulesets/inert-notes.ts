import { mapInTicks } from "#kernel/in-ticks.ts";
import type { Call } from "#control/call.ts";
import { OWN_CATEGORY } from "#rules/managed/own-patterns.ts";
import type { OwnPattern } from "#rules/parameters/rule-context.ts";
import { urlNormalizationOf } from "#control/open-zone/url-paths.ts";
import { abnormalLiterals } from "#rules/expression/check/abnormal-literals.ts";
import type { UrlNormalization } from "#rules/expression/request/normalize-path.ts";
import { placesNamed } from "#rules/expression/expression.ts";
import { writeString } from "#rules/expression/syntax/strings.ts";
import { inertParts } from "#rules/inert.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { RULES_AT_ONCE, type StoredRule } from "./rules.ts";

interface NotesContext {
  readonly patterns?: readonly OwnPattern[] | undefined;
  readonly normalization: UrlNormalization | null;
  /** Whether the edge can know where visitors are. */
  readonly hasPlaces: boolean;
}

/** Sentences about parts of the rules that have no effect. */
export async function inertNotes(
  rules: readonly StoredRule[],
  { patterns = [], normalization, hasPlaces }: NotesContext,
): Promise<readonly string[]> {
  const isOwn = (name: string): boolean => name === OWN_CATEGORY || patterns.some(({ id, tags }) => id === name || tags.includes(name));
  const notes = await mapInTicks(rules, RULES_AT_ONCE, (rule) =>
    [
      ...inertParts(rule, isOwn),
      ...(normalization === null ? [] : pathParts(rule, normalization)),
      ...(hasPlaces ? [] : placeParts(rule)),
    ].map((part) => `Rule ${rule.id}: ${part}.`),
  );
  return notes.flat();
}

const placeParts = ({ expression }: StoredRule): readonly string[] =>
  placesNamed(expression).map(
    (field) => `${field} is unknown for everybody, because this server has no GeoIP database (edge.geoip_databases)`,
  );

/** Literals that no path has in the form in which rules see it. */
const pathParts = ({ expression }: StoredRule, normalization: UrlNormalization): readonly string[] =>
  abnormalLiterals(expression, normalization).map(
    ({ field, literal, normal }) =>
      `no path that a visitor asks for has ${shown(literal)}, with which it compares ${field}: after URL normalization that is ${shown(normal)}`,
  );

const SHOWN_MAX = 200;
const shown = (literal: string): string =>
  literal.length > SHOWN_MAX ? `${writeString(literal.slice(0, SHOWN_MAX))}…` : writeString(literal);

/** The setting with which rules of the scope see paths; null if they run in several zones. */
export const normalizationIn = async (db: Unit["db"], { zone_id }: RulesetScope): Promise<UrlNormalization | null> =>
  zone_id === null ? null : urlNormalizationOf(await zoneRowById(db, zone_id));

const NOTES_MAX = 20;

/** Adds notes to a call, without duplicates, because a unit of work may run again. */
export function note(call: Call, notes: readonly string[]): void {
  if (notes.length > 0) call.notes = [...new Set([...(call.notes ?? []), ...notes])].slice(0, NOTES_MAX);
}

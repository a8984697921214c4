import { fieldNames } from "#wire/http/hop-by-hop.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

/** Fields that make a request a question about what the visitor has already (RFC 9110 §13, §14). */
const CONDITIONS = /^(?:if[-_](?:none[-_]match|modified[-_]since|range)|range):/im;

/** Not sent to an origin whose answer is for all. */
export const CONDITION_NAMES = fieldNames(["if-none-match", "if-modified-since", "if-range", "range"]);

/** Whether the answer depends on what the visitor has already. One pass over the head is cheaper than taking it apart. */
export const hasConditions = (exchange: Exchange): boolean => exchange.mentions(CONDITIONS);

const ANY = /^(?:authorization|origin|range|if[-_]|forwarded|x[-_])/im;
const AUTHORIZATION = /^authorization:/im;
const RANGE = /^range:/im;
const PRECONDITIONS = /^if[-_](?:match|unmodified[-_]since):/im;

/**
 * Fields with which a visitor can make common origins answer with something else, although no Vary says so: requests that
 * carry one are kept apart from all others. Origin is among them because it decides about Access-Control-Allow-Origin.
 */
const KEYED =
  // linear: pumped
  /^(?:origin|forwarded|x[-_](?:forwarded[-_](?:host|scheme|server|port|prefix|proto[a-z]*|path|ssl|uri)|host|original[-_](?:url|host|uri)|rewrite[-_]url|override[-_]url|http[-_](?:method(?:[-_]override)?|host[-_]override|destinationurl)|method[-_]override|url[-_]scheme|wap[-_]profile)):.*$/gim;

/** What of a request, besides its target, the cache has to know. */
export interface RequestFacts {
  readonly hasAuthorization: boolean;
  readonly hasRange: boolean;
  /** Conditions that only the origin can judge. */
  readonly hasPreconditions: boolean;
  /** The lines of fields that are part of the key. */
  readonly keyed: string;
}

const PLAIN: RequestFacts = { hasAuthorization: false, hasRange: false, hasPreconditions: false, keyed: "" };

/** `withoutOrigin`: a rule leaves Origin out of the key. */
export function requestFacts(exchange: Exchange, withoutOrigin: boolean): RequestFacts {
  if (!exchange.mentions(ANY)) return PLAIN;
  const lines = exchange.linesLike(KEYED).toSorted();
  return {
    hasAuthorization: exchange.mentions(AUTHORIZATION),
    hasRange: exchange.mentions(RANGE),
    hasPreconditions: exchange.mentions(PRECONDITIONS),
    keyed: (withoutOrigin ? lines.filter((line) => !/^origin:/i.test(line)) : lines).join("\n"),
  };
}

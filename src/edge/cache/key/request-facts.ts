import { fieldNames } from "#wire/http/hop-by-hop.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

/** Fields of conditional and range requests (RFC 9110 §13, §14). */
const CONDITIONS = /^(?:if[-_](?:none[-_]match|modified[-_]since|range)|range):/im;

/** Not sent to the origin when the response is for all visitors. */
export const CONDITION_NAMES = fieldNames(["if-none-match", "if-modified-since", "if-range", "range"]);

/** Whether the request is conditional or asks for a range. One pass over the head is cheaper than parsing it. */
export const hasConditions = (exchange: Exchange): boolean => exchange.mentions(CONDITIONS);

const ANY = /^(?:authorization|origin|range|if[-_]|forwarded|x[-_]|rsc|next[-_]|hx[-_]|turbo[-_]|disguised|translate)/im;
const AUTHORIZATION = /^authorization:/im;
const RANGE = /^range:/im;
const PRECONDITIONS = /^if[-_](?:match|unmodified[-_]since):/im;

/**
 * Unkeyed inputs that make common origins change their response without a Vary (cache poisoning): the key includes them.
 * Origin is among them, because it determines Access-Control-Allow-Origin.
 */
const KEYED =
  // linear: pumped
  /^(?:origin|forwarded|rsc|next[-_][a-z_-]+|hx[-_]request|turbo[-_]frame|disguised[-_]host|translate|x[-_](?:forwarded[-_](?:host|scheme|server|port|prefix|proto[a-z]*|path|ssl|uri|query|context)|host|original[-_](?:url|host|uri|query)|rewrite[-_]url|override[-_]url|replaced[-_]path|http[-_](?:method(?:[-_]override)?|host[-_]override|destinationurl)|method[-_]override|url[-_]scheme|scheme|script[-_]name|wap[-_]profile|requested[-_]with|inertia[a-z_-]*|pjax[a-z_-]*|nextjs[-_]data|middleware[a-z_-]*|matched[-_]path|astro[-_](?:path|locals)|arr[-_]ssl|ms[-_]original[-_]url|waws[-_]unencoded[-_]url|envoy[-_]original[-_](?:path|host))):.*$/gim;

/** The facts about a request that the cache needs besides its target. */
export interface RequestFacts {
  readonly hasAuthorization: boolean;
  readonly hasRange: boolean;
  /** Has preconditions that only the origin can evaluate. */
  readonly hasPreconditions: boolean;
  /** The lines of the fields that are part of the key. */
  readonly keyed: string;
}

const PLAIN: RequestFacts = { hasAuthorization: false, hasRange: false, hasPreconditions: false, keyed: "" };

/** `withoutOrigin`: a rule removes Origin from the key. */
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

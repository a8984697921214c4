import type { Kysely } from "kysely";
import type { Actor } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type Cidr, cidrContains, parseCidr, unmapCidr } from "#kernel/net/cidr.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import type { TokenCondition } from "#model/access/token.ts";
import type { Tables } from "#store/queries/tables.ts";
import { findTokenById, type TokenRow } from "#store/access/tokens.ts";

/** The addresses and the expiry of a token. */
export type TokenLimits = Pick<TokenRow, "condition" | "expires_on">;

/**
 * Throws `authentication_error` if a token with these limits would be valid longer, or for more addresses, than the token
 * that creates it, changes it or learns its secret. Otherwise a stolen token could outlive its own limits.
 */
export async function assertWithinLimits(db: Kysely<Tables>, actor: Actor, wanted: TokenLimits): Promise<void> {
  if (actor.type !== "token") return;
  const own = await findTokenById(db, actor.id);
  if (own === undefined) return;
  if (msOf(wanted) > msOf(own))
    throw refused(`set expires_on to ${own.expires_on} or earlier, when the calling token expires`, "/expires_on");
  const [mine, theirs] = [addressesOf(own), addressesOf(wanted)];
  if (mine.in.length > 0 && !(theirs.in.length > 0 && theirs.in.every((block) => isWithinAny(block, mine.in))))
    throw refused("condition.request_ip.in must name only addresses from which the calling token works", "/condition/request_ip/in");
  if (!mine.not_in.every((block) => isWithinAny(block, theirs.not_in)))
    throw refused(
      "condition.request_ip.not_in must name all addresses from which the calling token does not work",
      "/condition/request_ip/not_in",
    );
}

const refused = (what: string, source: string): PlatformError =>
  new PlatformError("authentication_error", {
    message: `A token cannot have wider limits than the token that creates it: ${what}.`,
    source,
  });

const msOf = ({ expires_on }: TokenLimits): number =>
  expires_on === null ? Number.POSITIVE_INFINITY : (parseTimestamp(expires_on) ?? Number.POSITIVE_INFINITY);

interface Addresses {
  readonly in: readonly Cidr[];
  readonly not_in: readonly Cidr[];
}

function addressesOf({ condition }: TokenLimits): Addresses {
  const { request_ip = {} } = condition === null ? {} : (JSON.parse(condition) as TokenCondition);
  const blocks = (texts: readonly string[] = []): readonly Cidr[] =>
    texts.flatMap((text) => {
      const block = parseCidr(text);
      return block === undefined ? [] : [unmapCidr(block)];
    });
  return { in: blocks(request_ip.in), not_in: blocks(request_ip.not_in) };
}

/** A block that only several others together cover counts as outside; the caller can list those instead. */
const isWithinAny = (block: Cidr, blocks: readonly Cidr[]): boolean =>
  blocks.some((outer) => outer.prefix <= block.prefix && cidrContains(outer, block.base));

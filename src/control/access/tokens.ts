import { auditActor, commit } from "#control/commit.ts";
import type { Actor, Call, Page, PageRequest } from "#control/call.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId, newTokenSecret } from "#kernel/crypto/ids.ts";
import { writtenApiDate } from "#model/access/api-date.ts";
import type {
  Token,
  TokenCondition,
  TokenCreate,
  TokenCreated,
  TokenList,
  TokenPolicy,
  TokenUpdate,
  TokenVerification,
} from "#model/access/token.ts";
import type { Store, Unit } from "#store/database/store.ts";
import {
  countTokens,
  deleteToken,
  findToken,
  insertToken,
  listTokens,
  listUserTokens,
  type TokenOwner,
  type TokenRow,
  updateToken,
} from "#store/access/tokens.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { Kysely } from "kysely";
import { hashSecret } from "#control/sign-in/secrets.ts";
import { readTokenFacts, tokenEntry, tokenStatus } from "./token-facts.ts";
import { assertWithinLimits } from "./token-limits.ts";
import { assertMayGrant, readTokenWrite } from "./token-write.ts";

/** Tokens of a user or an account. A token of another owner counts as unknown. */
export interface Tokens {
  list(owner: TokenOwner, query: TokenList, page: PageRequest): Promise<Page<Token>>;
  get(owner: TokenOwner, id: string): Promise<Token>;
  /** The result is the only place that contains the secret. */
  create(call: Call, owner: TokenOwner, body: TokenCreate): Promise<TokenCreated>;
  update(call: Call, owner: TokenOwner, id: string, body: TokenUpdate): Promise<Token>;
  /** Replaces the secret immediately. */
  roll(call: Call, owner: TokenOwner, id: string): Promise<string>;
  remove(call: Call, owner: TokenOwner, id: string): Promise<{ id: string }>;
  /** Verifies the calling token itself; throws `token_unverifiable` if the credential is not a token of this owner. */
  verify(call: Call, owner: TokenOwner): Promise<TokenVerification>;
}

export interface TokensDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Drops the token from caches. */
  invalidate(tokenId: string): void;
}

const TOKENS_PER_OWNER_MAX = 1000;

export function createTokens(deps: TokensDeps): Tokens {
  const { store, clock } = deps;

  const found = async (db: Kysely<Tables>, owner: TokenOwner, id: string): Promise<TokenRow> => {
    const row = await findToken(db, owner, id);
    if (!row) throw new PlatformError("not_found", { message: "No token with this identifier exists." });
    return row;
  };
  const show = (row: TokenRow): Token => tokenView(row, clock.nowMs());

  return {
    list: async (owner, query, page) => {
      const endsAfter = query.include_expired === true ? null : isoMicros(clock.nowMicros());
      const { rows, total } = await listTokens(
        store.read,
        owner,
        { direction: query.direction ?? "desc", ends_after: endsAfter },
        { limit: page.per_page, offset: (page.page - 1) * page.per_page },
      );
      return { items: rows.map(show), ...page, total_count: total };
    },
    get: async (owner, id) => show(await found(store.read, owner, id)),
    create: async (call, owner, body) => {
      const secret = newTokenSecret();
      const row = await commit({ store }, call, async (unit) => {
        if ((await countTokens(unit.db, owner)) >= TOKENS_PER_OWNER_MAX)
          throw new PlatformError("invalid_input", { message: `There are already ${TOKENS_PER_OWNER_MAX} tokens, which is the limit.` });
        const write = await readTokenWrite(unit.db, call.actor, owner, body, clock.nowMs());
        const now = isoMicros(clock.nowMicros());
        const created: TokenRow = {
          id: newId(),
          ...ownerColumns(owner, call.actor),
          hash: hashSecret(secret),
          status: "active",
          issued_on: now,
          modified_on: now,
          bootstrap: 0,
          ...write,
          api_date: writtenApiDate(body, null),
        };
        await insertToken(unit.db, created);
        await emitToken(unit, created);
        unit.audit(auditToken("token.create", call, null, show(created), created));
        return created;
      });
      return { ...show(row), value: secret };
    },
    update: async (call, owner, id, body) => {
      const row = await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, owner, id);
        const write = await readTokenWrite(unit.db, call.actor, owner, body, clock.nowMs());
        const status = body.status === "active" || body.status === "disabled" ? body.status : before.status;
        const after: TokenRow = {
          ...before,
          ...write,
          status,
          api_date: writtenApiDate(body, before.api_date),
          modified_on: isoMicros(clock.nowMicros()),
        };
        await updateToken(unit.db, id, after);
        await emitToken(unit, after);
        unit.audit(auditToken("token.update", call, show(before), show(after), after));
        return after;
      });
      deps.invalidate(id);
      return show(row);
    },
    roll: async (call, owner, id) => {
      const secret = newTokenSecret();
      await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, owner, id);
        // The caller learns the new secret, so it must not gain permissions from it.
        if (call.actor.id !== id) {
          assertMayGrant(call.actor, (await readTokenFacts(unit.db, before)).grants, owner);
          await assertWithinLimits(unit.db, call.actor, before);
        }
        const after: TokenRow = { ...before, hash: hashSecret(secret), bootstrap: 0, modified_on: isoMicros(clock.nowMicros()) };
        await updateToken(unit.db, id, { hash: after.hash, bootstrap: after.bootstrap, modified_on: after.modified_on });
        await emitToken(unit, after);
        unit.audit(auditToken("token.roll", call, show(before), show(after), after));
      });
      deps.invalidate(id);
      return secret;
    },
    remove: async (call, owner, id) => {
      await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, owner, id);
        await deleteToken(unit.db, id);
        unit.change({ kind: "token", id, value: null });
        unit.audit(auditToken("token.delete", call, show(before), null, before));
      });
      deps.invalidate(id);
      return { id };
    },
    verify: async (call, owner) => {
      const row = call.actor.type === "token" ? await findToken(store.read, owner, call.actor.id) : undefined;
      if (!row) throw new PlatformError("token_unverifiable");
      return { id: row.id, status: tokenStatus(row, clock.nowMs()), ...limits(row) };
    },
  };
}

/** Publishes the token's current entry to the planes. Call in every unit that changes the token or its owner's memberships. */
export async function emitToken(unit: Unit, row: TokenRow): Promise<void> {
  unit.change({ kind: "token", id: row.id, value: tokenEntry(await readTokenFacts(unit.db, row)) });
}

/** The same for all tokens of a user whose permissions have changed. */
export async function emitUserTokens(unit: Unit, userId: string): Promise<void> {
  for (const row of await listUserTokens(unit.db, userId)) await emitToken(unit, row);
}

const ownerColumns = (owner: TokenOwner, actor: Actor): { account_id: string | null; user_id: string | null } =>
  "account_id" in owner ? { account_id: owner.account_id, user_id: actor.user_id } : { account_id: null, user_id: owner.user_id };

const limits = (row: TokenRow): { not_before?: string; expires_on?: string } => ({
  ...(row.not_before === null ? {} : { not_before: row.not_before }),
  ...(row.expires_on === null ? {} : { expires_on: row.expires_on }),
});

export const tokenView = (row: TokenRow, nowMs: number): Token => ({
  id: row.id,
  name: row.name,
  status: tokenStatus(row, nowMs),
  issued_on: row.issued_on,
  modified_on: row.modified_on,
  ...limits(row),
  ...(row.api_date === null ? {} : { api_date: row.api_date }),
  policies: JSON.parse(row.policies) as TokenPolicy[],
  ...(row.condition === null ? {} : { condition: JSON.parse(row.condition) as TokenCondition }),
});

const auditToken = (action: string, call: Call, before: Token | null, after: Token | null, row: TokenRow) => ({
  action,
  actor: auditActor(call),
  account_id: row.account_id,
  zone_id: null,
  resource: { type: "token", id: row.id },
  before,
  after,
});

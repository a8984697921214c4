import { auditActor, commit } from "#control/commit.ts";
import type { Call } from "#control/call.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Passkey, PasskeyCreate, PasskeyEdit, PasskeyStart, PasskeyStarted, Site } from "#model/access/passkey.ts";
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  passkeyByCredential,
  type PasskeyRow,
  renamePasskey,
} from "#store/access/passkeys.ts";
import { deleteSessions, listSessions } from "#store/access/sessions.ts";
import type { Store } from "#store/database/store.ts";
import { userWithPassword } from "./own-password.ts";
import { assertHasName, challengeIn, refused, userHandleOf } from "./passkey-check.ts";
import type { PasswordCheck } from "./password-check.ts";
import { CHALLENGE_SECONDS, type SignInChallenges } from "./sign-in-challenges.ts";
import { assertOtherWay } from "./sign-in-ways.ts";
import { ownUser } from "./own-user.ts";

/** The caller's passkeys. */
export interface Passkeys {
  list(call: Call): Promise<readonly Passkey[]>;
  /** Options for the browser, which then makes a passkey. Throws `wrong_password`, and `passkey_host` at an address without a name. */
  start(call: Call, body: PasskeyStart): Promise<PasskeyStarted>;
  /** Throws `passkey_refused` unless it answers the caller's own challenge. */
  create(call: Call, body: PasskeyCreate): Promise<Passkey>;
  edit(call: Call, id: string, body: PasskeyEdit): Promise<Passkey>;
  /** Ends its sessions too. Throws `last_sign_in` if the user could not sign in any more. */
  remove(call: Call, id: string): Promise<{ id: string }>;
}

export interface PasskeysDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly passwords: PasswordCheck;
  readonly challenges: SignInChallenges;
  /** Drops the sessions from caches. */
  ended(ids: readonly string[]): void;
}

const PER_USER_MAX = 20;
/** COSE: EdDSA, ES256, RS256 (RFC 9053, RFC 8812). */
const ALGORITHMS = [-8, -7, -257];

export function createPasskeys(deps: PasskeysDeps): Passkeys {
  const { store, clock, challenges, ended } = deps;
  async function own(call: Call, id: string): Promise<PasskeyRow> {
    const row = await findPasskey(store.read, id);
    if (row === undefined || row.user_id !== ownUser(call))
      throw new PlatformError("not_found", { message: "No passkey with this identifier exists." });
    return row;
  }
  return {
    list: async (call) => (await listPasskeys(store.read, ownUser(call))).map(view),
    start: async (call, { current_password }) => {
      const site = siteOf(call);
      const user = await userWithPassword(deps, call, current_password);
      const challenge = await challenges.issue("passkey_create", { userId: user.id });
      const existing = await listPasskeys(store.read, user.id);
      return {
        rp: { id: site.host, name: "Selvedge" },
        user: { id: userHandleOf(user.id), name: user.email, displayName: user.email },
        challenge,
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key" as const, alg })),
        timeout: CHALLENGE_SECONDS * 1000,
        excludeCredentials: existing
          .filter(({ host }) => host === site.host)
          .map(({ credential_id: id, transports }) => ({
            type: "public-key" as const,
            id,
            transports: JSON.parse(transports) as string[],
          })),
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
        attestation: "none",
      };
    },
    create: async (call, { name, credential }) => {
      const [site, userId] = [siteOf(call), ownUser(call)];
      const challenge = challengeIn(credential.response.clientDataJSON);
      const issued = await challenges.take("passkey_create", challenge);
      if (issued?.user_id !== userId) throw refused("the challenge was not issued to this user, was used or has ended");
      const made = await verifyNew(credential, challenge, site);
      const row: PasskeyRow = {
        ...{ id: newId(), user_id: userId, name: name.trim(), host: site.host, ...made },
        ...{ transports: JSON.stringify(credential.response.transports ?? []), created_on: isoMicros(clock.nowMicros()) },
        last_used_on: null,
      };
      await commit({ store }, call, async (unit) => {
        if ((await passkeyByCredential(unit.db, row.credential_id)) !== undefined) throw refused("the credential exists already");
        if ((await listPasskeys(unit.db, userId)).length >= PER_USER_MAX)
          throw new PlatformError("invalid_input", { message: `A user has at most ${PER_USER_MAX} passkeys.` });
        await insertPasskey(unit.db, row);
        unit.audit(auditPasskey("user.passkey_create", call, row));
      });
      return view(row);
    },
    edit: async (call, id, { name }) => {
      const before = await own(call, id);
      const row = { ...before, name: name.trim() };
      await commit({ store }, call, async (unit) => {
        await renamePasskey(unit.db, id, row.name);
        unit.audit({ ...auditPasskey("user.passkey_edit", call, row), before: { name: before.name } });
      });
      return view(row);
    },
    remove: async (call, id) => {
      const row = await own(call, id);
      const ids = await commit({ store }, call, async (unit) => {
        await deletePasskey(unit.db, id);
        await assertOtherWay(unit.db, row.user_id);
        const sessions = (await listSessions(unit.db, { user_id: row.user_id })).filter(({ passkey_id }) => passkey_id === id);
        await deleteSessions(
          unit.db,
          sessions.map((session) => session.id),
        );
        unit.audit(auditPasskey("user.passkey_delete", call, row));
        return sessions.map((session) => session.id);
      });
      ended(ids);
      return { id };
    },
  };
}

function siteOf({ site }: Call): Site {
  if (site === undefined) throw new PlatformError("passkey_host");
  assertHasName(site);
  return site;
}

/** Throws `passkey_refused` unless the browser made it for this challenge at this site, and verified its user. */
async function verifyNew(
  { id, response }: PasskeyCreate["credential"],
  expectedChallenge: string,
  site: Site,
): Promise<Pick<PasskeyRow, "credential_id" | "public_key" | "counter" | "synced">> {
  // Loaded on demand, because most starts of the server have no registration.
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
        response: { clientDataJSON: response.clientDataJSON, attestationObject: await withoutStatement(response.attestationObject) },
      },
      ...{ expectedChallenge, expectedOrigin: [...site.origins], expectedRPID: site.host, requireUserVerification: true },
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (verified)
      return {
        credential_id: registrationInfo.credential.id,
        public_key: Buffer.from(registrationInfo.credential.publicKey).toString("base64url"),
        counter: registrationInfo.credential.counter,
        synced: registrationInfo.credentialBackedUp ? 1 : 0,
      };
  } catch (error) {
    throw refused(error instanceof Error ? error.message : "the credential cannot be read");
  }
  throw refused("the attestation is wrong");
}

/**
 * The attestation as browsers send it, because `none` was asked for. A statement can have certificates, whose lists of revoked ones
 * the library would fetch from addresses that they name.
 */
async function withoutStatement(attestationObject: string): Promise<string> {
  const { decodeAttestationObject, isoCBOR } = await import("@simplewebauthn/server/helpers");
  const authData = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url"))).get("authData");
  const bare = new Map<string, string | Uint8Array | Map<string, string>>([
    ["fmt", "none"],
    ["attStmt", new Map<string, string>()],
    ["authData", authData],
  ]);
  return Buffer.from(isoCBOR.encode(bare)).toString("base64url");
}

const view = (row: PasskeyRow): Passkey => ({
  id: row.id,
  name: row.name,
  host: row.host,
  synced: row.synced === 1,
  created_on: row.created_on,
  last_used_on: row.last_used_on,
});

const auditPasskey = (action: string, call: Call, { id, name, host, user_id }: PasskeyRow) => ({
  ...{ action, actor: auditActor(call), account_id: null, zone_id: null },
  resource: { type: "passkey", id },
  after: { name, host, user_id },
});

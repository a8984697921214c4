import { createHash } from "node:crypto";
import type { KeyPair } from "@nats-io/nkeys";

/** Subjects that a user may publish to and subscribe to; absent: all. */
export interface UserPermissions {
  readonly pub: { readonly allow?: readonly string[] };
  readonly sub: { readonly allow?: readonly string[] };
}

const NO_LIMIT = { subs: -1, data: -1, payload: -1 };
const ACCOUNT_LIMITS = { ...NO_LIMIT, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1, streams: -1, consumer: -1 };
const ALL: UserPermissions = { pub: {}, sub: {} };

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

interface Claims {
  readonly issuer: KeyPair;
  readonly subject: string;
  readonly name: string;
  readonly nats: object;
  /** Seconds since 1970. */
  readonly issuedAt: number;
}

/**
 * A token of NATS's decentralised authorisation (https://docs.nats.io/running-a-nats-service/configuration/securing_nats/auth_intro/jwt),
 * signed by an nkey.
 */
function signedToken({ issuer, subject, name, nats, issuedAt }: Claims): string {
  const claims = { iat: issuedAt, iss: issuer.getPublicKey(), name, sub: subject, nats, jti: "" };
  claims.jti = createHash("sha512-256").update(JSON.stringify(claims)).digest("hex");
  const head = `${base64url({ typ: "JWT", alg: "ed25519-nkey" })}.${base64url(claims)}`;
  return `${head}.${Buffer.from(issuer.sign(Buffer.from(head))).toString("base64url")}`;
}

export const operatorToken = (operator: KeyPair, systemAccount: string, issuedAt: number): string =>
  signedToken({
    ...{ issuer: operator, subject: operator.getPublicKey(), name: "selvedge", issuedAt },
    nats: { system_account: systemAccount, type: "operator", version: 2 },
  });

/** `revoked`: user keys that may connect no more, with the time up to which their tokens are revoked, in seconds; `*`: of all. */
export const accountToken = (operator: KeyPair, facts: AccountFacts, issuedAt: number): string => {
  const { account, name, hasJetStream, revoked, exported = [], imported = [] } = facts;
  const storage = hasJetStream ? -1 : 0;
  return signedToken({
    ...{ issuer: operator, subject: account, name, issuedAt },
    nats: {
      limits: { ...ACCOUNT_LIMITS, mem_storage: storage, disk_storage: storage },
      default_permissions: ALL,
      ...(exported.length === 0 ? {} : { exports: exported.map(({ subject, type }) => ({ name: subject, subject, type })) }),
      ...(imported.length === 0
        ? {}
        : {
            imports: imported.map(({ subject, type, from }) => ({ name: subject, subject, type, account: from, local_subject: subject })),
          }),
      ...(Object.keys(revoked).length === 0 ? {} : { revocations: revoked }),
      type: "account",
      version: 2,
    },
  });
};

/** Subjects that another account may hear (`stream`), or whose subscribers it may ask (`service`). */
export interface SharedSubject {
  readonly subject: string;
  readonly type: "stream" | "service";
}

export interface AccountFacts {
  /** Its public key. */
  readonly account: string;
  readonly name: string;
  readonly hasJetStream: boolean;
  readonly revoked: Readonly<Record<string, number>>;
  /** For any account of the operator. */
  readonly exported?: readonly SharedSubject[];
  /** `from`: the account that exports it. */
  readonly imported?: readonly (SharedSubject & { readonly from: string })[];
}

/** `user`: the public key of the user, who alone has the private one. */
export const userToken = (account: KeyPair, user: string, name: string, permissions: UserPermissions, issuedAt: number): string =>
  signedToken({
    ...{ issuer: account, subject: user, name, issuedAt },
    nats: { ...permissions, ...NO_LIMIT, type: "user", version: 2 },
  });

export const ALL_SUBJECTS = ALL;

import { generateKeyPairSync, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { createAccount, createOperator, createUser, fromSeed, type KeyPair } from "@nats-io/nkeys";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { NODE_SUBJECTS, nodePermissions } from "#snapshot/bus/node-subjects.ts";
import { putSecret, putSecretIfAbsent, secretValue } from "#store/database/secrets.ts";
import type { Store } from "#store/database/store.ts";
import { accountToken, ALL_SUBJECTS, operatorToken, userToken } from "#wire/nats/jwt.ts";

/** Issues the credentials of the bus, and signs the messages of control. Its keys are sealed in the database. */
export interface BusAuthority {
  /** For the configuration file of nats-server. */
  serverConfig(storeDir: string): string;
  /** For control itself; valid until the next start. */
  controlUser(): BusUser;
  systemUser(): BusUser;
  /** The token of a node that has made its own key. */
  nodeToken(name: string, publicKey: string): string;
  /** Tokens of the accounts, each pushed to `$SYS.REQ.CLAIMS.UPDATE`; the given user keys of nodes are closed out at once. */
  accountTokens(revoked: readonly string[]): readonly string[];
  readonly signingKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface BusUser {
  readonly jwt: string;
  readonly seed: Uint8Array;
}

interface Keys {
  /** Seeds of nkeys. */
  readonly operator: string;
  readonly system: string;
  readonly account: string;
  /** Of the account of nodes. The time, in seconds, is there if nodes had joined before it was made: their tokens are of control's account. */
  readonly nodes?: string;
  readonly nodes_since?: number;
  /** PKCS #8 PEM, Ed25519. */
  readonly signing: string;
}

const SECRET_NAME = "bus-authority";
const SECRET_CONTEXT = `secret:${SECRET_NAME}`;
/**
 * Time up to which tokens of a revoked key are invalid: a revocation as of now silently does nothing if the clock of
 * the server or of the issuer was ahead. Keys are never reused.
 */
const REVOKED_UNTIL_S = 4_102_444_800;

/** Opens the authority, or makes it. */
export async function openBusAuthority(deps: {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Clock;
}): Promise<BusAuthority> {
  const { store, sealer, clock } = deps;
  const load = async (): Promise<Keys | null> => {
    const value = await secretValue(store.read, SECRET_NAME);
    return value === null ? null : (JSON.parse(sealer.open(value, SECRET_CONTEXT).toString()) as Keys);
  };
  let keys = await load();
  if (keys === null) {
    const value = sealer.seal(JSON.stringify(newKeys()), SECRET_CONTEXT);
    const created_on = isoMicros(clock.nowMicros());
    await store.write((unit) => putSecretIfAbsent(unit.db, { name: SECRET_NAME, value, created_on }));
    keys = await load();
  }
  if (keys !== null && keys.nodes === undefined) {
    const more = { ...keys, ...nodesAccount(clock) };
    const row = { name: SECRET_NAME, value: sealer.seal(JSON.stringify(more), SECRET_CONTEXT), created_on: isoMicros(clock.nowMicros()) };
    await store.write(async ({ db }) => {
      const present = await secretValue(db, SECRET_NAME);
      const isThere = present !== null && (JSON.parse(sealer.open(present, SECRET_CONTEXT).toString()) as Keys).nodes !== undefined;
      // Another process may have been first.
      // Another process may have been first.
      if (!isThere) await putSecret(db, row);
    });
    keys = await load();
  }
  if (keys?.nodes === undefined) throw new Error("the keys of the bus could not be stored");
  return authorityOf(keys, clock);
}

const seedOf = (pair: KeyPair): string => Buffer.from(pair.getSeed()).toString();

/** For installations whose nodes had users of control's account. */
const nodesAccount = (clock: Clock): Pick<Keys, "nodes" | "nodes_since"> => ({
  nodes: seedOf(createAccount()),
  nodes_since: Math.floor(clock.nowMs() / 1_000),
});

const newKeys = (): Keys => ({
  nodes: seedOf(createAccount()),
  operator: seedOf(createOperator()),
  system: seedOf(createAccount()),
  account: seedOf(createAccount()),
  signing: generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }) as string,
});

function authorityOf(keys: Keys, clock: Clock): BusAuthority {
  const pair = (seed: string): KeyPair => fromSeed(Buffer.from(seed));
  const [operator, system, account, nodes] = [pair(keys.operator), pair(keys.system), pair(keys.account), pair(keys.nodes ?? "")];
  const signingKey = createPrivateKey(keys.signing);
  const now = (): number => Math.floor(clock.nowMs() / 1_000);
  const tokensOfAccounts = (revoked: readonly string[]): readonly [string, string] => {
    const [own, ofNodes] = [account.getPublicKey(), nodes.getPublicKey()];
    const revocations = Object.fromEntries(revoked.map((user) => [user, REVOKED_UNTIL_S]));
    const olderUsers = keys.nodes_since === undefined ? {} : { "*": keys.nodes_since - 1 };
    const control = { account: own, name: "selvedge", hasJetStream: true, exported: NODE_SUBJECTS };
    const imported = NODE_SUBJECTS.map((shared) => ({ ...shared, from: own }));
    return [
      accountToken(operator, { ...control, revoked: { ...revocations, ...olderUsers } }, now()),
      accountToken(operator, { account: ofNodes, name: "selvedge-nodes", hasJetStream: false, revoked: revocations, imported }, now()),
    ];
  };
  const ownUser = (issuer: KeyPair): BusUser => {
    const user = createUser();
    return { jwt: userToken(issuer, user.getPublicKey(), "control", ALL_SUBJECTS, now()), seed: user.getSeed() };
  };
  return {
    serverConfig: (storeDir) => {
      const [systemId, accountId, nodesId] = [system.getPublicKey(), account.getPublicKey(), nodes.getPublicKey()];
      const [ofControl, ofNodes] = tokensOfAccounts([]);
      const ofSystem = accountToken(operator, { account: systemId, name: "SYS", hasJetStream: false, revoked: {} }, now());
      return [
        `operator: ${operatorToken(operator, systemId, now())}`,
        `system_account: ${systemId}`,
        `resolver { type: full, dir: ${JSON.stringify(`${storeDir}/accounts`)}, allow_delete: false, interval: "2m" }`,
        `resolver_preload { ${systemId}: ${ofSystem}, ${accountId}: ${ofControl}, ${nodesId}: ${ofNodes} }`,
        `jetstream { store_dir: ${JSON.stringify(`${storeDir}/jetstream`)} }`,
        "max_payload: 8MB",
        'ping_interval: "2s"',
        "ping_max: 2",
        'write_deadline: "2s"',
      ].join("\n");
    },
    controlUser: () => ownUser(account),
    systemUser: () => ownUser(system),
    nodeToken: (name, publicKey) => userToken(nodes, publicKey, name, nodePermissions(name), now()),
    accountTokens: tokensOfAccounts,
    signingKey,
    publicKey: createPublicKey(signingKey),
  };
}

import { createHash, randomBytes } from "node:crypto";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { parseIp } from "#kernel/net/ip.ts";
import type { NodePlane, NodeRing, PlaneNode } from "#model/access/node.ts";
import { NODE_NAME, type NodeReport } from "#snapshot/bus/node-subjects.ts";
import type { Store } from "#store/database/store.ts";
import { canonicalAddresses, edgeAddressesEntry } from "./edge-addresses.ts";
import { revokeVisitorKeys } from "#store/nodes/visitor-keys.ts";
import { allNodes, deleteNode, findNode, findNodeByToken, insertNode, type NodeRow, updateNode } from "#store/nodes/nodes.ts";

/** The machines with planes only. */
export interface Nodes {
  /** Creates a node and its join token, which is shown once. Throws an Error if the name is taken or invalid. */
  create(
    name: string,
    planes: readonly NodePlane[],
    validMs: number,
    more?: NodeChange,
  ): Promise<{ readonly token: string; readonly expires_on: string }>;
  /** Uses the token up: one caller alone gets the node. Null if it is unknown, used or too old. */
  join(
    token: string,
    publicKey: string,
    signsEvents?: boolean,
  ): Promise<{ readonly name: string; readonly planes: readonly NodePlane[] } | null>;
  /** Returns false if the node does not exist. Throws an Error if it has no edge but gets addresses. */
  change(name: string, change: NodeChange): Promise<boolean>;
  list(): Promise<readonly PlaneNode[]>;
  /** Removes the node and revokes its credentials; false if it does not exist. */
  remove(name: string): Promise<boolean>;
  /** Stores the newest reports, for processes that cannot receive them. */
  keepReports(reports: ReadonlyMap<string, SeenReport>): Promise<void>;
}

export interface NodeChange {
  /** Where its edge has visitors. */
  readonly addresses?: readonly string[] | undefined;
  readonly ring?: NodeRing | undefined;
}

export interface SeenReport extends NodeReport {
  readonly seenMs: number;
}

export interface NodesDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Reports that this process has received itself. */
  heard?(): ReadonlyMap<string, SeenReport>;
}

const SECRET_BYTES = 24;
const TOKEN = /^sn1\.[A-Za-z0-9_-]{32}$/;
/** A node reports once a second. */
export const AWAY_AFTER_MS = 5_000;
/** All are in each answer for a proxied name. */
const ADDRESSES_MAX = 8;

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

export function createNodes({ store, clock, heard = () => new Map() }: NodesDeps): Nodes {
  const now = (): string => isoMicros(clock.nowMicros());
  return {
    create: async (name, planes, validMs, { addresses = [], ring = "all" } = {}) => {
      checkAddresses(name, planes, addresses);
      if (!NODE_NAME.test(name)) throw new Error("a node's name has 1 to 63 letters a to z, digits and hyphens");
      const token = `sn1.${randomBytes(SECRET_BYTES).toString("base64url")}`;
      const expires = clock.nowMs() + validMs;
      await store.write(async ({ db }) => {
        const before = await findNode(db, name);
        if (before?.public_key) throw new Error(`the node ${name} exists already; remove it first`);
        // An unused token is replaced by the new one.
        if (before !== undefined) await deleteNode(db, before, now());
        await insertNode(db, {
          ...{ name, planes: JSON.stringify(planes), token_hash: hashOf(token), token_expires_ms: expires, created_on: now() },
          ...{ addresses: JSON.stringify(canonicalAddresses(addresses)), ring },
          ...{ public_key: null, joined_on: null, report: null, seen_ms: null, signs_events: 0 },
        });
      });
      return { token, expires_on: new Date(expires).toISOString() };
    },
    join: async (token, publicKey, signsEvents = false) => {
      if (!TOKEN.test(token)) return null;
      // Wrong guesses write nothing.
      if ((await findNodeByToken(store.read, hashOf(token))) === undefined) return null;
      const { result } = await store.write(async ({ db }) => {
        const row = await findNodeByToken(db, hashOf(token));
        if (row === undefined || row.token_expires_ms < clock.nowMs()) return null;
        await updateNode(db, row.name, { token_hash: null, public_key: publicKey, joined_on: now(), signs_events: signsEvents ? 1 : 0 });
        return { name: row.name, planes: JSON.parse(row.planes) as NodePlane[] };
      });
      return result;
    },
    change: async (name, { addresses, ring }) => {
      const { result } = await store.write(async ({ db }) => {
        const row = await findNode(db, name);
        if (row === undefined) return false;
        checkAddresses(name, JSON.parse(row.planes) as NodePlane[], addresses ?? []);
        await updateNode(db, name, {
          ...(addresses === undefined ? {} : { addresses: JSON.stringify(canonicalAddresses(addresses)) }),
          ...(ring === undefined ? {} : { ring }),
        });
        return true;
      });
      return result;
    },
    list: async () => {
      const answered = new Set((await edgeAddressesEntry(store.read))?.addresses);
      const rows = await allNodes(store.read);
      const { rev } = await store.position();
      const own = heard();
      return rows.map((row) => described(row, own.get(row.name) ?? stored(row), { rev, nowMs: clock.nowMs(), answered }));
    },
    remove: async (name) => {
      const { result } = await store.write(async ({ db }) => {
        const row = await findNode(db, name);
        if (row === undefined) return false;
        await deleteNode(db, row, now());
        // Its disk may be in other hands.
        await revokeVisitorKeys(db);
        return true;
      });
      return result;
    },
    keepReports: async (reports) => {
      await store.write(async ({ db }) => {
        for (const [name, { seenMs, ...report }] of reports)
          await updateNode(db, name, { report: JSON.stringify(report), seen_ms: seenMs });
      });
    },
  };
}

const stored = ({ report, seen_ms }: NodeRow): SeenReport | null =>
  report === null || seen_ms === null ? null : { ...(JSON.parse(report) as NodeReport), seenMs: seen_ms };

function checkAddresses(name: string, planes: readonly NodePlane[], addresses: readonly string[]): void {
  if (addresses.length > 0 && !planes.includes("edge"))
    throw new Error(`the node ${name} has no edge, so it has no addresses for visitors`);
  if (addresses.length > ADDRESSES_MAX) throw new Error(`a node has at most ${ADDRESSES_MAX} addresses for visitors`);
  const wrong = addresses.find((address) => parseIp(address) === undefined);
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} is not an IP address`);
}

interface Now {
  readonly rev: number;
  readonly nowMs: number;
  /** Addresses in the answers of nameservers. */
  readonly answered: ReadonlySet<string>;
}

function described(row: NodeRow, seen: SeenReport | null, { rev, nowMs, answered }: Now): PlaneNode {
  const edge_addresses = JSON.parse(row.addresses) as string[];
  const isHere = seen !== null && nowMs - seen.seenMs < AWAY_AFTER_MS;
  return {
    name: row.name,
    planes: JSON.parse(row.planes) as NodePlane[],
    status: row.joined_on === null ? "waiting" : isHere ? "connected" : "away",
    joined_on: row.joined_on,
    seen_on: seen && new Date(seen.seenMs).toISOString(),
    revision: seen && seen.rev,
    behind: seen && Math.max(0, rev - seen.rev),
    version: seen && seen.version,
    format: seen && seen.format,
    addresses: { ...seen?.addresses },
    ring: row.ring === "canary" ? "canary" : "all",
    edge_addresses,
    in_answers: edge_addresses.length > 0 && edge_addresses.every((address) => answered.has(address)),
    problems: [...(seen?.problems ?? [])],
    refused: seen?.refused ?? null,
  };
}

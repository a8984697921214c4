import { type Static, Type } from "typebox";

export const NODE_PLANES = ["edge", "nameserver", "gateway"] as const;
export type NodePlane = (typeof NODE_PLANES)[number];

export const NODE_RINGS = ["canary", "all"] as const;
export type NodeRing = (typeof NODE_RINGS)[number];

/** How changes reach nodes. */
export const RolloutStatus = Type.Object({
  state: Type.Enum(["off", "on", "paused"], { description: "`off`: no node is a canary, and all nodes get changes at once." }),
  canaries: Type.Array(Type.String(), { description: "Nodes that get changes first." }),
  revision: Type.Integer({ description: "The newest revision." }),
  released: Type.Integer({ description: "The revision up to which the other nodes may follow." }),
  reason: Type.Union([Type.String(), Type.Null()], { description: "Why the rollout is paused." }),
  paused_on: Type.Union([Type.String(), Type.Null()]),
});
export type RolloutStatus = Static<typeof RolloutStatus>;

/** A machine that runs planes and follows the changes of control. */
export const PlaneNode = Type.Object({
  name: Type.String(),
  planes: Type.Array(Type.Enum([...NODE_PLANES])),
  status: Type.Enum(["waiting", "connected", "away"], {
    description: "`waiting`: its join token has not been used. `away`: nothing was heard of it for five seconds.",
  }),
  joined_on: Type.Union([Type.String(), Type.Null()]),
  seen_on: Type.Union([Type.String(), Type.Null()], { description: "When its last report arrived." }),
  revision: Type.Union([Type.Integer(), Type.Null()], { description: "The revision that its planes have applied." }),
  behind: Type.Union([Type.Integer(), Type.Null()], { description: "Revisions that it has not applied yet." }),
  version: Type.Union([Type.String(), Type.Null()]),
  format: Type.Union([Type.Integer(), Type.Null()], { description: "The newest format of changes that it reads." }),
  addresses: Type.Record(Type.String(), Type.String(), { description: "Where its planes listen, by listener." }),
  ring: Type.Enum([...NODE_RINGS], { description: "`canary`: it gets changes before the nodes of the ring `all`." }),
  edge_addresses: Type.Array(Type.String(), { description: "Where its edge has visitors, as the operator has said." }),
  in_answers: Type.Boolean({ description: "Whether nameservers answer with all of these addresses for proxied names." }),
  problems: Type.Array(Type.String(), { description: "Why its planes do not all serve; empty if they do." }),
  refused: Type.Union([Type.Object({ rev: Type.Integer(), reason: Type.String() }), Type.Null()], {
    description: "The last change that it refused, and why; it keeps its last good copy meanwhile.",
  }),
});
export type PlaneNode = Static<typeof PlaneNode>;

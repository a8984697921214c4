import { type Static, Type } from "typebox";

/** Kinds of problems that need a person, the most urgent first. */
export const ATTENTION_KINDS = [
  "zone_moved",
  "certificate_failing",
  "certificate_expiring",
  "hostname_failing",
  "secondary_failing",
  "log_push_failing",
  "notification_failing",
  "zone_pending",
  "deprecated_calls",
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** How many objects of a kind are named. */
export const ATTENTION_OBJECTS_MAX = 10;

const AttentionObject = Type.Object({
  zone_id: Type.Union([Type.String(), Type.Null()]),
  zone_name: Type.Union([Type.String(), Type.Null()]),
  id: Type.String({ description: "The zone, certificate, custom hostname, Logpush job, notification policy or deprecation." }),
  name: Type.String({ description: "A name that a person knows." }),
  reason: Type.String({ description: "Why, in the words of the part that failed; may be empty." }),
});
export type AttentionObject = Static<typeof AttentionObject>;

export const Attention = Type.Object({
  kind: Type.Enum([...ATTENTION_KINDS]),
  objects: Type.Array(AttentionObject),
  has_more: Type.Boolean({ description: `Whether more than ${ATTENTION_OBJECTS_MAX} objects need a person.` }),
});
export type Attention = Static<typeof Attention>;

import { type Static, Type } from "typebox";

const TEXT_LENGTH_MAX = 8_192;
const LIST_MAX = 500;

const Texts = Type.Array(Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX }), { minItems: 1, maxItems: LIST_MAX });

/** Cached responses to remove; exactly one member is required. */
export const CachePurge = Type.Object({
  purge_everything: Type.Optional(Type.Boolean()),
  files: Type.Optional(
    Type.Array(
      Type.Union([
        Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX }),
        Type.Object({
          url: Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX }),
          headers: Type.Optional(
            Type.Record(Type.String(), Type.String(), {
              description: "Accepted, but not used: the purge removes every cached response of the URL, regardless of request headers.",
            }),
          ),
        }),
      ]),
      { minItems: 1, maxItems: LIST_MAX },
    ),
  ),
  tags: Type.Optional(Texts),
  hosts: Type.Optional(Texts),
  prefixes: Type.Optional(Texts),
});
export type CachePurge = Static<typeof CachePurge>;

export const CachePurged = Type.Object({ id: Type.String() });
export type CachePurged = Static<typeof CachePurged>;

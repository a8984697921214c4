import { type Static, Type } from "typebox";

/** Bytes of a response that are shown; the rest is not read. */
export const TRY_RESPONSE_BYTES_MAX = 1024 * 1024;

/** A request to send through a gateway. */
export const GatewayTry = Type.Object({
  endpoint: Type.String({
    pattern: "^[A-Za-z0-9][A-Za-z0-9._~:@%/-]{0,511}$",
    description: "The path below the gateway, such as `compat/chat/completions` or `openai/chat/completions`.",
  }),
  headers: Type.Optional(
    Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 4096 }), {
      maxProperties: 16,
      description: "Credentials of the gateway and of the provider, and fields of the gateway.",
    }),
  ),
  query: Type.Record(Type.String(), Type.Unknown(), { description: "The body that the gateway gets, as JSON." }),
});
export type GatewayTry = Static<typeof GatewayTry>;

export const GatewayTried = Type.Object({
  status: Type.Integer({ description: "The HTTP status of the gateway's response." }),
  headers: Type.Record(Type.String(), Type.String(), { description: "Fields of the response; repeated fields are joined by commas." }),
  body: Type.String({ description: "Up to 1 MiB." }),
  is_truncated: Type.Boolean({ description: "Whether the response was longer." }),
  duration_ms: Type.Number(),
});
export type GatewayTried = Static<typeof GatewayTried>;

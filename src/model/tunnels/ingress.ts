import { type Static, Type } from "typebox";

const Text = Type.String({ maxLength: 2048 });
const Seconds = Type.Integer({ minimum: 0, maximum: 3600 });

/** How a connector talks to a service. Those marked as accepted have no effect (docs/divergences/tunnels.md). */
export const OriginRequest = Type.Partial(
  Type.Object({
    noTLSVerify: Type.Boolean({ description: "Accept any certificate of an `https` service." }),
    originServerName: Type.String({ maxLength: 253, description: "The name in the certificate of an `https` service." }),
    matchSNItoHost: Type.Boolean({ description: "Use the visitor's host as that name." }),
    httpHostHeader: Type.String({ maxLength: 255, description: "The Host that the service gets, instead of the visitor's." }),
    caPool: Type.String({ maxLength: 1024, description: "A file on the connector's machine with further authorities, in PEM." }),
    connectTimeout: Type.Integer({ minimum: 1, maximum: 3600, description: "Seconds; 30 by default." }),
    access: Type.Object({
      required: Type.Optional(Type.Boolean({ description: "Must not be true." })),
      teamName: Text,
      audTag: Type.Array(Text, { maxItems: 64 }),
    }),
    disableChunkedEncoding: Type.Boolean({ description: "Must not be true." }),
    http2Origin: Type.Boolean({ description: "Must not be true." }),
    proxyType: Type.String({ maxLength: 16, description: "Must be empty." }),
    keepAliveConnections: Type.Integer({ minimum: 0, maximum: 100_000, description: "Accepted." }),
    keepAliveTimeout: Type.Integer({ minimum: 0, maximum: 86_400, description: "Accepted." }),
    noHappyEyeballs: Type.Boolean({ description: "Accepted." }),
    tcpKeepAlive: Type.Integer({ minimum: 0, maximum: 86_400, description: "Accepted." }),
    tlsTimeout: Type.Integer({ ...Seconds, description: "Accepted." }),
  }),
);
export type OriginRequest = Static<typeof OriginRequest>;

const IngressRule = Type.Object({
  hostname: Type.Optional(Type.String({ maxLength: 253, description: "A host name, or `*.` and one. Empty or absent: every host." })),
  path: Type.Optional(Type.String({ maxLength: 1024, description: "A regular expression that is searched in the path." })),
  service: Type.String({
    minLength: 1,
    maxLength: 1024,
    description: "`http://HOST:PORT`, `https://HOST:PORT`, `tcp://HOST:PORT` (for WebSocket requests), or `http_status:NNN`.",
  }),
  originRequest: Type.Optional(OriginRequest),
});
export type IngressRule = Static<typeof IngressRule>;

/** Where a connector sends requests: the first rule that matches. The last one matches every request. */
export const IngressConfig = Type.Object({
  ingress: Type.Optional(Type.Array(IngressRule, { minItems: 1, maxItems: 1000 })),
  originRequest: Type.Optional(OriginRequest),
  "warp-routing": Type.Optional(Type.Object({ enabled: Type.Optional(Type.Boolean({ description: "Must not be true." })) })),
});
export type IngressConfig = Static<typeof IngressConfig>;

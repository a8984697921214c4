import { createHash } from "node:crypto";
import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";

const EdgeRanges = Type.Object({
  ipv4_cidrs: Type.Array(Type.String()),
  ipv6_cidrs: Type.Array(Type.String()),
  jdcloud_cidrs: Type.Optional(Type.Array(Type.String())),
  etag: Type.String({ description: "Another one whenever the addresses change." }),
});

/** For firewalls before origins: each address by itself, because an installation owns no ranges. */
export const EDGE_RANGE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/ips",
    id: "edge-ranges-list",
    summary: "List the addresses of the edges, also of those on nodes",
    scope: "open",
    permissions: [],
    query: Type.Object({
      networks: Type.Optional(Type.Enum(["jdcloud"], { description: "Adds a network, which has no addresses here." })),
    }),
    result: EdgeRanges,
    paging: "one",
    handler: async ({ control, query }) => {
      const all = control.edgeAddresses().toSorted();
      const ipv4_cidrs = all.filter((address) => !address.includes(":")).map((address) => `${address}/32`);
      const ipv6_cidrs = all.filter((address) => address.includes(":")).map((address) => `${address}/128`);
      const etag = createHash("sha256").update(all.join()).digest("hex").slice(0, 32);
      return { ipv4_cidrs, ipv6_cidrs, ...(query.networks === undefined ? {} : { jdcloud_cidrs: [] }), etag };
    },
  }),
];

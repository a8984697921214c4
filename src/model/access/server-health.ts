import { type Static, Type } from "typebox";

/** The server's threads and whether they respond. */
export const ServerHealth = Type.Object({
  planes: Type.Array(
    Type.Object({
      name: Type.String({ description: "A thread: `nameserver`, `edge`, `gateway`, the writer of events or the detector." }),
      status: Type.Enum(["up", "idle", "down", "silent"], {
        description:
          "`idle`: it starts with the first zone or gateway to serve, or the first visitor. `silent`: it runs but does not respond.",
      }),
    }),
  ),
  addresses: Type.Record(Type.String(), Type.String(), {
    description:
      "Where this server accepts clients, by listener: `http`, `https`, `dns`, `dot`, `gateway`. Without those of planes on other machines.",
  }),
  problems: Type.Array(Type.String(), { description: "What keeps the server from storing changes; empty where nothing does." }),
});
export type ServerHealth = Static<typeof ServerHealth>;

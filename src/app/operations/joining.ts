import type { FastifyInstance } from "fastify";
import { PlatformError } from "#kernel/errors/errors.ts";

/** Admits a node with its token and the public key of its user on the bus; null if the token does not count. */
export type Admit = (token: string, publicKey: string, signsEvents: boolean) => Promise<object | null>;

export const JOIN_PATH = "/nodes/join";
/** A public nkey of a user. */
const USER_KEY = /^U[A-Z2-7]{55}$/;

/** `selvedge join` calls this: the token in the body is the credential, so it is outside the table of routes. */
export function addJoining(app: FastifyInstance, admit: Admit): void {
  app.post(JOIN_PATH, { bodyLimit: 4_096 }, async (request, reply) => {
    const { token, public_key: publicKey, signs_events: signsEvents } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof token !== "string" || typeof publicKey !== "string" || !USER_KEY.test(publicKey)) throw new PlatformError("invalid_token");
    const answer = await admit(token, publicKey, signsEvents === true);
    if (answer === null) throw new PlatformError("invalid_token");
    return reply.header("cache-control", "no-store").send(answer);
  });
}

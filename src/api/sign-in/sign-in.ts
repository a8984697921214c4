import type { FastifyInstance, FastifyReply } from "fastify";
import type { Access } from "#control/access/access.ts";
import type { ClientAddresses } from "#kernel/net/client-addresses.ts";
import { siteOf } from "#api/auth.ts";
import { clientOf } from "#api/connection/client-of.ts";
import { successEnvelope } from "#api/envelope.ts";
import { assertNoForeignPage } from "#api/dashboard/session-cookie.ts";

export interface SignInDeps {
  readonly basePath: string;
  readonly access: Pick<Access, "passkeyRequest" | "provider">;
  readonly clients: ClientAddresses | null;
  readonly isSecure: boolean;
}

/** The beginnings of sign-ins, which have no credentials yet. */
export function addSignIn(app: FastifyInstance, { basePath, access, clients, isSecure }: SignInDeps): void {
  const send = (reply: FastifyReply, result: unknown): FastifyReply =>
    reply.type("application/json").send(successEnvelope(result, [], null));
  app.get(`${basePath}/sign_in`, async (_request, reply) =>
    send(reply, { provider: access.provider === undefined ? null : { name: access.provider.name } }),
  );
  app.post(`${basePath}/sign_in/passkey`, async (request, reply) => {
    assertNoForeignPage(request.headers);
    return send(reply, await access.passkeyRequest(siteOf(request.headers, isSecure), clientOf(request, clients)));
  });
}

import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Access } from "#control/access/access.ts";
import { CHALLENGE_SECONDS } from "#control/sign-in/sign-in-challenges.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { siteOf } from "#api/auth.ts";
import { clientOf } from "#api/connection/client-of.ts";
import { sessionCookie } from "#api/dashboard/session-cookie.ts";
import type { SignInDeps } from "./sign-in.ts";

export interface ProviderSignInApiDeps extends Omit<SignInDeps, "access"> {
  readonly access: Pick<Access, "provider" | "sessions">;
  readonly log: { error(fields: object, message: string): void };
}

const LABEL_CHARS_MAX = 120;

/**
 * Sign-in by a company's provider, as browsers go through it: each step answers with a redirect, the last one to the dashboard, whose
 * address then has the code of an error, if any.
 */
export function addProviderSignIn(app: FastifyInstance, { basePath, access, clients, isSecure, log }: ProviderSignInApiDeps): void {
  const cookie = roundCookie(isSecure);
  const failed = (reply: FastifyReply, error: unknown): FastifyReply => {
    if (!(error instanceof PlatformError)) throw error;
    if (error.detail !== undefined) log.error({ code: error.code, reason: error.detail }, "a sign-in by the provider failed");
    return reply.redirect(`/#sign_in=${error.code}`, 302);
  };
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(`${basePath}/sign_in/provider`, async (request, reply) => {
    const { provider } = access;
    if (provider === undefined) throw new PlatformError("no_route");
    const { label = "", moved } = request.query;
    const text = typeof label === "string" ? label.slice(0, LABEL_CHARS_MAX) : "";
    const home = new URL(provider.redirectUri);
    // The provider sends browsers to one address alone, and the cookie must be there.
    if (!siteOf(request.headers, isSecure).origins.includes(home.origin) && moved === undefined)
      return reply.redirect(
        `${home.origin}${basePath}/sign_in/provider?${new URLSearchParams({ label: text, moved: "1" }).toString()}`,
        302,
      );
    try {
      const { url, secret } = await provider.begin(text, clientOf(request, clients));
      return reply.header("set-cookie", cookie.set(secret, CHALLENGE_SECONDS)).redirect(url, 302);
    } catch (error) {
      return failed(reply, error);
    }
  });
  app.get(`${basePath}/sign_in/provider/callback`, async (request, reply) => {
    const { provider, sessions } = access;
    if (provider === undefined) throw new PlatformError("no_route");
    try {
      const secret = cookie.read(request.headers);
      const mark = request.url.indexOf("?");
      const done = await provider.finish({ query: mark === -1 ? "" : request.url.slice(mark), secret });
      const about = { ip: clientOf(request, clients), requestId: request.id };
      const session = await sessions.createByProvider({ ...done, ...about });
      return reply.header("set-cookie", [cookie.set("", 0), sessionCookie(session.secret, isSecure)]).redirect("/", 302);
    } catch (error) {
      return failed(reply.header("set-cookie", cookie.set("", 0)), error);
    }
  });
}

/**
 * Binds the round to the browser that began it, so that nobody can have another person sign in as themselves (RFC 9700 §4.7). `Lax`, because
 * the browser comes back from another site.
 */
function roundCookie(isSecure: boolean) {
  const name = isSecure ? "__Host-selvedge-sign-in" : "selvedge-sign-in";
  return {
    set: (secret: string, seconds: number): string =>
      [`${name}=${secret}`, "Path=/", `Max-Age=${seconds}`, "HttpOnly", "SameSite=Lax", ...(isSecure ? ["Secure"] : [])].join("; "),
    read: ({ cookie = "" }: IncomingHttpHeaders): string | undefined =>
      cookie
        .split(";")
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(`${name}=`))
        ?.slice(name.length + 1),
  };
}

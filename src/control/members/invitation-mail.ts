import { DeliveryError } from "#control/notifications/delivery/delivery-error.ts";
import { createEmailSender, type MailServer } from "#control/notifications/delivery/send-email.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createRateLimiter } from "#kernel/net/rate-limiter.ts";
import { type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";

/** Sends invitations. They are not queued like alerts, because a queue would hold their secrets. */
export interface InvitationMail {
  readonly isConfigured: boolean;
  /** Counts an invitation of the account; throws `rate_limited` after too many in an hour. */
  take(accountId: string): void;
  /** Tries once; gives the fault, or null if the mail server took the message. */
  send(letter: InvitationLetter): Promise<string | null>;
}

export interface InvitationLetter {
  readonly id: string;
  readonly to: string;
  /** The account's name. */
  readonly account: string;
  readonly invitedBy: string;
  /** Null if the invited person signs in to accept. */
  readonly secret: string | null;
  readonly expires_on: string;
}

export interface InvitationMailDeps {
  readonly clock: Clock;
  readonly mailServer?: MailServer | undefined;
  /** Limits that other servers count, too. */
  readonly sharedLimits?: SharedLimits | undefined;
  /** Address of the dashboard, such as `https://selvedge.example`; absent or empty if the operator has not named it. */
  readonly dashboardUrl?: string;
}

/** A member who invites strangers uses the reputation of the operator's mail server. */
const PER_HOUR = { requests: 100, periodSeconds: 3600 };
/** The caller waits. */
const MESSAGE_MS = 15_000;

export function createInvitationMail({
  clock,
  mailServer,
  dashboardUrl = "",
  sharedLimits: limits = UNSHARED,
}: InvitationMailDeps): InvitationMail {
  const limiter = createRateLimiter(PER_HOUR, clock, { limits, name: "invitations" });
  const sendEmail = mailServer === undefined ? null : createEmailSender(mailServer, MESSAGE_MS);
  return {
    isConfigured: sendEmail !== null,
    take: (accountId) => {
      const standing = limiter.take(accountId);
      if (standing === null || standing.allowed) return;
      throw new PlatformError("rate_limited", {
        message: `An account may send ${PER_HOUR.requests} invitations in an hour.`,
        headers: { "retry-after": String(standing.resetSeconds) },
      });
    },
    send: async (letter) => {
      if (sendEmail === null) return "the installation has no mail server";
      const subject = `Invitation to the account ${oneLine(letter.account)}`;
      try {
        await sendEmail(letter.to, { subject, text: textOf(letter, dashboardUrl), data: {} }, letter.id);
        return null;
      } catch (error) {
        return error instanceof DeliveryError ? error.message : "the mail server could not be used";
      }
    },
  };
}

const oneLine = (text: string): string => text.replaceAll(/\s/g, " ");

function textOf({ account, invitedBy, secret, expires_on }: InvitationLetter, dashboardUrl: string): string {
  const first = `${oneLine(invitedBy)} invites you to the account ${oneLine(account)}. The invitation ends on ${expires_on.slice(0, 10)}.`;
  return `${first}\n\n${wayIn(secret, dashboardUrl)}\n\nIf you do not know the sender, ignore this message.`;
}

function wayIn(secret: string | null, dashboardUrl: string): string {
  if (secret === null) return `Sign in to accept it.${dashboardUrl === "" ? "" : `\n${dashboardUrl}`}`;
  // Behind the number sign it does not reach the server's logs (RFC 9110 §4.2.4).
  if (dashboardUrl !== "") return `Choose a password to accept it:\n${dashboardUrl}/#invitation=${secret}`;
  return `Accept it with this code, which the dashboard of your installation asks for at the address /#invitation=CODE:\n${secret}`;
}

import type { InvitationRow } from "#store/access/invitations.ts";
import type { MembershipRow } from "#store/access/memberships.ts";

/** The status of a membership that was not accepted; `expired` until the job that deletes it runs. */
export function openStatus(
  { status }: Pick<MembershipRow, "status">,
  invitation: Pick<InvitationRow, "expires_on"> | undefined,
  nowMs: number,
): "pending" | "rejected" | "expired" {
  if (status === "rejected") return "rejected";
  return invitation !== undefined && Date.parse(invitation.expires_on) <= nowMs ? "expired" : "pending";
}

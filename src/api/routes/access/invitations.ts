import { type Route, route } from "#api/route.ts";
import { Invitation, InvitationAccept, InvitationDeclined } from "#model/access/invitation.ts";

/** The caller's credential is the secret of the link, `Authorization: Invitation SECRET`, so that no log has it. */
const invited = { scope: "open", permissions: [], credentials: ["invitation"], paging: "one" } as const;

export const INVITATION_ROUTES: readonly Route[] = [
  route({
    ...invited,
    method: "GET",
    path: "/invites/current",
    id: "invites-current",
    summary: "Show the invitation whose secret the request has (Authorization: Invitation)",
    result: Invitation,
    handler: ({ control, call }) => control.invitations.current(call),
  }),
  route({
    ...invited,
    method: "POST",
    path: "/invites/current/accept",
    id: "invites-accept",
    summary: "Accept an invitation and choose a password",
    body: InvitationAccept,
    result: Invitation,
    handler: ({ control, call, body }) => control.invitations.accept(call, body),
  }),
  route({
    ...invited,
    method: "POST",
    path: "/invites/current/decline",
    id: "invites-decline",
    summary: "Decline an invitation",
    result: InvitationDeclined,
    handler: ({ control, call }) => control.invitations.decline(call),
  }),
];

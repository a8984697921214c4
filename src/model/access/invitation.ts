import { type Static, Type } from "typebox";
import { PASSWORD_LENGTH_MIN } from "./session.ts";

const Id = Type.String({ maxLength: 32 });
const Name = Type.Optional(Type.String({ maxLength: 60 }));

/** An invitation as the invited person sees it. */
export const Invitation = Type.Object({
  account: Type.Object({ id: Id, name: Type.String() }),
  email: Type.String(),
  roles: Type.Array(Type.String()),
  invited_by: Type.String({ description: "The inviting user's e-mail address, or the name of the token." }),
  expires_on: Type.String({ format: "date-time" }),
});
export type Invitation = Static<typeof Invitation>;

export const InvitationAccept = Type.Object({
  password: Type.String({ minLength: PASSWORD_LENGTH_MIN, maxLength: 256, description: "For signing in with the e-mail address." }),
  first_name: Name,
  last_name: Name,
});
export type InvitationAccept = Static<typeof InvitationAccept>;

export const InvitationDeclined = Type.Object({ id: Id });

/** In the answer to an invitation, and beside a member who has one. */
export const PendingInvitation = Type.Object({
  expires_on: Type.String({ format: "date-time" }),
  secret: Type.Optional(
    Type.String({
      description: "Only once, to the installation's first user, if no mail server is configured: send it to the invited person.",
    }),
  ),
});
export type PendingInvitation = Static<typeof PendingInvitation>;

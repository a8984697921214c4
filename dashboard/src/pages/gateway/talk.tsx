import { conversationOf } from "./conversation.ts";
import css from "./talk.module.css";

/** The messages of a request and its response. */
export const Talk = ({ request, response }: { readonly request: string; readonly response: string }) => (
  <ol className={css["talk"]}>
    {conversationOf(request, response).map(({ role, text }, at) => (
      <li key={`${at} ${role}`} data-role={role}>
        <b>{role}</b>
        <p>{text}</p>
      </li>
    ))}
  </ol>
);

import { ApiError } from "../api/client.ts";
import { Failed } from "../parts/page.tsx";
import css from "./signed-out.module.css";

/** While the server does not say whether somebody is signed in. */
export const Unreachable = ({ error, onAgain }: { readonly error: Error | null; readonly onAgain: () => void }) => (
  <main className={css["page"]}>
    <div className={css["card"]}>
      <p className="wordmark">Selvedge</p>
      <Failed isPage error={error ?? new ApiError(0, [])} onAgain={onAgain}>
        <p>This page tries again by itself.</p>
      </Failed>
    </div>
  </main>
);

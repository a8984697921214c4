import { Failed } from "../parts/page.tsx";
import css from "./signed-out.module.css";

/** While the server does not say whether somebody is signed in. */
export const Unreachable = ({ error, onAgain }: { readonly error: Error; readonly onAgain: () => void }) => (
  <main className={css["page"]}>
    <div className={css["card"]}>
      <p className={css["brand"]}>Selvedge</p>
      <Failed isPage error={error} onAgain={onAgain}>
        <p>This page tries again by itself.</p>
      </Failed>
    </div>
  </main>
);

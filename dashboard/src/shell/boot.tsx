import css from "./signed-out.module.css";

/** Until the server has said whether somebody is signed in. */
export const Boot = () => (
  <div className={css["page"]} role="status" aria-label="Loading">
    <p className={`${css["brand"]} ${css["boot"]}`}>Selvedge</p>
  </div>
);

/** Until the server has said whether somebody is signed in; as in `index.html`, until the first page has been loaded. */
export const Boot = () => (
  <div className="starting" role="status" aria-label="Loading">
    <p className="wordmark">Selvedge</p>
  </div>
);

import { Link } from "@tanstack/react-router";
import { Empty } from "../parts/page.tsx";

export const NotFound = () => (
  <Empty title="Page not found">
    <p>
      The address may be mistyped, or of an older version. <Link to="/">Go to Home</Link>
    </p>
  </Empty>
);

import { Link } from "@tanstack/react-router";
import { Empty } from "../parts/page.tsx";
import tools from "../parts/tools.module.css";

export const NotFound = () => (
  <Empty isPage title="Page not found">
    <p>The address may be mistyped, or belong to an older version.</p>
    <Link to="/" className={tools["link"]}>
      Home
    </Link>
  </Empty>
);

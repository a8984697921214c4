import type { ComposeDeps } from "#app/control/compose-deps.ts";
import { createClosing } from "#app/operations/disposables.ts";
import type { Running } from "#app/roles/running.ts";

/**
 * Starts the parts for the process's roles. Opened parts are closed in reverse order, when a later step fails and at
 * the end. A process without the role `control` loads neither the API nor a database.
 */
export async function compose(deps: ComposeDeps): Promise<Running> {
  const closing = createClosing();
  try {
    if (deps.config.roles.includes("control")) {
      const { runControl } = await import("#app/roles/control.ts");
      return await runControl(deps, closing);
    }
    const { runPlanes } = await import("#app/roles/planes-only.ts");
    return await runPlanes(deps, closing);
  } catch (error) {
    await closing.close(0);
    throw error;
  }
}

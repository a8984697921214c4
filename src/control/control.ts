import type { Access } from "./access/access.ts";

/** Every use-case, by the resource it works on. Filled by `createControl` (control/create.ts). */
export interface Control {
  readonly access: Access;
}

import { clock } from "./clock-rule.ts";
import { layers } from "./layers-rule.ts";
import { shape } from "./shape-rule.ts";

// The linter loads a plugin by its default export.
// oxlint-disable-next-line import/no-default-export
export default { meta: { name: "selvedge" }, rules: { layers, clock, shape } };

import { clock } from "./clock-rule.ts";
import { copies } from "./copies-rule.ts";
import { linear } from "./linear-rule.ts";
import { layers } from "./layers-rule.ts";
import { logged } from "./logged-rule.ts";
import { shape } from "./shape-rule.ts";
import { slices } from "./slices-rule.ts";
import { statements } from "./statements-rule.ts";

// The linter loads a plugin by its default export.
// oxlint-disable-next-line import/no-default-export
export default { meta: { name: "selvedge" }, rules: { layers, clock, shape, linear, copies, statements, logged, slices } };

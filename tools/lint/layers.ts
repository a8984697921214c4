/** One folder of src/: the layers that it may import besides itself (DESIGN.md §2). */
export interface Layer {
  readonly name: string;
  readonly mayImport: readonly string[];
}

const PLANE_MAY_IMPORT = ["kernel", "wire", "rules", "snapshot", "events"] as const;

/** From the bottom up: a layer is below those that import it. The rule is written only here. */
export const LAYERS: readonly Layer[] = [
  { name: "kernel", mayImport: [] },
  { name: "wire", mayImport: ["kernel"] },
  { name: "rules", mayImport: ["kernel", "wire"] },
  { name: "deprecations", mayImport: ["kernel"] },
  { name: "model", mayImport: ["kernel", "wire", "rules"] },
  { name: "store", mayImport: ["kernel", "model"] },
  { name: "snapshot", mayImport: ["kernel", "wire", "rules", "model"] },
  { name: "events", mayImport: ["kernel", "wire", "rules"] },
  { name: "acme", mayImport: ["kernel", "wire"] },
  { name: "control", mayImport: ["kernel", "wire", "rules", "model", "store", "snapshot", "events", "acme"] },
  { name: "api", mayImport: ["kernel", "model", "control", "deprecations"] },
  { name: "nameserver", mayImport: PLANE_MAY_IMPORT },
  { name: "edge", mayImport: PLANE_MAY_IMPORT },
  { name: "gateway", mayImport: PLANE_MAY_IMPORT },
  { name: "jobs", mayImport: ["kernel", "control", "acme", "events"] },
  {
    name: "app",
    mayImport: [
      "kernel",
      "wire",
      "rules",
      "deprecations",
      "model",
      "store",
      "snapshot",
      "events",
      "acme",
      "control",
      "api",
      "nameserver",
      "edge",
      "gateway",
      "jobs",
    ],
  },
];

/** The layers whose types pages use. */
export const DASHBOARD_MAY_NAME: readonly string[] = ["model", "deprecations"];

/** Packages that would bypass the layers: only these layers may import them. */
export const RESERVED_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  // The data planes cannot see the database; the events database has its own single writer.
  "node:sqlite": ["store", "events", "app"],
  kysely: ["store"],
  pg: ["store"],
  fastify: ["api", "app"],
};

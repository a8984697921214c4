import { dirname, join, resolve, sep } from "node:path";
import { folderProblem } from "./folders.ts";
import { DASHBOARD_MAY_NAME, LAYERS, RESERVED_PACKAGES } from "./layers.ts";
import { asNode, isTestFile, isTestingFolder, type Node, nameOf, type Rule, stringValue } from "./rule.ts";

/** The layer and path of a file or of an import's target. */
type Place =
  | { readonly kind: "layer"; readonly layer: string }
  | { readonly kind: "support" }
  | { readonly kind: "outside" }
  | { readonly kind: "dashboard" };

/** How a target is named: by an import, by one of types alone, or as the URL of a worker's file. */
type How = "import" | "type" | "url";

/** Each import must be allowed by the layer table. */
export const layers: Rule = {
  create(context) {
    const from = placeOf(context.filename);
    const check = (node: Node, specifier: string | undefined, how: How): void => {
      const problem = specifier === undefined ? unreadable(from) : importProblem(context.filename, from, specifier, how);
      if (problem !== undefined) context.report({ node, message: problem });
    };
    const checkSource = (node: Node): void => {
      const isType = node["importKind"] === "type" || node["exportKind"] === "type" || node.type === "TSImportType";
      if (asNode(node["source"])) check(node, stringValue(node["source"]), isType ? "type" : "import");
    };
    return {
      ImportDeclaration: checkSource,
      ExportNamedDeclaration: checkSource,
      ExportAllDeclaration: checkSource,
      ImportExpression: checkSource,
      // `import("#store/database/store.ts").Store` in a type.
      TSImportType: checkSource,
      NewExpression: (node: Node) => {
        const target = stringValue((node["arguments"] as unknown[])[0]);
        if (nameOf(node["callee"]) === "URL" && target !== undefined && /^\.{1,2}\/.*\.ts$/.test(target)) check(node, target, "url");
      },
    };
  },
};

function importProblem(filename: string, from: Place, specifier: string, how: How): string | undefined {
  if (from.kind === "dashboard") return dashboardProblem(filename, specifier, how);
  if (specifier.startsWith("#")) {
    const path = specifier.slice(1);
    return layerProblem(from, path.split("/")[0] ?? "", isTestFile(filename)) ?? folderProblemOf(filename, path);
  }
  if (specifier.startsWith(".")) {
    const path = pathInSource(resolve(dirname(filename), specifier));
    return relativeProblem(filename, from, specifier, how) ?? (path === undefined ? undefined : folderProblemOf(filename, path));
  }
  return packageProblem(from, specifier, how);
}

function layerProblem(from: Place, layer: string, isTest: boolean): string | undefined {
  if (!LAYERS.some(({ name }) => name === layer)) return `"${layer}" is not a layer of DESIGN.md §2`;
  if (from.kind !== "layer" || from.layer === layer) return undefined;
  if (mayImport(from.layer, layer) || (isTest && standsBelow(layer, from.layer))) return undefined;
  return `src/${from.layer}/ may not import src/${layer}/ (DESIGN.md §2)`;
}

function relativeProblem(filename: string, from: Place, specifier: string, how: How): string | undefined {
  const to = placeOf(resolve(dirname(filename), specifier));
  if (to.kind === "layer") {
    const stays = from.kind === "layer" && from.layer === to.layer;
    return stays || how === "url" ? layerProblem(from, to.layer, isTestFile(filename)) : `import from another layer as "#${to.layer}/…"`;
  }
  if (from.kind !== "layer" || (to.kind === "support" && isTestFile(filename))) return undefined;
  return `src/${from.layer}/ may not import what is outside of src/`;
}

/** Tests may import any folder. */
function folderProblemOf(filename: string, to: string): string | undefined {
  const from = pathInSource(filename);
  if (from === undefined || isTestFile(filename)) return undefined;
  return isTestingFolder(dirname(to)) ? "only tests may import what is in a folder testing/" : folderProblem(from, to);
}

/** `edge/http/media-type.ts` for a path that leads into src/. */
function pathInSource(path: string): string | undefined {
  const parts = path.split(sep);
  const src = parts.lastIndexOf("src");
  return src === -1 ? undefined : parts.slice(src + 1).join("/");
}

function packageProblem(from: Place, specifier: string, how: How): string | undefined {
  if (from.kind !== "layer") return undefined;
  for (const [name, allowed] of Object.entries(RESERVED_PACKAGES)) {
    if ((specifier !== name && !specifier.startsWith(`${name}/`)) || allowed.includes(from.layer)) continue;
    // A layer that may import the reserved one may also use the package's types, because that layer's functions take and return them.
    const mayName = how === "type" && allowed.some((layer) => mayImport(from.layer, layer));
    if (!mayName) return `only src/{${allowed.join(",")}}/ may import ${name}`;
  }
  return undefined;
}

const mayImport = (from: string, layer: string): boolean =>
  LAYERS.some(({ name, mayImport }) => name === from && mayImport.includes(layer));

/** A test may import every layer below its own to set up the environment of its layer. */
const standsBelow = (layer: string, other: string): boolean => rank(layer) < rank(other);

const rank = (layer: string): number => LAYERS.findIndex(({ name }) => name === layer);

/** An import that is computed cannot be checked. */
const unreadable = (from: Place): string | undefined =>
  from.kind === "layer" && from.layer !== "app" ? "an import must name its target as a string" : undefined;

const DASHBOARD = join(dirname(dirname(import.meta.dirname)), "dashboard", "src", sep);

/** The pages know the API by its types only, and nothing else of the server. */
function dashboardProblem(filename: string, specifier: string, how: How): string | undefined {
  if (specifier.startsWith("#")) {
    const layer = specifier.slice(1).split("/")[0] ?? "";
    return how === "type" && DASHBOARD_MAY_NAME.includes(layer)
      ? undefined
      : `dashboard/ may import types of ${DASHBOARD_MAY_NAME.join(" and ")} alone`;
  }
  const isInside = !specifier.startsWith(".") || placeOf(resolve(dirname(filename), specifier)).kind === "dashboard";
  return isInside ? undefined : "dashboard/ may import nothing of the server but types";
}

function placeOf(path: string): Place {
  const parts = path.split(sep);
  if (path.startsWith(DASHBOARD)) return { kind: "dashboard" };
  const src = parts.lastIndexOf("src");
  const layer = parts[src + 1];
  if (src !== -1 && layer !== undefined && src + 2 < parts.length) return { kind: "layer", layer };
  const test = parts.lastIndexOf("test");
  return test !== -1 && parts[test + 1] === "support" ? { kind: "support" } : { kind: "outside" };
}

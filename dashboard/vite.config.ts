import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const FRAMEWORK =
  /node_modules[\\/](react|react-dom|scheduler|@tanstack[\\/](react-router|router-core|history|react-query|query-core|store|react-store))[\\/]/;

/** Two folders of dependencies give two copies of React, and then no page opens. */
const oneCopy = (): Plugin => ({
  name: "one-copy",
  generateBundle() {
    const folders = new Set([...this.getModuleIds()].filter((id) => id.startsWith("/") && id.includes(DEPENDENCIES)).map(folderOf));
    if (folders.size > 1) this.error(`dependencies come from more than one folder: ${[...folders].join(", ")}`);
  },
});
const DEPENDENCIES = "/node_modules/";
const folderOf = (id: string): string => id.slice(0, id.indexOf(DEPENDENCIES) + DEPENDENCIES.length);

// oxlint-disable-next-line import/no-default-export: Vite reads it so.
export default defineConfig({
  plugins: [react(), oneCopy()],
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    // Data addresses would need img-src and font-src to allow data:.
    assetsInlineLimit: 0,
    license: { fileName: "licenses.md" },
    manifest: "manifest.json",
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "framework", test: FRAMEWORK }] } } },
  },
});

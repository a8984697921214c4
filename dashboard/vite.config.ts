import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const FRAMEWORK =
  /node_modules[\\/](react|react-dom|scheduler|@tanstack[\\/](react-router|router-core|history|react-query|query-core|store|react-store))[\\/]/;

// oxlint-disable-next-line import/no-default-export: Vite reads it so.
export default defineConfig({
  plugins: [react()],
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

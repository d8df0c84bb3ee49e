// Where the service serves it: hashed files under /assets/, nothing inline, so that a strict policy holds.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Plugin, defineConfig } from "vite";

/** A `.gz` beside each text file as it was written, which the service sends to whoever takes it. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    writeBundle({ dir }, bundle) {
      for (const name of Object.keys(bundle).filter((each) => /\.(js|css|svg)$/.test(each))) {
        const path = join(dir ?? "dist", name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [compressed()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  test: { include: ["test/**/*.test.ts"], environment: "node" },
  server: { proxy: Object.fromEntries(["/chat", "/graphs", "/trace", "/ledger", "/admin", "/readyz"].map(proxied)) },
} as import("vite").UserConfig);

function proxied(path: string): [string, string] {
  return [path, "http://127.0.0.1:8000"];
}

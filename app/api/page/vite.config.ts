// Where the service serves it: hashed files under /assets/, nothing inline, so that a strict policy holds.
import { gzipSync } from "node:zlib";
import { type Plugin, defineConfig } from "vite";

/** A `.gz` beside each text file, which the service sends to whoever takes it. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    generateBundle(_options, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        const source = file.type === "chunk" ? file.code : file.source;
        if (/\.(js|css|svg)$/.test(name)) {
          this.emitFile({ type: "asset", fileName: `${name}.gz`, source: gzipSync(source, { level: 9 }) });
        }
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

/** A real OpenID provider as a process (tests/support/processes), and somebody who signs in there. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Provider {
  issuer: string;
  end(): void;
}

export async function startedProvider(tokenS: number): Promise<Provider> {
  const script = fileURLToPath(new URL("../../../../tests/support/processes/openid_provider.mjs", import.meta.url));
  const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
  const content = JSON.stringify({ groups: { anna: ["doctors"] }, id_token_s: tokenS });
  const started = spawn(process.execPath, [script, modules, content], { stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: started.stdout })) {
    if (line.startsWith("http://")) {
      return { issuer: line.trim(), end: () => started.kill() };
    }
  }
  throw new Error("the provider does not start");
}

/** Does in a browser what a person does: signs in and agrees, or refuses. Returns the address that it leads back to. */
export async function visited(address: string, login: string, refuses = false): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = new URL(address);
  let form: URLSearchParams | null = null;
  for (let step = 0; step < 20; step += 1) {
    const head = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
    const reply: Response = await fetch(at, {
      method: form === null ? "GET" : "POST",
      headers: head,
      body: form,
      redirect: "manual",
    });
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    form = null;
    const to = reply.headers.get("location");
    const page = await reply.text();
    if (to !== null) {
      at = new URL(to, at);
      if (at.searchParams.has("state")) {
        return at;
      }
    } else if (refuses) {
      at = new URL(/href="([^"]*abort)"/.exec(page)?.[1] ?? "", at);
    } else {
      at = new URL(/<form[^>]* action="([^"]*)"/.exec(page)?.[1] ?? "", at);
      form = new URLSearchParams({ prompt: /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? "", login, password: "x" });
    }
  }
  throw new Error("the provider leads nowhere");
}

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { beginSignIn, idOf, personAccess, signedIn, signOut, type SignInPlace } from "../src/shared/sign_in";
import { type Provider, startedProvider, visited } from "./provider";

const PAGE = "http://127.0.0.1:4321/";
let provider: Provider;
let place: SignInPlace;
let sent: Request[];

beforeAll(async () => {
  provider = await startedProvider(3600);
  place = { issuer: provider.issuer, client_id: "arog", scopes: "openid offline_access" };
});
afterAll(() => provider.end());
beforeEach(() => {
  sent = [];
  const network = globalThis.fetch;
  vi.stubGlobal("fetch", (...given: Parameters<typeof fetch>) => {
    sent.push(new Request(...given));
    return network(...given);
  });
  vi.stubGlobal("sessionStorage", storage());
  vi.stubGlobal("localStorage", storage());
  vi.stubGlobal("history", { replaceState: (_state: unknown, _title: string, to: string) => open(new URL(to, PAGE)) });
  open(new URL(PAGE));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function storage(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
  };
}

/** The page at this address; where it leaves for stands in `left`. */
function open(at: URL): void {
  const { origin, pathname, search, hash } = at;
  vi.stubGlobal("location", { origin, pathname, search, hash, assign: (to: URL) => (left = to) });
}

let left: URL | null = null;

async function leave(): Promise<URL> {
  await beginSignIn(place);
  if (left === null) {
    throw new Error("the page stays");
  }
  return left;
}

async function enter(login = "anna"): Promise<void> {
  open(await visited(String(await leave()), login));
  await signedIn();
}

function later(seconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
}

const claimsOf = (token: string) => JSON.parse(atob((token.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/")));

describe("a person signs in on the page", () => {
  test("by a code with a challenge, and the address forgets the code", async () => {
    const address = await leave();
    expect(address.searchParams.get("code_challenge_method")).toBe("S256");
    const back = await visited(String(address), "anna");
    open(back);
    const person = await signedIn();
    expect(location.search).toBe("");
    expect(person?.subject).toBe("anna");
    const token = await personAccess.token();
    expect(claimsOf(token)).toMatchObject({ iss: provider.issuer, aud: "arog", sub: "anna", groups: ["doctors"] });
    expect(await signedIn()).toEqual(person);
    // A link with a used answer signs nobody in again.
    open(back);
    await expect(signedIn()).rejects.toMatchObject({ code: "sign_in_failed" });
  });

  test("and requests go to the provider alone", async () => {
    await enter();
    expect(new Set(sent.map((each) => new URL(each.url).origin))).toEqual(new Set([provider.issuer]));
  });

  test("of two persons, each has an id that does not say who they are", async () => {
    const ids = await Promise.all(["anna", "bert"].map((subject) => idOf({ place, subject } as never)));
    expect(new Set(ids).size).toBe(2);
    expect(ids.join()).not.toContain("anna");
  });
});

describe("what was not asked for is refused", () => {
  test.each([
    ["another state", (back: URL) => back.searchParams.set("state", "another")],
    ["another issuer", (back: URL) => back.searchParams.set("iss", "https://other.invalid")],
    ["a made-up code", (back: URL) => back.searchParams.set("code", "made-up")],
    ["an error of the provider", (back: URL) => back.searchParams.set("error", "server_error")],
  ])("%s", async (_what, change) => {
    const back = await visited(String(await leave()), "anna");
    change(back);
    open(back);
    await expect(signedIn()).rejects.toMatchObject({ code: "sign_in_failed" });
    await expect(personAccess.token()).rejects.toMatchObject({ code: "signed_out" });
  });

  test.each(["nonce", "verifier"])("a token or code of another %s", async (what) => {
    const back = await visited(String(await leave()), "anna");
    const started = JSON.parse(sessionStorage.getItem("arog.sign-in") ?? "");
    sessionStorage.setItem("arog.sign-in", JSON.stringify({ ...started, [what]: "x".repeat(43) }));
    open(back);
    await expect(signedIn()).rejects.toMatchObject({ code: "sign_in_failed" });
  });

  test("an answer to a sign-in that was begun elsewhere", async () => {
    open(new URL("?code=c&state=s", PAGE));
    await expect(signedIn()).rejects.toMatchObject({ code: "sign_in_failed" });
    expect(sent).toEqual([]);
  });

  test("whoever does not agree is not signed in", async () => {
    open(await visited(String(await leave()), "anna", true));
    await expect(signedIn()).rejects.toMatchObject({ code: "sign_in_refused" });
  });
});

describe("a sign-in", () => {
  test("is renewed before it ends, once for all who ask", async () => {
    await enter();
    const before = await signedIn();
    later(3550);
    sent = [];
    const [one, other] = await Promise.all([personAccess.token(), personAccess.token()]);
    const after = await signedIn();
    expect([one, other]).toEqual([after?.id_token, after?.id_token]);
    expect(after?.refresh_token).not.toBe(before?.refresh_token);
    expect(sent.filter((each) => each.method === "POST").length).toBe(1);
  });

  test("that the provider took back ends", async () => {
    await enter();
    const person = sessionStorage.getItem("arog.person") ?? "";
    await signOut();
    sessionStorage.setItem("arog.person", person);
    later(3550);
    await expect(personAccess.token()).rejects.toMatchObject({ code: "signed_out" });
    expect(await signedIn()).toBeNull();
  });

  test("ended here is taken back there, and the next one has to say who they are", async () => {
    await enter();
    const person = JSON.parse(sessionStorage.getItem("arog.person") ?? "");
    sent = [];
    await signOut();
    const [taken] = sent.filter((each) => each.method === "POST");
    expect(await taken?.text()).toContain(`token=${encodeURIComponent(person.refresh_token)}`);
    await expect(personAccess.token()).rejects.toMatchObject({ code: "signed_out" });
    expect((await leave()).searchParams.get("prompt")).toBe("login");
    open(await visited(String(left), "bert"));
    expect((await signedIn())?.subject).toBe("bert");
    expect((await leave()).searchParams.has("prompt")).toBe(false);
  });

  test("that the service refuses has ended", async () => {
    await enter();
    expect(personAccess.refused()).toMatchObject({ code: "signed_out" });
    expect(await signedIn()).toBeNull();
  });

  test("needs the provider, and says so", async () => {
    const gone = { ...place, issuer: "http://127.0.0.1:9" };
    await expect(beginSignIn(gone)).rejects.toMatchObject({ code: "provider_unreachable" });
  });
});

/**
 * Signs a person in at the service's OpenID provider: the authorization code flow with PKCE, by oauth4webapi. The
 * token is kept for this tab, in its sessionStorage, and renewed by itself.
 */

import type { AuthorizationServer, Client } from "oauth4webapi";
import { type Decoded, fields, nullable, number, parsed, text } from "../protocol/decode";
import { ArogError } from "../protocol/errors";
import { type Access, Service } from "./service";

const placeOf = fields({ issuer: text, client_id: text, scopes: text });
/** Where persons sign in, and the service's client id there. */
export type SignInPlace = Decoded<typeof placeOf>;

const startedOf = fields({ place: placeOf, verifier: text, state: text, nonce: text });
const personOf = fields({ place: placeOf, subject: text, id_token: text, refresh_token: nullable(text), ends_at_s: number });
export type Person = Decoded<typeof personOf>;

const STARTED = "arog.sign-in";
const PERSON = "arog.person";
/** Set by a sign-out: the provider must ask who it is, or the next one at this browser would be signed in as the last. */
const ASK_WHO = "arog.ask-who";
/** The age from which the service refuses a token (MAX_TOKEN_AGE_S in app/accounts/openid.py). */
const MAX_AGE_S = 86_400;
const RENEWED_BEFORE_S = 60;

/** Where the service lets persons sign in; null where it takes API keys only. Raises ArogError. */
export async function signInPlace(): Promise<SignInPlace | null> {
  // The service marks the page where persons sign in.
  const isMarked = document.querySelector('meta[name="sign-in"]') !== null;
  return isMarked ? new Service(null).ask("/sign-in", placeOf) : null;
}

/** Leaves for the provider, which leads back here. Raises ArogError. */
export async function beginSignIn(place: SignInPlace): Promise<void> {
  const address = await atProvider(async () => {
    const { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomNonce, generateRandomState } =
      await library();
    const { server } = await providerOf(place);
    const verifier = generateRandomCodeVerifier();
    const started = { place, verifier, state: generateRandomState(), nonce: generateRandomNonce() };
    const address = new URL(server.authorization_endpoint ?? "");
    const wanted = {
      client_id: place.client_id,
      redirect_uri: pageAddress(),
      response_type: "code",
      scope: place.scopes,
      state: started.state,
      nonce: started.nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(localStorage.getItem(ASK_WHO) === null ? {} : { prompt: "login" }),
    };
    for (const [name, value] of Object.entries(wanted)) {
      address.searchParams.set(name, value);
    }
    sessionStorage.setItem(STARTED, JSON.stringify(started));
    return address;
  });
  location.assign(address);
}

/** Who is signed in in this tab, also by an answer of the provider in the page's address. Raises ArogError. */
export async function signedIn(): Promise<Person | null> {
  const answer = new URLSearchParams(location.search);
  if (!answer.has("state") || !(answer.has("code") || answer.has("error"))) {
    return keptPerson();
  }
  history.replaceState(null, "", location.pathname + location.hash);
  const kept = sessionStorage.getItem(STARTED);
  sessionStorage.removeItem(STARTED);
  if (kept === null) {
    throw failed();
  }
  return atProvider(() => personAnswered(answer, parsed(kept, startedOf)));
}

async function personAnswered(answer: URLSearchParams, started: Decoded<typeof startedOf>): Promise<Person> {
  const { place } = started;
  const oauth = await library();
  const { server, client, options } = await providerOf(place);
  const checked = oauth.validateAuthResponse(server, client, answer, started.state);
  const reply = await oauth.authorizationCodeGrantRequest(
    server, client, oauth.None(), checked, pageAddress(), started.verifier, options,
  );
  const given = await oauth.processAuthorizationCodeResponse(server, client, reply, {
    expectedNonce: started.nonce,
    requireIdToken: true,
  });
  const claims = oauth.getValidatedIdTokenClaims(given);
  if (claims === undefined || given.id_token === undefined) {
    throw failed();
  }
  localStorage.removeItem(ASK_WHO);
  return keep({
    place,
    subject: claims.sub,
    id_token: given.id_token,
    refresh_token: given.refresh_token ?? null,
    ends_at_s: Math.min(claims.exp, claims.iat + MAX_AGE_S),
  });
}

/** The access of whoever is signed in, their token renewed where it is about to end. */
export const personAccess: Access = {
  token: async () => {
    const person = keptPerson();
    if (person === null) {
      throw ended();
    }
    if (person.ends_at_s - Date.now() / 1000 > RENEWED_BEFORE_S) {
      return person.id_token;
    }
    // A refresh token may work once only, so that two requests must not send the same one.
    renewing ??= renewed(person).finally(() => {
      renewing = null;
    });
    return renewing;
  },
  refused: () => {
    sessionStorage.removeItem(PERSON);
    return ended();
  },
};

let renewing: Promise<string> | null = null;

async function renewed(person: Person): Promise<string> {
  const refreshToken = person.refresh_token;
  if (refreshToken === null) {
    throw personAccess.refused();
  }
  return atProvider(async () => {
    const oauth = await library();
    const { server, client, options } = await providerOf(person.place);
    const reply = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, options);
    if (reply.status === 400 || reply.status === 401) {
      throw personAccess.refused();
    }
    const given = await oauth.processRefreshTokenResponse(server, client, reply);
    const claims = oauth.getValidatedIdTokenClaims(given);
    if (claims === undefined || given.id_token === undefined || claims.sub !== person.subject) {
      throw personAccess.refused();
    }
    // Whoever has signed out meanwhile stays so.
    if (keptPerson() === null) {
      throw ended();
    }
    const refresh_token = given.refresh_token ?? refreshToken;
    const ends_at_s = Math.min(claims.exp, claims.iat + MAX_AGE_S);
    return keep({ ...person, id_token: given.id_token, refresh_token, ends_at_s }).id_token;
  });
}

/** Forgets the token, and takes it back at the provider where that can be reached. Does not raise. */
export async function signOut(): Promise<void> {
  const person = keptPerson();
  sessionStorage.removeItem(PERSON);
  if (person === null) {
    return;
  }
  localStorage.setItem(ASK_WHO, "yes");
  const token = person.refresh_token;
  if (token !== null) {
    await atProvider(async () => {
      const { None, revocationRequest } = await library();
      const { server, client, options } = await providerOf(person.place);
      await revocationRequest(server, client, None(), token, options);
    }).catch(() => undefined);
  }
}

/** A name for what this browser keeps of a person, which does not say who they are. */
export async function idOf({ place, subject }: Person): Promise<string> {
  const words = new TextEncoder().encode(JSON.stringify([place.issuer, subject]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", words));
  return Array.from(digest.slice(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

interface Provider {
  server: AuthorizationServer;
  client: Client;
  options: Record<symbol, boolean>;
}

async function providerOf({ issuer, client_id }: SignInPlace): Promise<Provider> {
  const { allowInsecureRequests, discoveryRequest, processDiscoveryResponse } = await library();
  const at = new URL(issuer);
  // The service takes an issuer without https on its own machine alone.
  const options = { [allowInsecureRequests]: at.protocol === "http:" };
  const server = await processDiscoveryResponse(at, await discoveryRequest(at, options));
  return { server, client: { client_id }, options };
}

/** Loaded by those who sign in. */
function library() {
  return import("oauth4webapi");
}

async function atProvider<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (problem) {
    throw problem instanceof ArogError ? problem : await toldOf(problem);
  }
}

/** Nothing of a provider's own words is shown: what leads here may be anybody's link. */
async function toldOf(problem: unknown): Promise<ArogError> {
  const { AuthorizationResponseError } = await library();
  if (problem instanceof AuthorizationResponseError) {
    return problem.error === "access_denied" ? refusedByProvider() : failed();
  }
  // `fetch` raises it without a code, oauth4webapi with one.
  return problem instanceof TypeError && !("code" in problem) ? providerUnreachable() : failed();
}

function pageAddress(): string {
  return location.origin + location.pathname;
}

function keptPerson(): Person | null {
  const kept = sessionStorage.getItem(PERSON);
  return kept === null ? null : parsed(kept, personOf);
}

function keep(person: Person): Person {
  sessionStorage.setItem(PERSON, JSON.stringify(person));
  return person;
}

function ended(): ArogError {
  return new ArogError({
    code: "signed_out",
    message: "Your sign-in has ended.",
    hint: "Load this page again to sign in.",
  });
}

function failed(): ArogError {
  return new ArogError({
    code: "sign_in_failed",
    message: "The sign-in did not come through.",
    hint: "Begin it again here. If it happens again, tell whoever runs the service.",
  });
}

function refusedByProvider(): ArogError {
  return new ArogError({
    code: "sign_in_refused",
    message: "The sign-in was refused.",
    hint: "Sign in again, or ask whoever runs your sign-in to let you in.",
  });
}

function providerUnreachable(): ArogError {
  return new ArogError({
    code: "provider_unreachable",
    message: "The place where you sign in can't be reached from this page.",
    hint: "Check your network. Whoever runs the service checks that the provider takes requests from this page.",
  });
}

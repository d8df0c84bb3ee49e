/** base64url as the service writes and reads it: padded or not, and strict about everything else. */

const ALPHABET = /^[A-Za-z0-9_-]*$/;

export class NotBase64url extends Error {}

export function toBase64url(raw: Uint8Array): string {
  let binary = "";
  for (const byte of raw) {
    binary += String.fromCharCode(byte);
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Raises NotBase64url, also where another text would stand for the same bytes. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const bare = text.replace(/=+$/, "");
  if (!ALPHABET.test(bare) || bare.length % 4 === 1) {
    throw new NotBase64url("not base64url");
  }
  const binary = atob(bare.replaceAll("-", "+").replaceAll("_", "/"));
  const raw = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  if (toBase64url(raw) !== bare) {
    throw new NotBase64url("not base64url");
  }
  return raw;
}

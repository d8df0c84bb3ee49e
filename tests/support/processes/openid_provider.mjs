// A real OpenID provider (the certified `oidc-provider`) on loopback, whose sign-in page takes any login. It prints its
// issuer. Arguments: the folder of node_modules, and JSON: `groups` of each login, `id_token_s`.
// Two addresses of our own: POST /rotate replaces the key that signs, POST /outage answers 503 from then on.
import { createServer } from "node:http";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { pathToFileURL } from "node:url";

const [folder, content] = process.argv.slice(2);
const { groups, id_token_s: idTokenS } = JSON.parse(content);
const { default: Provider } = await import(pathToFileURL(`${folder}/oidc-provider/lib/index.js`));

function signingKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: randomBytes(6).toString("hex"), use: "sig", alg: "RS256" };
}

function providerWith(issuer) {
  return new Provider(issuer, {
    jwks: { keys: [signingKey()] },
    clients: [
      {
        client_id: "arog",
        application_type: "native",
        token_endpoint_auth_method: "none",
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "authorization_code", "refresh_token"],
        response_types: ["code"],
        // A native client's address of this machine counts with any port.
        redirect_uris: ["http://127.0.0.1/"],
      },
    ],
    claims: { openid: ["sub", "groups"] },
    conformIdTokenClaims: false,
    features: { deviceFlow: { enabled: true }, revocation: { enabled: true }, devInteractions: { enabled: true } },
    findAccount: (_context, login) => ({
      accountId: login,
      claims: () => ({ sub: login, groups: groups[login] ?? [] }),
    }),
    ttl: { IdToken: idTokenS, AccessToken: 60, DeviceCode: 60, Grant: 3600, Session: 3600, Interaction: 600 },
    clientBasedCORS: (_context, origin) => origin.startsWith("http://127.0.0.1:"),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    cookies: { keys: [randomBytes(16).toString("hex")] },
  });
}

let answer;
let out = false;
const server = createServer((request, response) => {
  if (request.method === "POST" && request.url === "/rotate") {
    answer = providerWith(issuer).callback();
    response.end();
  } else if (request.method === "POST" && request.url === "/outage") {
    out = true;
    response.end();
  } else if (out) {
    response.writeHead(503).end();
  } else {
    answer(request, response);
  }
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const issuer = `http://127.0.0.1:${server.address().port}`;
answer = providerWith(issuer).callback();
console.log(issuer);

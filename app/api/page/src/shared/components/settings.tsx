import { useState } from "preact/hooks";
import { change, endSignIn, enterAgain, leave, person, settings } from "../session";
import { Dialog } from "./dialog";
import { THEMES, chosenTheme, chooseTheme } from "../theme";

const NAMES_OF_A_SET = [50, 200, 1000];
const LANGUAGES = [
  "ar", "bg", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "he", "hi", "hr", "hu", "id", "it", "ja", "ko", "lt",
  "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "th", "tr", "uk", "vi", "zh",
];
const IN_ENGLISH = new Intl.DisplayNames("en", { type: "language" });

/** How it looks, how many names of a set are asked for and in which language, and the way out. */
export function Settings({ onClose }: { onClose: () => void }) {
  const [isLeaving, setLeaving] = useState(false);
  return (
    <Dialog title="Settings" onClose={onClose}>
      <label class="field">
        <span>Names of one set, at most</span>
        <select
          value={settings.value.names}
          onChange={(event) => void change({ names: Number(event.currentTarget.value) })}
        >
          {NAMES_OF_A_SET.map((count) => <option key={count} value={count}>{count}</option>)}
        </select>
      </label>
      <label class="field">
        <span>Names in</span>
        <select
          value={settings.value.language ?? ""}
          onChange={(event) => void change({ language: event.currentTarget.value })}
        >
          <option value="">The language of the question</option>
          {LANGUAGES.map((tag) => <option key={tag} value={tag}>{IN_ENGLISH.of(tag)}</option>)}
        </select>
      </label>
      <fieldset class="field">
        <legend>Look</legend>
        <div class="segments">
          {THEMES.map((theme) => (
            <label key={theme.id}>
              <input
                type="radio"
                name="theme"
                checked={chosenTheme.value === theme.id}
                onChange={() => chooseTheme(theme.id)}
              />
              <span>{theme.title}</span>
            </label>
          ))}
        </div>
      </fieldset>
      {person.value === null ? <ApiKeySection onClose={onClose} /> : <SignInSection issuer={person.value.place.issuer} />}
      <section class="field">
        <h3>Kept in this browser</h3>
        <p class="quiet">
          {person.value === null ? "Your API key" : "Your sign-in, until you close this tab"}, your conversations, and the
          key that opens names. The key that opens names never leaves this
          browser: without it, the names of earlier answers can't be read any more.
        </p>
        {isLeaving ? (
          <p class="row">
            <button type="button" class="danger" onClick={() => void leave().then(onClose)}>Delete it all</button>
            <button type="button" onClick={() => setLeaving(false)}>Keep it</button>
          </p>
        ) : (
          <p><button type="button" onClick={() => setLeaving(true)}>Forget everything …</button></p>
        )}
      </section>
    </Dialog>
  );
}

function ApiKeySection({ onClose }: { onClose: () => void }) {
  return (
    <section class="field">
      <h3>API key</h3>
      <p class="quiet">Another key asks other graphs. Your conversations and the key that opens names stay.</p>
      <p>
        <button
          type="button"
          onClick={() => {
            onClose();
            enterAgain();
          }}
        >
          Use another API key, or sign in
        </button>
      </p>
    </section>
  );
}

function SignInSection({ issuer }: { issuer: string }) {
  return (
    <section class="field">
      <h3>Signed in</h3>
      <p class="quiet">
        You signed in at {new URL(issuer).host}. Your conversations stay in this browser, and are shown when you sign in
        again.
      </p>
      <p><button type="button" onClick={() => void endSignIn()}>Sign out</button></p>
    </section>
  );
}

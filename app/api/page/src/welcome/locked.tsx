import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { PassphraseField } from "../shared/components/passphrase_field";
import { WrongPassphrase } from "../shared/keys";
import { unlock } from "../shared/session";

/** Asks for the passphrase of a wrapped key. */
export function Locked() {
  const [passphrase, setPassphrase] = useState("");
  const [isWrong, setWrong] = useState(false);
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    unlock(passphrase).catch((raised: unknown) => {
      if (!(raised instanceof WrongPassphrase)) {
        throw raised;
      }
      setWrong(true);
    });
  };
  return (
    <form class="card welcome" onSubmit={submit}>
      <p class="brand">arog</p>
      <h1>Open your key</h1>
      <PassphraseField value={passphrase} onInput={setPassphrase} />
      {isWrong && <p class="note note-bad" role="alert">That is not the passphrase of this browser's key.</p>}
      <p><button class="primary" disabled={passphrase === ""}>Open</button></p>
    </form>
  );
}

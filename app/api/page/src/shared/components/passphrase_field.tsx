import { LEAST_PASSPHRASE } from "../keys";

interface Props {
  value: string;
  onInput: (value: string) => void;
  isNew?: boolean;
}

/** For browsers without X25519: what the key that opens names is sealed with. */
export function PassphraseField({ value, onInput, isNew = false }: Props) {
  return (
    <>
      <label class="field">
        <span>Passphrase</span>
        <input
          type="password"
          autocomplete={isNew ? "new-password" : "current-password"}
          minLength={isNew ? LEAST_PASSPHRASE : undefined}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      <p class="quiet">
        {isNew
          ? `This browser can't keep a key that nobody can read out, so yours is sealed with a passphrase of ${LEAST_PASSPHRASE} characters or more. It is sent nowhere.`
          : "It opens the key that opens names, and is sent nowhere."}
      </p>
    </>
  );
}

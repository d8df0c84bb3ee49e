import type { TargetedKeyboardEvent } from "preact";

interface Props {
  value: string;
  onInput: (value: string) => void;
  /** Lines to mark, from 1. */
  faults?: readonly number[];
}

/** TOML with its line numbers. The box around both scrolls, so that they keep together. */
export function PolicyEditor({ value, onInput, faults = [] }: Props) {
  const lines = value.split("\n").length;
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    // The focus goes on by Tab as everywhere; nothing of TOML needs one.
    if (event.key === "Escape") {
      event.currentTarget.blur();
    }
  };
  return (
    <div class="editor">
      <ol class="editor-numbers" aria-hidden="true">
        {Array.from({ length: lines }, (_each, at) => (
          <li key={at} class={faults.includes(at + 1) ? "editor-fault" : undefined}>{at + 1}</li>
        ))}
      </ol>
      <textarea
        aria-label="Policy, as TOML"
        aria-invalid={faults.length > 0}
        wrap="off"
        rows={Math.max(6, lines)}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        placeholder="Empty: a policy is proposed from the files."
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

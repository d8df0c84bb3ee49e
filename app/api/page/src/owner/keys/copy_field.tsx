import { useRef, useState } from "preact/hooks";

/** A secret to be copied. Where the browser gives no clipboard it is selected, for the keyboard's own copy. */
export function CopyField({ label, value }: { label: string; value: string }) {
  const [isCopied, setCopied] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const copy = async () => {
    input.current?.select();
    try {
      await navigator.clipboard.writeText(value);
      setCopied(true);
    } catch {
      setCopied(false);
    }
  };
  return (
    <div class="field">
      <label class="field">
        <span>{label}</span>
        <input ref={input} class="secret" readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
      </label>
      <p class="row">
        <button type="button" class="primary" onClick={() => void copy()}>Copy</button>
        <span class="quiet" role="status">{isCopied ? "Copied." : ""}</span>
      </p>
    </div>
  );
}

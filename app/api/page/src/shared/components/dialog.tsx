import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  kind?: "box" | "side";
}

/** A modal box, or a sheet from the side: the browser's own dialog keeps the focus in it and closes it by Escape. */
export function Dialog({ title, onClose, children, kind = "box" }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const onBackdrop = (event: MouseEvent) => {
    if (event.target === ref.current) {
      onClose();
    }
  };
  return (
    <dialog
      ref={ref}
      class={`dialog dialog-${kind}`}
      aria-labelledby="dialog-title"
      onClick={onBackdrop}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-inside">
        <div class="dialog-head">
          <h2 id="dialog-title">{title}</h2>
          <button type="button" class="plain" aria-label="Close" onClick={onClose}>✕</button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

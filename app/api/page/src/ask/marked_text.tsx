/** Text of a prompt with its pseudonyms marked; a marked word tells its name when it is pointed at or stepped to. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { namedSegments } from "../protocol/trace";
import type { NameTable } from "../protocol/wire";

interface Props {
  text: string;
  table: NameTable;
  showsNames: boolean;
}

export function MarkedText({ text, table, showsNames }: Props) {
  const segments = useMemo(() => namedSegments(text, table), [text, table]);
  return (
    <>
      {segments.map((segment, at) => {
        if (segment.pseudonym === null) {
          return segment.text;
        }
        return (
          <button
            type="button"
            key={at}
            class="mark"
            data-tip={showsNames ? segment.pseudonym : segment.text}
            aria-label={showsNames ? `${segment.text}, sent as ${segment.pseudonym}` : `${segment.pseudonym}: ${segment.text}`}
          >
            {showsNames ? segment.text : segment.pseudonym}
          </button>
        );
      })}
    </>
  );
}

interface Tip {
  words: string;
  left: number;
  top: number;
}

/** Shows the words of the mark inside it that has the pointer or the focus; Escape takes them away. */
export function NameTip({ children }: { children: ComponentChildren }) {
  const [tip, setTip] = useState<Tip | null>(null);
  const show = (event: Event) => {
    const mark = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-tip]") : null;
    const place = mark?.getBoundingClientRect();
    setTip(place && mark?.dataset.tip ? { words: mark.dataset.tip, left: place.left, top: place.bottom + 4 } : null);
  };
  const hide = (event: KeyboardEvent) => {
    if (event.key === "Escape" && tip !== null) {
      event.stopPropagation();
      setTip(null);
    }
  };
  return (
    <div onMouseOver={show} onFocusIn={show} onFocusOut={() => setTip(null)} onMouseLeave={() => setTip(null)} onKeyDown={hide}>
      {children}
      <div role="tooltip" class="tip" hidden={tip === null} style={tip ? { left: `${tip.left}px`, top: `${tip.top}px` } : {}}>
        {tip?.words}
      </div>
    </div>
  );
}

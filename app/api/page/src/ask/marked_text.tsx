/** Text of a prompt with its pseudonyms marked; a marked word tells its name when it is pointed at or stepped to. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
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
            tabIndex={-1}
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

/**
 * Shows the words of the mark inside it that has the pointer or the focus; Escape takes them away. All marks are one
 * stop of Tab; arrows go from one to the next.
 */
export function NameTip({ children }: { children: ComponentChildren }) {
  const [tip, setTip] = useState<Tip | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const marks = () => [...(box.current?.querySelectorAll<HTMLElement>(".mark") ?? [])].filter((mark) => mark.checkVisibility());
  useEffect(() => {
    const all = marks();
    if (!all.some((mark) => mark.tabIndex === 0) && all[0] !== undefined) {
      all[0].tabIndex = 0;
    }
  });
  const step = (event: KeyboardEvent, by: number) => {
    const all = marks();
    const at = all.findIndex((mark) => mark === document.activeElement);
    const next = all[at + by];
    if (at >= 0 && next !== undefined) {
      event.preventDefault();
      all.forEach((mark) => (mark.tabIndex = mark === next ? 0 : -1));
      next.focus();
    }
  };
  const show = (event: Event) => {
    const mark = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-tip]") : null;
    const place = mark?.getBoundingClientRect();
    setTip(place && mark?.dataset.tip ? { words: mark.dataset.tip, left: place.left, top: place.bottom + 4 } : null);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowRight" || event.key === "ArrowDown") {
      step(event, 1);
    }
    if (event.key === "ArrowLeft" || event.key === "ArrowUp") {
      step(event, -1);
    }
    if (event.key === "Escape" && tip !== null) {
      event.stopPropagation();
      setTip(null);
    }
  };
  return (
    <div ref={box} onMouseOver={show} onFocusIn={show} onFocusOut={() => setTip(null)} onMouseLeave={() => setTip(null)} onKeyDown={onKey}>
      {children}
      <div role="tooltip" class="tip" hidden={tip === null} style={tip ? { left: `${tip.left}px`, top: `${tip.top}px` } : {}}>
        {tip?.words}
      </div>
    </div>
  );
}

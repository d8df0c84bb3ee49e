/** The picture of the evidence. Its library is loaded when the first picture is looked at. */

import type { Core, ElementDefinition, StylesheetJson } from "cytoscape";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Fact, NameTable } from "../protocol/wire";
import { chosenTheme, isDark } from "../shared/theme";
import { FEW, type Picture, pictureOf, sizeOf } from "./evidence";
import type { Mark } from "./sentences";

const ZOOM = 1.35;
const MARGIN = 24;
const LOWEST = 140; // pixels, as HIGHEST
const HIGHEST = 440;

interface Props {
  facts: readonly Fact[];
  table: NameTable;
  /** The facts to set apart, by their positions. */
  marked: ReadonlySet<number>;
  onHover: (mark: Mark) => void;
}

export function EvidencePicture({ facts, table, marked, onHover }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const drawing = useRef<Core | null>(null);
  const [opensAll, setOpensAll] = useState(false);
  const [isDrawn, setDrawn] = useState(false);
  const picture = pictureOf(facts, table, opensAll);
  const hasLargeSet = facts.some((fact) => [fact.head, fact.tail].some((each) => (table.get(each)?.names.length ?? 0) > FEW));

  // Drawn when it comes near the screen: a long conversation holds many.
  const isNear = useIsNear(box);
  useEffect(() => {
    if (!isNear) {
      return;
    }
    let isShown = true;
    setDrawn(false);
    void draw(box.current, picture).then(
      (drawn) => {
        if (isShown) {
          drawing.current = drawn;
          drawn?.on("mouseover", "edge", (event) => onHover({ kind: "fact", at: Number(event.target.data("fact")) }));
          drawn?.on("mouseout", "edge", () => onHover(null));
          setDrawn(true);
        } else {
          drawn?.destroy();
        }
      },
      // The service went before its library was there: the table beside it holds the same.
      () => undefined,
    );
    return () => {
      isShown = false;
      drawing.current?.destroy();
      drawing.current = null;
    };
  }, [facts, table, opensAll, chosenTheme.value, isDark.value, isNear]);

  useEffect(() => {
    drawing.current?.edges().forEach((edge) => void edge.toggleClass("marked", marked.has(Number(edge.data("fact")))));
  }, [[...marked].join(), isDrawn]);

  const zoom = (by: number) => {
    const now = drawing.current;
    now?.zoom({ level: now.zoom() * by, renderedPosition: { x: now.width() / 2, y: now.height() / 2 } });
  };
  const height = Math.min(HIGHEST, Math.max(LOWEST, picture.height + 2 * MARGIN));
  const nodes = picture.nodes.filter((node) => node.kind !== "box").length;
  return (
    <figure class="picture" data-drawn={isDrawn} data-nodes={nodes} data-marked={[...marked].join(" ")}>
      <div ref={box} class="picture-box" style={{ height: `${height}px` }} role="img" aria-label={`Picture of ${picture.edges.length} facts; the table holds the same`} />
      <figcaption class="row">
        <button type="button" class="small" aria-label="Larger" onClick={() => zoom(ZOOM)}>+</button>
        <button type="button" class="small" aria-label="Smaller" onClick={() => zoom(1 / ZOOM)}>−</button>
        <button type="button" class="small" onClick={() => drawing.current?.fit(undefined, MARGIN)}>Fit</button>
        {hasLargeSet && (
          <button type="button" class="small" aria-pressed={opensAll} onClick={() => setOpensAll(!opensAll)}>
            {opensAll ? "Sets as one" : `Show all ${sizeOf(facts, table)}`}
          </button>
        )}
      </figcaption>
    </figure>
  );
}

/** Whether the element has been near the screen. */
function useIsNear(box: RefObject<HTMLDivElement | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const watching = new IntersectionObserver((seen) => setNear((before) => before || seen.some((each) => each.isIntersecting)), {
      root: box.current?.closest(".ask-scroll") ?? null,
      rootMargin: "400px",
    });
    if (box.current !== null) {
      watching.observe(box.current);
    }
    return () => watching.disconnect();
  }, []);
  return isNear;
}

async function draw(container: HTMLDivElement | null, picture: Picture): Promise<Core | null> {
  const { default: cytoscape } = await import("cytoscape");
  // The picture may be gone from the page before its library is there; then it has no colours either.
  if (container === null || !container.isConnected) {
    return null;
  }
  // Its own <style> is against the page's policy; src/styles/answer.css holds the same rule.
  if (document.getElementById(STYLE_ID) === null) {
    const standIn = document.createElement("meta");
    standIn.id = STYLE_ID;
    document.head.append(standIn);
  }
  const drawn = cytoscape({
    container,
    elements: elementsOf(picture),
    style: styleOf(container),
    layout: { name: "preset", fit: true, padding: MARGIN },
    userZoomingEnabled: false,
    boxSelectionEnabled: false,
    autoungrabify: true,
    minZoom: 0.05,
    maxZoom: 3,
  });
  whole(drawn);
  // Its place grows and shrinks, as when the panel beside it opens: all of it stays in sight.
  const watching = new ResizeObserver(() => {
    drawn.resize();
    whole(drawn);
  });
  watching.observe(container);
  drawn.one("destroy", () => watching.disconnect());
  return drawn;
}

/** All of the picture, no larger than it is. */
function whole(drawn: Core): void {
  drawn.fit(undefined, MARGIN);
  if (drawn.zoom() > 1) {
    drawn.zoom(1);
    drawn.center();
  }
}

const STYLE_ID = "__________cytoscape_stylesheet";

function elementsOf({ nodes, edges }: Picture): ElementDefinition[] {
  return [
    ...nodes.map(({ x, y, parent, ...data }) => ({
      data: { ...data, ...(parent === null ? {} : { parent }) },
      position: { x, y },
    })),
    ...edges.map((edge) => ({ data: { ...edge } })),
  ];
}

/** The page's own colours, as they are now: the canvas knows no CSS. */
function styleOf(container: HTMLElement): StylesheetJson {
  const colour = (name: string) => {
    container.style.color = `var(--${name})`;
    const found = getComputedStyle(container).color;
    container.style.color = "";
    return found;
  };
  const font = getComputedStyle(container).fontFamily;
  const label = { label: "data(label)", "font-size": 13, "font-family": font, color: colour("ink") };
  return [
    {
      selector: "node",
      style: {
        ...label,
        shape: "round-rectangle",
        width: "data(width)",
        height: 30,
        "text-valign": "center",
        "background-color": colour("accent-soft"),
        "border-width": 1,
        "border-color": colour("accent"),
      },
    },
    { selector: "node[kind = 'value']", style: { "background-color": colour("sunken"), "border-color": colour("strong-line") } },
    { selector: "node[kind = 'set']", style: { "border-width": 4, "border-style": "double" } },
    { selector: "node[kind = 'unnamed']", style: { "background-color": colour("raised"), "border-style": "dashed", color: colour("quiet") } },
    {
      selector: "node[kind = 'box']",
      style: {
        "background-color": colour("raised"),
        "border-color": colour("line"),
        "text-valign": "top",
        "text-margin-y": -6,
        padding: "14px",
        color: colour("quiet"),
      },
    },
    {
      selector: "edge",
      style: {
        ...label,
        "font-size": 12,
        width: 1.5,
        "curve-style": "bezier",
        "line-color": colour("strong-line"),
        "target-arrow-color": colour("strong-line"),
        "target-arrow-shape": "triangle",
        "text-wrap": "wrap",
        "text-max-width": "190px",
        "text-background-color": colour("raised"),
        "text-background-opacity": 1,
        "text-background-padding": "3px",
        color: colour("quiet"),
      },
    },
    {
      selector: "edge.marked",
      style: { width: 3.5, "line-color": colour("accent"), "target-arrow-color": colour("accent"), color: colour("ink") },
    },
  ] as StylesheetJson;
}

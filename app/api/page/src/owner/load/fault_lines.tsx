import { useEffect, useState } from "preact/hooks";
import { count } from "../words";
import { type FaultPlace, type Line, linesAround } from "./files";

/** The lines around a fault, read from the file in this browser: the service's error never quotes it. */
export function FaultLines({ place }: { place: FaultPlace }) {
  const [lines, setLines] = useState<Line[]>([]);
  const { file, line } = place;
  useEffect(() => {
    if (line !== null) {
      // A file that has changed or gone since can't be shown.
      linesAround(file, line).then(setLines, () => setLines([]));
    }
  }, [file, line]);
  if (line === null || !lines.some((each) => each.number === line)) {
    return null;
  }
  return (
    <figure class="fault">
      <figcaption>{file.name}, line {count(line)}</figcaption>
      <pre tabIndex={0} role="region" aria-label={`Lines around line ${line}`}>
        {lines.map((each) => (
          <span key={each.number} class={each.number === line ? "fault-line fault-here" : "fault-line"}>
            <span class="fault-number">{each.number}</span>
            {each.text}
            {"\n"}
          </span>
        ))}
      </pre>
    </figure>
  );
}

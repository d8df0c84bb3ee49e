import { useState } from "preact/hooks";
import type { GraphReport, SetSizes } from "../wire";
import { bars, count, share } from "../words";

const MOST_CONCEPTS = 12;
const HOPS = [
  { field: "one_hop", title: "Same relations" },
  { field: "two_hops", title: "Same paths of two" },
] as const;
type Hops = (typeof HOPS)[number]["field"];

/** Entities of each concept by how many are alike: the darkest are alone. */
export function AlikeChart({ report }: { report: GraphReport }) {
  const [hops, setHops] = useState<Hops>("one_hop");
  const rows = [report.whole, ...report.concepts.slice(0, MOST_CONCEPTS)];
  const titles = bars(report.bounds);
  return (
    <section class="card">
      <header class="owner-head">
        <h3>How many are alike</h3>
        <span class="segments" role="group" aria-label="Alike by">
          {HOPS.map((each) => (
            <button key={each.field} type="button" aria-pressed={each.field === hops} onClick={() => setHops(each.field)}>
              {each.title}
            </button>
          ))}
        </span>
      </header>
      <p class="quiet">
        Entities of each concept, by how many of it have the same {hops === "one_hop" ? "relations" : "paths of two relations"},
        themselves among them.
      </p>
      <ul class="legend" aria-hidden="true">
        {titles.map((title, at) => <li key={title}><span class={`swatch part-${shade(at, titles.length)}`} />{title}</li>)}
      </ul>
      <table class="bars">
        <thead>
          <tr>
            <th scope="col">concept</th>
            <th scope="col" class="number">entities</th>
            <th scope="col"><span class="hidden">how many are alike</span></th>
          </tr>
        </thead>
        <tbody>
          {rows.map((sizes) => <AlikeRow key={sizes.concept ?? ""} sizes={sizes} hops={hops} titles={titles} />)}
        </tbody>
      </table>
      {report.concepts.length > MOST_CONCEPTS && (
        <p class="quiet">And {count(report.concepts.length - MOST_CONCEPTS)} more concepts, in the JSON.</p>
      )}
    </section>
  );
}

function AlikeRow({ sizes, hops, titles }: { sizes: SetSizes; hops: Hops; titles: string[] }) {
  const parts = sizes[hops]
    .map((number, at) => ({ part: sizes.entities === 0 ? 0 : number / sizes.entities, at }))
    .filter(({ part }) => part > 0);
  const words = parts.map(({ part, at }) => `${share(part)} in sets of ${titles[at] ?? ""}`).join(", ");
  return (
    <tr>
      <th scope="row">{sizes.concept ?? "all"}</th>
      <td class="number">{count(sizes.entities)}</td>
      <td class="bar-cell">
        <span class="bar-track" role="img" aria-label={words} title={words}>
          {parts.map(({ part, at }) => (
            <span key={at} class={`bar part-${shade(at, titles.length)}`} style={{ width: `${100 * part}%` }} />
          ))}
        </span>
      </td>
    </tr>
  );
}

/** One of six shades: 0 is alone, 5 among the most. */
function shade(at: number, of: number): number {
  return of < 2 ? 0 : Math.round((5 * at) / (of - 1));
}

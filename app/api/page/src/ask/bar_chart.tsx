/** Counts of groups as a small bar chart, drawn as SVG. */

import { numberOf, type Table } from "./answer_table";

const MOST_BARS = 12;
const ROW = 22; // in units of the drawing, as all below
const WIDTH = 640;
const NAME = 200;
const NUMBER = 70;
const LONGEST = 30; // letters

/** Whether a table holds one number for each of a few names. */
export function isChart({ columns, rows, more }: Table): boolean {
  return columns.length === 2 && rows.length > 1 && rows.length <= MOST_BARS && more === 0
    && rows.every(([, number]) => numberOf(number ?? "") >= 0);
}

export function BarChart({ table }: { table: Table }) {
  const bars = table.rows.map(([name = "", number = ""]) => ({ name, number, size: numberOf(number) }));
  const most = Math.max(...bars.map((bar) => bar.size), 1);
  const words = bars.map((bar) => `${bar.name} ${bar.number}`).join(", ");
  return (
    <svg class="bar-chart" viewBox={`0 0 ${WIDTH} ${bars.length * ROW}`} role="img" aria-label={`Bar chart: ${words}`}>
      {bars.map(({ name, number, size }, at) => {
        const length = ((WIDTH - NAME - NUMBER) * size) / most;
        return (
          <g key={name} transform={`translate(0 ${at * ROW})`}>
            <title>{`${name}: ${number}`}</title>
            <text x={NAME - 8} y={15} text-anchor="end">{name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name}</text>
            <rect x={NAME} y={4} width={Math.max(length, 1)} height={ROW - 8} rx={2} />
            <text x={NAME + length + 8} y={15}>{number}</text>
          </g>
        );
      })}
    </svg>
  );
}

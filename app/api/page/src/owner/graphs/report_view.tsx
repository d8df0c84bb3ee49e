/** The privacy report with its pictures: how often a prompt gives somebody away, and how many are alike. */

import type { GraphReport, NameGaps, RelationUse } from "../wire";
import { count, counted } from "../words";
import { AlikeChart } from "./alike_chart";
import { RiskChart, Warnings } from "./risk_chart";

const MOST_ROWS = 40;

export function ReportView({ report }: { report: GraphReport }) {
  return (
    <div class="report">
      <Warnings privacy={report} />
      <RiskChart privacy={report} />
      <AlikeChart report={report} />
      <Relations
        title={`Relations with fewer than ${report.k} subjects or objects`}
        lead="A prompt that shows such a relation tells that it is about one of few. The policy can rename, mask or hide it."
        none={`None: every relation has ${report.k} or more of both.`}
        relations={report.rare_relations}
      />
      <Relations
        title="Values"
        lead="As pseudonym a value travels as a stand-in; year, decade and bucket show that much of it, clear all."
        none="No relation leads to values."
        relations={report.value_relations}
      />
      <PassingNames names={report.names} />
    </div>
  );
}

interface RelationsProps {
  title: string;
  lead: string;
  none: string;
  relations: RelationUse[];
}

function Relations({ title, lead, none, relations }: RelationsProps) {
  const hasValues = relations.some((each) => each.value_kind !== null);
  return (
    <section class="card">
      <h3>{title}</h3>
      <p class="quiet">{relations.length === 0 ? none : lead}</p>
      {relations.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">relation</th>
                <th scope="col" class="number">subjects</th>
                <th scope="col" class="number">objects</th>
                {hasValues && <th scope="col">kind</th>}
                {hasValues && <th scope="col">shown as</th>}
              </tr>
            </thead>
            <tbody>
              {relations.slice(0, MOST_ROWS).map((each) => (
                <tr key={each.relation}>
                  <td>{each.relation}</td>
                  <td class="number">{count(each.subjects)}</td>
                  <td class="number">{count(each.objects)}</td>
                  {hasValues && <td>{each.value_kind}</td>}
                  {hasValues && <td>{each.shown_as}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {relations.length > MOST_ROWS && <p class="quiet">And {count(relations.length - MOST_ROWS)} more, in the JSON.</p>}
    </section>
  );
}

const GAPS = [
  ["like_own_words", "equal to a word of the prompts, or of this graph's relations and concepts"],
  ["like_frequent_words", "equal to one of the 3,000 most frequent English words"],
  ["of_one_character", "of one character"],
] as const;

/** The only names of a report: they can't be held back without holding back every sentence. */
function PassingNames({ names }: { names: NameGaps }) {
  return (
    <section class="card">
      <h3>Names and values that the guard lets pass</h3>
      <p class="quiet">
        Of {count(names.names)} names and {count(names.values)} values, these are everyday words. Where a question marks
        one as a name it is replaced like any other; where it does not, it travels as the word that it is.
      </p>
      <ul class="gaps">
        {GAPS.map(([field, what]) => (
          <li key={field}>
            <details>
              <summary>{count(names[field].length)} {what}</summary>
              <p class="gap-words">{names[field].slice(0, 200).join(", ") || "none"}</p>
            </details>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {counted(names.too_short, "thing has", "things have")} a name of punctuation alone, which is not looked for;{" "}
        {counted(names.unguarded, "thing has", "things have")} no other names than these.
      </p>
    </section>
  );
}

import type { PrivacySummary } from "../wire";
import { count, share } from "../words";

const SHOWN = new Map([
  ["concept", "its concept alone"],
  ["path of one", "one of its relations"],
  ["path of two", "one path of two relations"],
  ["relations", "all its relations"],
  ["paths of two", "all its paths of two relations"],
]);

// From this share of prompts on that few things match, the graph is better looked at again.
const MUCH = 0.5;

/** A verdict, what there is to warn of in the service's own words, and the next step. */
export function Warnings({ privacy }: { privacy: PrivacySummary }) {
  if (privacy.warnings.length === 0) {
    return (
      <section class="note note-good">
        <h3>Good to ask</h3>
        <p>Nothing stands out. Next: ask it.</p>
      </section>
    );
  }
  const worst = Math.max(0, ...privacy.profiles.map((each) => each.few));
  return (
    <section class="note note-mark">
      <h3>{worst >= MUCH ? "Look again before others ask it" : "Good to ask, with a few things to know"}</h3>
      <ul class="warnings">
        {privacy.warnings.map((warning) => <li key={warning}>{warning}</li>)}
      </ul>
      <p>
        {worst >= MUCH
          ? "Next: mask or make private the relations named here, and load it again. On a model inside the service nothing of this leaves the machine."
          : "Next: ask it. What is named here can be masked by loading it again."}
      </p>
    </section>
  );
}

/** How often whoever knows the whole graph and sees one prompt names the right entity, by what the prompt shows. */
export function RiskChart({ privacy }: { privacy: PrivacySummary }) {
  if (privacy.profiles.length === 0) {
    return null;
  }
  return (
    <section class="card">
      <h3>How well a prompt hides whom it shows</h3>
      <p class="quiet">
        Against somebody who knows the whole graph and sees one prompt: how often the right entity is named. The lower,
        the better.
      </p>
      <table class="bars">
        <thead>
          <tr>
            <th scope="col">a prompt shows</th>
            <th scope="col"><span class="hidden">as a bar</span></th>
            <th scope="col" class="number">named</th>
            <th scope="col" class="number">fewer than {privacy.k} match</th>
            <th scope="col" class="number">fewest that match</th>
          </tr>
        </thead>
        <tbody>
          {privacy.profiles.map((each) => (
            <tr key={each.profile}>
              <th scope="row">{SHOWN.get(each.profile) ?? each.profile}</th>
              <td class="bar-cell" aria-hidden="true">
                <span class="bar-track"><span class="bar" style={{ width: `${100 * each.expected}%` }} /></span>
              </td>
              <td class="number">{share(each.expected)}</td>
              <td class="number">{share(each.few)}</td>
              <td class="number">{count(each.smallest)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

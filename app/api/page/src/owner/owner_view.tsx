/** Those who own graphs: the graphs of the tenant. */

import { session } from "../shared/session";

export function OwnerView() {
  return (
    <main class="page-main">
      <h1>Graphs</h1>
      <p class="lead">The graphs that your key may ask.</p>
      <ul class="plain-list">
        {session.value?.graphs.map((name) => <li key={name} class="card">{name}</li>)}
      </ul>
    </main>
  );
}

/** API keys: who may ask what. */

import { useState } from "preact/hooks";
import { Dialog } from "../../shared/components/dialog";
import { ErrorNote } from "../../shared/components/error_note";
import { service, useAsked, useDoing } from "../asked";
import { type KeyList, type KeyListed, keyListOf } from "../wire";
import { counted, day, time } from "../words";
import { Devices } from "./devices";
import { NewKey } from "./new_key";

export function KeysView() {
  const { value, problem, again } = useAsked("/admin/keys", keyListOf);
  const [isMaking, setMaking] = useState(false);
  const [showsEnded, setShowsEnded] = useState(false);
  const ended = value?.keys.filter(hasEnded) ?? [];
  const shown = value?.keys.filter((each) => showsEnded || !hasEnded(each)) ?? [];
  return (
    <>
      <header class="owner-head">
        <h1>Keys</h1>
        <button type="button" class="primary" disabled={value === null} onClick={() => setMaking(true)}>Make a key</button>
      </header>
      <p class="lead">Who asks, asks with a key. The service keeps its hash alone.</p>
      {problem && <ErrorNote problem={problem}><button type="button" onClick={again}>Try again</button></ErrorNote>}
      <ul class="plain-list">
        {value && shown.map((each) => <li key={each.key_id}><KeyCard listed={each} all={value} onChange={again} /></li>)}
      </ul>
      {value && shown.length === 0 && <p class="quiet">There is no key yet.</p>}
      {ended.length > 0 && (
        <p>
          <button type="button" class="plain" aria-expanded={showsEnded} onClick={() => setShowsEnded(!showsEnded)}>
            {showsEnded ? "Hide" : "Show"} {counted(ended.length, "key")} that ended
          </button>
        </p>
      )}
      {isMaking && value && <NewKey tenant={value.tenant} onMade={again} onClose={() => setMaking(false)} />}
    </>
  );
}

function KeyCard({ listed, all, onChange }: { listed: KeyListed; all: KeyList; onChange: () => void }) {
  const [isEnding, setEnding] = useState(false);
  const [showsDevices, setShowsDevices] = useState(false);
  return (
    <article class={hasEnded(listed) ? "card key-card ended" : "card key-card"}>
      <header class="owner-head">
        <h2>{listed.label || <code>{listed.key_id}</code>}</h2>
        <p class="row">
          <button type="button" aria-expanded={showsDevices} onClick={() => setShowsDevices(!showsDevices)}>Devices</button>
          {!hasEnded(listed) && <button type="button" class="danger" onClick={() => setEnding(true)}>Revoke …</button>}
        </p>
      </header>
      <p class="row">
        {listed.role === "admin" && <span class="tag tag-strong">admin</span>}
        {listed.key_id === all.own && <span class="tag">yours</span>}
        {listed.grants.map((grant) => <span class="tag" key={grant}>{inWords(grant)}</span>)}
        {listed.grants.length === 0 && <span class="quiet">may ask no graph</span>}
      </p>
      <p class="quiet">
        {listed.label && <><code>{listed.key_id}</code>, </>}
        made {day(listed.created_at)}
        {listed.revoked_at !== null
          ? `, revoked ${day(listed.revoked_at)}`
          : listed.expires_at !== null
            ? `, ${hasEnded(listed) ? "ended" : "ends"} ${day(listed.expires_at)}`
            : ", without an end"}
        {listed.last_used_at === null ? ", never used" : `, last used ${time(listed.last_used_at)}`}
      </p>
      {showsDevices && <Devices keyId={listed.key_id} />}
      {isEnding && <EndDialog listed={listed} isOwn={listed.key_id === all.own} onEnded={onChange} onClose={() => setEnding(false)} />}
    </article>
  );
}

interface EndProps {
  listed: KeyListed;
  isOwn: boolean;
  onEnded: () => void;
  onClose: () => void;
}

function EndDialog({ listed, isOwn, onEnded, onClose }: EndProps) {
  const { isBusy, problem, attempt } = useDoing();
  const end = () =>
    attempt(async () => {
      await service().tell(`/admin/keys/${listed.key_id}`, { method: "DELETE" });
      onEnded();
      onClose();
    });
  return (
    <Dialog title="Revoke this key?" onClose={onClose}>
      <p>
        <code>{listed.key_id}</code> ends at once, everywhere, and for good.
        {isOwn && " It is the key that you use here: this page can do nothing more with it."}
      </p>
      {problem && <ErrorNote problem={problem} />}
      <p class="row">
        <button type="button" class="danger" disabled={isBusy} onClick={end}>Revoke it</button>
        <button type="button" onClick={onClose}>Keep it</button>
      </p>
    </Dialog>
  );
}

function hasEnded(listed: KeyListed): boolean {
  return listed.revoked_at !== null || (listed.expires_at !== null && new Date(listed.expires_at) <= new Date());
}

/** A grant as its owner would say it. */
export function inWords(grant: string): string {
  if (grant.startsWith("inspect:")) {
    const graph = grant.slice("inspect:".length);
    return graph === "*" ? "names in traces of all" : `names in traces of ${graph}`;
  }
  const [graph = "", role] = grant.split("#");
  return grant === "*" ? "every graph" : role === undefined ? graph : `${graph} as ${role}`;
}

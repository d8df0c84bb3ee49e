import type { TargetedEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { bytes } from "../words";
import { ACCEPTED, type ChosenFile, endingOf } from "./files";
import { files, policy } from "./load_state";
import { lookAtOnce } from "./preview_state";

const MOST_POLICY_BYTES = 1_000_000;

/** Where files are dropped or chosen, and the list of them. A `.toml` among them is the policy. */
export function ChosenFiles() {
  const [refused, setRefused] = useState<string[]>([]);
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  const take = async (given: File[]) => {
    const policies = given.filter((file) => file.name.toLowerCase().endsWith(".toml"));
    const others = given.filter((file) => !policies.includes(file));
    const taken = others.filter((file) => endingOf(file.name) !== null);
    files.value = [...files.value, ...taken.map((file): ChosenFile => ({ file, part: "file" }))];
    const last = policies.at(-1);
    const isRead = last !== undefined && last.size <= MOST_POLICY_BYTES;
    setRefused([
      ...others.filter((file) => !taken.includes(file)).map((file) => `${file.name} has no ending that can be loaded.`),
      ...policies.filter((file) => file !== last).map((file) => `${file.name} is left out: there is one policy.`),
      ...(last !== undefined && !isRead ? [`${last.name} is too long for a policy.`] : []),
    ]);
    if (isRead) {
      policy.value = await last.text();
    }
    lookAtOnce();
  };
  const onDrop = (event: TargetedEvent<HTMLElement, DragEvent>) => {
    event.preventDefault();
    setOver(false);
    void take([...(event.dataTransfer?.files ?? [])]);
  };
  const onChoose = (event: TargetedEvent<HTMLInputElement>) => {
    void take([...(event.currentTarget.files ?? [])]);
    event.currentTarget.value = "";
  };

  return (
    <section
      class={isOver ? "card drop drop-over" : "card drop"}
      aria-labelledby="files-title"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <h2 id="files-title">Files</h2>
      <p class="quiet">
        Tables as CSV, TSV, Excel or JSON; graphs as Turtle, N-Triples, N-Quads, TriG, N3, RDF/XML or JSON-LD; each also
        packed as .gz. A policy (.toml) may be among them.
      </p>
      <p class="row">
        <button type="button" onClick={() => input.current?.click()}>Choose files …</button>
        <span class="quiet">or drop them here</span>
      </p>
      <input
        ref={input}
        class="hidden"
        type="file"
        multiple
        accept={ACCEPTED}
        tabIndex={-1}
        aria-label="Files of the graph"
        onChange={onChoose}
      />
      {refused.length > 0 && (
        <ul class="note note-bad" role="alert">
          {refused.map((sentence) => <li key={sentence}>{sentence}</li>)}
        </ul>
      )}
      {files.value.length > 0 && (
        <ul class="file-list">
          {files.value.map((each, at) => <FileRow key={at} chosen={each} at={at} />)}
        </ul>
      )}
    </section>
  );
}

function FileRow({ chosen, at }: { chosen: ChosenFile; at: number }) {
  const { file, part } = chosen;
  const set = (part: ChosenFile["part"]) => {
    files.value = files.value.map((each, position) => (position === at ? { ...each, part } : each));
  };
  const remove = () => {
    files.value = files.value.filter((_each, position) => position !== at);
    lookAtOnce();
  };
  return (
    <li class="file-row">
      <span class="file-name">{file.name}</span>
      <span class="quiet">{bytes(file.size)}</span>
      <label>
        <span class="hidden">What {file.name} holds</span>
        <select value={part} onChange={(event) => set(event.currentTarget.value === "ontology" ? "ontology" : "file")}>
          <option value="file">facts</option>
          <option value="ontology">words of relations</option>
        </select>
      </label>
      <button type="button" class="plain" aria-label={`Take ${file.name} out`} onClick={remove}>✕</button>
    </li>
  );
}

/** What a look at the files has found: first the files that can't be read, each with the lines where it stops. */

import { FaultLines } from "./fault_lines";
import { type ChosenFile, placeOf, withOwnNames } from "./files";

/** What the service writes before the error of a file that it leaves out. */
const UNREAD = "NOT READ: ";

export function NotesView({ notes, files }: { notes: readonly string[]; files: readonly ChosenFile[] }) {
  const own = notes.map((note) => withOwnNames(note, files));
  const unread = own.filter((note) => note.startsWith(UNREAD)).map((note) => note.slice(UNREAD.length));
  const others = own.filter((note) => !note.startsWith(UNREAD));
  return (
    <>
      {unread.map((message) => <Unread key={message} message={message} files={files} />)}
      {others.length > 0 && <ul class="notes">{others.map((note) => <li key={note}>{note}</li>)}</ul>}
    </>
  );
}

function Unread({ message, files }: { message: string; files: readonly ChosenFile[] }) {
  const place = placeOf(message, files);
  return (
    <>
      <div class="note note-bad" role="alert">
        <p class="note-title">{place === null ? message : `In ${message}`}</p>
        <p>This file is left out. Correct it, or load the others without it.</p>
      </div>
      {place && <FaultLines place={place} />}
    </>
  );
}

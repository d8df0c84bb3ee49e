import { between, type Segment } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { kindOf, NameLink } from "./name_card";

/** So many names of a set stand in a sentence; the others are rows of a table. */
export const IN_A_SENTENCE = 8;

interface Props {
  segments: readonly Segment[];
  /** With them, names of things are links. */
  links?: { reply: ChatAnswer; table: NameTable; onMore: () => void };
}

/** Text whose restored names are set apart; a name's title tells its pseudonym. */
export function NamedText({ segments, links }: Props) {
  return (
    <>
      {segments.map((segment, at) => {
        if (segment.pseudonym === null) {
          return segment.text;
        }
        const kind = links === undefined ? null : kindOf(segment.pseudonym, links.reply, links.table);
        return links === undefined || (kind === null && !isLong(segment.pseudonym, links.table)) ? (
          <b key={at} class="name" title={`It came as ${segment.pseudonym}`}>{segment.text}</b>
        ) : (
          <Names key={at} pseudonym={segment.pseudonym} kind={kind} {...links} />
        );
      })}
    </>
  );
}

function isLong(pseudonym: string, table: NameTable): boolean {
  return (table.get(pseudonym)?.names.length ?? 0) > IN_A_SENTENCE;
}

interface NamesProps {
  pseudonym: string;
  kind: string | null;
  reply: ChatAnswer;
  table: NameTable;
  onMore: () => void;
}

/** The names of one pseudonym as `shown` writes them, each a link; of many the first. */
function Names({ pseudonym, kind, reply, table, onMore }: NamesProps) {
  const { names, total } = table.get(pseudonym) ?? { names: [], total: 0 };
  const some = names.slice(0, names.length > IN_A_SENTENCE ? IN_A_SENTENCE : names.length);
  const more = total - some.length;
  const isCut = some.length < names.length;
  const comma = between(names);
  return (
    <>
      {some.map((name, at) => (
        <span key={at}>
          {at > 0 && (at === some.length - 1 && more <= 0 ? " and " : comma)}
          {kind === null ? <b class="name">{name}</b> : <NameLink name={name} kind={kind} pseudonym={pseudonym} reply={reply} />}
        </span>
      ))}
      {more > 0 && some.length > 0 && " and "}
      {more > 0 && (isCut ? <button type="button" class="link" onClick={onMore}>{more} more</button> : <b class="name">{more} {some.length > 0 ? "more" : "without a name"}</b>)}
      {names.length === 0 && more <= 0 && <b class="name">none</b>}
    </>
  );
}

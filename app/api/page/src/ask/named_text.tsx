import type { Segment } from "../protocol/restoration";

/** Text whose restored names are set apart; a name's title tells its pseudonym. */
export function NamedText({ segments }: { segments: readonly Segment[] }) {
  return (
    <>
      {segments.map((segment, at) =>
        segment.pseudonym === null ? segment.text : (
          <b key={at} class="name" title={`It came as ${segment.pseudonym}`}>{segment.text}</b>
        ),
      )}
    </>
  );
}

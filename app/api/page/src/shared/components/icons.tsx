/** Drawn icons, and the buttons that show one: a button's words are its label and its tooltip. */

/** Lines on a field of 24 by 24. */
const DRAWN = {
  evidence: "M6 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm12 6a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM6 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8.7 7.3l6.6 3.4M8.7 16.7l6.6-3.4",
  seen: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12ZM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  table: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14",
  download: "M12 4v11M7.5 11 12 15.5 16.5 11M5 20h14",
  right: "M7 11v9H4v-9zM7 11l4-7c1.6 0 2.5 1 2.5 2.5L13 10h5.5a2 2 0 0 1 2 2.4l-1.3 6A2 2 0 0 1 17.3 20H7",
  wrong: "M17 13V4h3v9zM17 13l-4 7c-1.6 0-2.5-1-2.5-2.5L11 14H5.5a2 2 0 0 1-2-2.4l1.3-6A2 2 0 0 1 6.7 4H17",
  filter: "M4 5h16l-6.2 7.4V19l-3.6-2v-4.6z",
  unseen: "M4 4l16 16M9.9 6A9.6 9.6 0 0 1 12 5.5C18 5.5 21.5 12 21.5 12a16 16 0 0 1-3.2 3.9M6 7.6A16 16 0 0 0 2.5 12S6 18.5 12 18.5a9.5 9.5 0 0 0 4-.9M9.9 9.9a3 3 0 0 0 4.2 4.2",
  close: "M6 6l12 12M18 6 6 18",
  again: "M20 12a8 8 0 1 1-2.5-5.8M20 3.5V8h-4.5",
} as const;

export type IconName = keyof typeof DRAWN;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path d={DRAWN[name]} />
    </svg>
  );
}

interface Props {
  name: IconName;
  label: string;
  onClick: () => void;
  disabled?: boolean;
  pressed?: boolean;
  expanded?: boolean;
}

export function IconButton({ name, label, onClick, disabled = false, pressed, expanded }: Props) {
  const states = {
    ...(pressed === undefined ? {} : { "aria-pressed": pressed }),
    ...(expanded === undefined ? {} : { "aria-expanded": expanded }),
  };
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} disabled={disabled} onClick={onClick} {...states}>
      <Icon name={name} />
    </button>
  );
}

import { EllipsisVertical, type LucideIcon } from 'lucide-react';
import { type ReactElement, useId } from 'react';
import { Button } from './button.tsx';

interface MenuItem {
  readonly word: string;
  readonly icon: LucideIcon;
  readonly run: () => void;
}

interface MenuProps {
  /** What it is the menu of, for screen readers: "Menu of the space". */
  readonly label: string;
  readonly items: readonly MenuItem[];
}

/** A button that opens a list of actions. The browser's popover closes with Escape and with a click beside it. A page has one menu. */
export function Menu({ label, items }: MenuProps): ReactElement {
  const id = useId();
  return (
    <>
      <Button kind="ghost" className="px-2 [anchor-name:--menu]" aria-label={label} popoverTarget={id}>
        <EllipsisVertical size={16} aria-hidden />
      </Button>
      <div
        id={id}
        popover="auto"
        className="inset-auto m-0 min-w-44 rounded-card border border-line bg-surface p-1 text-base text-text shadow-lg [position-anchor:--menu] [position-area:bottom_span-left]"
      >
        {items.map(({ word, icon: Icon, run }) => (
          <button
            key={word}
            type="button"
            popoverTarget={id}
            popoverTargetAction="hide"
            onClick={run}
            className="flex min-h-9 w-full items-center gap-2 rounded px-3 text-left whitespace-nowrap hover:bg-raised pointer-coarse:min-h-11"
          >
            <Icon size={16} aria-hidden /> {word}
          </button>
        ))}
      </div>
    </>
  );
}

import { type ReactElement, useState } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { keysInUse, useKeys } from './keys.tsx';

/** `?` lists the keys that do something on this page. */
export function ShortcutHelp(): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  useKeys({ '?': { label: 'Show the keys', run: () => setOpen(true) } });
  if (!isOpen) return null;
  return (
    <Dialog title="Keys on this page" onClose={() => setOpen(false)}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2">
        {keysInUse().map(({ key, label }) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-line px-1.5 font-mono text-xs">{key.replace('mod+', 'Ctrl ')}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

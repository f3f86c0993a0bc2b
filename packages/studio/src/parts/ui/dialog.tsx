import { X } from 'lucide-react';
import { type ReactElement, type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The browser's dialog element: it traps the focus, closes with Escape, and returns the focus. */
export function Dialog({ title, onClose, children }: DialogProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    dialog.current?.showModal();
    // The first field gets the focus; the browser would focus the close button.
    dialog.current?.querySelector<HTMLElement>('input:not([type=radio]), textarea, select')?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onClose={onClose}
      className="w-full max-w-xl rounded-card border border-line bg-surface p-4 shadow-lg"
    >
      <div className="mb-3 flex items-center justify-between gap-2">
        <h2 id={heading} className="text-xl font-semibold">
          {title}
        </h2>
        <Button kind="ghost" aria-label="Close" onClick={() => dialog.current?.close()}>
          <X size={16} aria-hidden />
        </Button>
      </div>
      {children}
    </dialog>
  );
}

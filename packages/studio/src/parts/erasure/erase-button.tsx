import type { Erasure } from '@lastcall/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Eraser } from 'lucide-react';
import { type ReactElement, type ReactNode, useState } from 'react';
import { erasureList } from '../../data/settings.ts';
import { useMay } from '../session/session.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';

interface EraseButtonProps {
  /** The name of what is erased, which has to be typed. */
  readonly name: string;
  /** What the button says. */
  readonly word: string;
  /** What will happen. */
  readonly children: ReactNode;
  readonly onErase: () => Promise<Erasure>;
  /** Lists that show what is erased. */
  readonly stale: readonly (readonly unknown[])[];
}

/** Erases something for good, after a question, and then shows the progress. */
export function EraseButton({ name, word, children, onErase, stale }: EraseButtonProps): ReactElement | null {
  const [isAsked, setAsked] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  if (!useMay('admin')) return null;
  const erase = async (): Promise<void> => {
    await onErase();
    await navigate({ to: '/settings', search: { tab: 'erasures' } });
    await Promise.all(
      [...stale, erasureList.queryKey].map((queryKey) => queries.invalidateQueries({ queryKey: [...queryKey] })),
    );
  };
  return (
    <>
      <Button kind="danger" onClick={() => setAsked(true)}>
        <Eraser size={16} aria-hidden /> {word}
        <span className="sr-only"> {name}</span>
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={`Erase ${name}?`}
          action="Erase for good"
          isDanger
          typed={name}
          onClose={() => setAsked(false)}
          onConfirm={erase}
        >
          {children}
        </ConfirmDialog>
      )}
    </>
  );
}

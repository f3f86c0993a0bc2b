import type { ReactElement } from 'react';
import { Button, type ButtonProps } from '../ui/button.tsx';
import type { UsedCard } from './use-card.ts';

interface CardButtonProps extends ButtonProps {
  readonly card: Pick<UsedCard, 'isBlocked' | 'isDead'>;
  /** True if it can do nothing yet, e.g. without a reason. */
  readonly isOff?: boolean;
}

/**
 * A button that looks disabled but keeps the focus: a disabled one would lose it, and keyboard users would lose their
 * place. After the button has just moved, only pointer clicks are ignored.
 */
export function CardButton({ card, isOff = false, onClick, className = '', ...rest }: CardButtonProps): ReactElement {
  return (
    <Button
      {...rest}
      aria-disabled={isOff || card.isDead}
      className={`flex-1 aria-disabled:opacity-55 wide:flex-none ${className}`}
      onClick={(event) => {
        const isPointer = event.detail > 0;
        if (isOff || (isPointer ? card.isDead : card.isBlocked)) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}

/** Stacked on a narrow screen. */
export const buttonsClass = 'flex flex-col-reverse gap-2 wide:flex-row wide:flex-wrap wide:justify-end';

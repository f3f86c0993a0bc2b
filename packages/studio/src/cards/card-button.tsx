import type { ReactElement } from 'react';
import { Button, type ButtonProps } from '../ui/button.tsx';
import type { UsedCard } from './use-card.ts';

interface CardButtonProps extends ButtonProps {
  readonly card: Pick<UsedCard, 'isBlocked' | 'isDead'>;
  /** It can do nothing as things are, e.g. without a reason. */
  readonly isOff?: boolean;
}

/**
 * A button that says that it is dead and keeps the focus: one that is disabled would lose it, and with it the place of whoever uses
 * the keyboard. Where it has just moved only a pointer can have missed.
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

/** Stacked where the screen is narrow. */
export const buttonsClass = 'flex flex-col-reverse gap-2 wide:flex-row wide:flex-wrap wide:justify-end';

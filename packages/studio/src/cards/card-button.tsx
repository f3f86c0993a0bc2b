import type { ReactElement } from 'react';
import { Button, type ButtonProps } from '../ui/button.tsx';

/**
 * A button that says that it is dead and keeps the focus: one that is disabled would lose it, and with it the place of whoever uses
 * the keyboard.
 */
export function CardButton({
  isDead,
  onClick,
  className = '',
  ...rest
}: ButtonProps & { isDead: boolean }): ReactElement {
  return (
    <Button
      {...rest}
      aria-disabled={isDead}
      className={`flex-1 transition-opacity aria-disabled:opacity-55 wide:flex-none ${className}`}
      onClick={(event) => {
        if (!isDead) onClick?.(event);
      }}
    />
  );
}

/** Stacked where the screen is narrow. */
export const buttonsClass = 'flex flex-col-reverse gap-2 wide:flex-row wide:flex-wrap wide:justify-end';

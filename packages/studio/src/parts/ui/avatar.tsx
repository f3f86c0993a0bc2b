import type { ReactElement } from 'react';
import { initialsOf } from './initials.ts';

interface AvatarProps {
  readonly name: string;
  /** People are round; agents and services have corners. Without it: as for agents. */
  readonly kind?: 'human' | 'agent' | 'service' | undefined;
  readonly size?: 'small' | 'normal' | 'large';
}

/** The initials of a name, which is written beside it. The form says whether it is a person. */
export function Avatar({ name, kind, size = 'normal' }: AvatarProps): ReactElement {
  const look = kind === 'human' ? 'rounded-full bg-selected text-text' : 'rounded bg-text text-surface';
  return (
    <span
      aria-hidden
      className={`inline-flex shrink-0 items-center justify-center overflow-hidden font-semibold select-none ${look} ${SIZES[size]}`}
    >
      {initialsOf(name)}
    </span>
  );
}

const SIZES = { small: 'size-5 text-[0.5625rem]', normal: 'size-8 text-2xs', large: 'size-10 text-sm' } as const;

import type { ComponentProps, ReactElement } from 'react';

export type ButtonKind = 'primary' | 'plain' | 'danger' | 'ghost';

export interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: ButtonKind;
}

/** Does not submit a form unless `type` says so. */
export function Button({ kind = 'plain', className = '', type = 'button', ...rest }: ButtonProps): ReactElement {
  return <button type={type} className={`${BASE} ${LOOK[kind]} ${className}`} {...rest} />;
}

/** For links that look like buttons. */
export function buttonClass(kind: ButtonKind = 'plain'): string {
  return `${BASE} ${LOOK[kind]}`;
}

const BASE =
  'inline-flex min-h-8 items-center justify-center gap-1.5 rounded px-3 py-1 text-base font-medium whitespace-nowrap disabled:opacity-55 pointer-coarse:min-h-11';

const LOOK: Readonly<Record<ButtonKind, string>> = {
  primary: 'bg-text text-surface hover:opacity-85 disabled:bg-selected disabled:text-quiet disabled:opacity-100',
  plain: 'border border-line bg-surface text-text hover:bg-raised',
  danger: 'border border-line bg-surface text-text hover:border-bad hover:bg-bad-soft hover:text-bad',
  ghost: 'text-quiet hover:bg-raised hover:text-text',
};

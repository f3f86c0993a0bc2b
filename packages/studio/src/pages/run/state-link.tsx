import type { MouseEvent, ReactElement, ReactNode } from 'react';
import type { RunChange, RunState } from './use-run-state.ts';

interface StateLinkProps {
  readonly state: RunState;
  readonly change: RunChange;
  readonly isCurrent?: boolean;
  readonly className?: string;
  readonly label?: string | undefined;
  readonly children: ReactNode;
}

/** A link that changes what the page shows. It can be opened in another tab, and shared. */
export function StateLink({
  state,
  change,
  isCurrent = false,
  className,
  label,
  children,
}: StateLinkProps): ReactElement {
  return (
    <a
      href={state.hrefOf(change)}
      aria-current={isCurrent ? 'true' : undefined}
      aria-label={label}
      className={className}
      onClick={(event) => followInPage(event, () => state.set(change))}
    >
      {children}
    </a>
  );
}

/** With a modifier the browser opens the link elsewhere, as people expect. */
export function followInPage(event: MouseEvent, follow: () => void): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
  event.preventDefault();
  follow();
}

/** The class of a link in a group of choices; the chosen one is raised. */
export const choiceClass =
  'inline-flex min-h-7 items-center gap-1 rounded px-2 text-sm whitespace-nowrap text-quiet hover:bg-raised hover:text-text aria-[current=true]:bg-selected aria-[current=true]:font-medium aria-[current=true]:text-text pointer-coarse:min-h-11';

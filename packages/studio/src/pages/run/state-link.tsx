import type { ReactElement, ReactNode } from 'react';
import type { RunChange, RunState } from '../../parts/run/timeline/run-state.ts';
import { followInPage } from '../../parts/ui/follow-in-page.ts';

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

/** The class of a link in a group of choices; the chosen one is raised. */
export const choiceClass =
  'inline-flex min-h-7 items-center gap-1 rounded px-2 text-sm whitespace-nowrap text-quiet hover:bg-raised hover:text-text aria-[current=true]:bg-selected aria-[current=true]:font-medium aria-[current=true]:text-text pointer-coarse:min-h-11';

import type { ReactElement, ReactNode } from 'react';
import { EmptyState } from '../ui/empty-state.tsx';
import { useMay } from './session.tsx';

interface RequiresProps {
  readonly scope: 'admin' | 'write' | 'read';
  /** What it is needed for, e.g. "see the agents". */
  readonly to: string;
  readonly children: ReactNode;
}

/** What somebody may not see is said, and not shown as a page that fails. */
export function Requires({ scope, to, children }: RequiresProps): ReactNode {
  return useMay(scope) ? children : <NotAllowed scope={scope} to={to} />;
}

export function NotAllowed({ scope, to }: Pick<RequiresProps, 'scope' | 'to'>): ReactElement {
  return (
    <EmptyState title={`You may not ${to} here.`}>
      <p>
        It needs the scope <code>{scope}</code>, which this session does not have. Sign in with a key that has it, or
        ask whoever runs the gateway for a link.
      </p>
    </EmptyState>
  );
}

/** In place of a button that would only be refused. */
export function NeedsScope({ scope, to }: Pick<RequiresProps, 'scope' | 'to'>): ReactElement {
  return (
    <p className="text-xs text-quiet">
      To {to} needs the scope <code>{scope}</code>.
    </p>
  );
}

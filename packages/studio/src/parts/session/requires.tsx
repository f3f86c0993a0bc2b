import type { ReactElement, ReactNode } from 'react';
import { EmptyState } from '../ui/empty-state.tsx';
import { useMay } from './session.tsx';

interface RequiresProps {
  readonly scope: 'admin' | 'write' | 'read';
  /** What the scope is needed for, e.g. "see the agents". */
  readonly to: string;
  readonly children: ReactNode;
}

/** Explains that a scope is missing, instead of showing a page that fails. */
export function Requires({ scope, to, children }: RequiresProps): ReactNode {
  return useMay(scope) ? children : <NotAllowed scope={scope} to={to} />;
}

export function NotAllowed({ scope, to }: Pick<RequiresProps, 'scope' | 'to'>): ReactElement {
  return (
    <EmptyState title={`You may not ${to} here.`}>
      <p>
        This needs the scope <code>{scope}</code>, which this session does not have. Sign in with a key that has it, or
        ask the operator of the gateway for a link.
      </p>
    </EmptyState>
  );
}

/** Shown in place of a button that would only be refused. */
export function NeedsScope({ scope, to }: Pick<RequiresProps, 'scope' | 'to'>): ReactElement {
  return (
    <p className="text-xs text-quiet">
      To {to}, you need the scope <code>{scope}</code>.
    </p>
  );
}

import type { Session, SignInLink } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { ReactElement, ReactNode } from 'react';
import { Time } from '../../parts/ui/time.tsx';

type Grant = Session | SignInLink;

/** A session or a sign-in link: for whom, with which scopes, how long. */
export function GrantRow({ grant, children }: { grant: Grant; children: ReactNode }): ReactElement {
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-1 last:border-b-0">
      <bdi className="font-medium">{grantName(grant)}</bdi>
      <span className="text-sm text-quiet">{grant.scopes.length === 0 ? 'no scope' : grant.scopes.join(', ')}</span>
      <span className="min-w-0 flex-1 text-xs text-quiet">
        since <Time at={grant.createdAt} />, until <Time at={grant.expiresAt} />
      </span>
      {children}
    </li>
  );
}

export function grantName({ entity }: Grant): string {
  return withVisibleControls(entity?.displayName ?? 'an operator');
}

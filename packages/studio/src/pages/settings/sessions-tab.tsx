import type { Session } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { sessionList } from '../../data/settings.ts';
import { Requires } from '../../session/requires.tsx';
import { useSession } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

export function SessionsTab(): ReactElement {
  return (
    <Requires scope="admin" to="see who is signed in">
      <Sessions />
    </Requires>
  );
}

function Sessions(): ReactElement {
  const { data: sessions = [], error, refetch } = useQuery(sessionList);
  const [ended, setEnded] = useState<Session | undefined>();
  const { session: mine } = useSession();
  return (
    <Section title="Browsers that are signed in">
      {error !== null && <ErrorNote error={error} retry={() => void refetch()} />}
      <ul aria-label="Sessions" className="flex flex-col">
        {sessions.map((session) => (
          <li
            key={session.id}
            className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-1 last:border-b-0"
          >
            <bdi className="font-medium">{nameOf(session)}</bdi>
            <span className="text-sm text-quiet">
              {session.scopes.length === 0 ? 'no scope' : session.scopes.join(', ')}
            </span>
            <span className="min-w-0 flex-1 text-xs text-quiet">
              since <Time at={session.createdAt} />, until <Time at={session.expiresAt} />
            </span>
            {session.id === mine.id ? (
              <span className="text-xs font-medium text-accent">this browser</span>
            ) : (
              <Button kind="danger" onClick={() => setEnded(session)}>
                Revoke<span className="sr-only"> the session of {nameOf(session)}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
      {ended !== undefined && <EndSession ended={ended} onClose={() => setEnded(undefined)} />}
    </Section>
  );
}

function EndSession({ ended, onClose }: { ended: Session; onClose: () => void }): ReactElement {
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title={`Sign ${nameOf(ended)} out?`}
      action="Revoke"
      isDanger
      onClose={onClose}
      onConfirm={async () => {
        await client.session.end(ended.id);
        await queries.invalidateQueries({ queryKey: sessionList.queryKey });
      }}
    >
      <p>That browser can do nothing more, from now on. What was sent from it stays.</p>
    </ConfirmDialog>
  );
}

function nameOf({ entity }: Session): string {
  return withVisibleControls(entity?.displayName ?? 'an operator');
}

import type { Session } from '@lastcall/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { linkList, sessionList } from '../../data/settings.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { useSession } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { GrantRow, grantName } from './grant-row.tsx';
import { LinksSection } from './links-section.tsx';

export function SessionsTab(): ReactElement {
  return (
    <Requires scope="admin" to="see who is signed in">
      <Sessions />
      <LinksSection />
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
          <GrantRow key={session.id} grant={session}>
            {session.id === mine.id ? (
              <span className="text-xs font-medium text-text">this browser</span>
            ) : (
              <Button kind="danger" onClick={() => setEnded(session)}>
                Revoke<span className="sr-only"> the session of {grantName(session)}</span>
              </Button>
            )}
          </GrantRow>
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
      title={`Sign ${grantName(ended)} out?`}
      action="Revoke"
      isDanger
      onClose={onClose}
      onConfirm={async () => {
        await client.session.end(ended.id);
        await queries.invalidateQueries({ queryKey: sessionList.queryKey });
        await queries.invalidateQueries({ queryKey: linkList.queryKey });
      }}
    >
      <p>
        That browser is signed out at once, and so are those that it created links for. Its messages and answers stay.
      </p>
    </ConfirmDialog>
  );
}

import type { SignInLink } from '@lastcall/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { linkList } from '../../data/settings.ts';
import { Button } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { GrantRow, grantName } from './grant-row.tsx';

/** The sign-in links that still work. Without any, the section is hidden. */
export function LinksSection(): ReactElement | null {
  const { data: links = [], error, refetch } = useQuery(linkList);
  const [revoked, setRevoked] = useState<SignInLink | undefined>();
  if (links.length === 0 && error === null) return null;
  return (
    <Section title="Links that were not used yet">
      {error !== null && <ErrorNote error={error} retry={() => void refetch()} />}
      <ul aria-label="Links" className="flex flex-col">
        {links.map((link) => (
          <GrantRow key={link.id} grant={link}>
            <Button kind="danger" onClick={() => setRevoked(link)}>
              Revoke<span className="sr-only"> the link for {grantName(link)}</span>
            </Button>
          </GrantRow>
        ))}
      </ul>
      {revoked !== undefined && <RevokeLink link={revoked} onClose={() => setRevoked(undefined)} />}
    </Section>
  );
}

function RevokeLink({ link, onClose }: { link: SignInLink; onClose: () => void }): ReactElement {
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title={`Revoke the link for ${grantName(link)}?`}
      action="Revoke"
      isDanger
      onClose={onClose}
      onConfirm={async () => {
        await client.links.revoke(link.id);
        await queries.invalidateQueries({ queryKey: linkList.queryKey });
      }}
    >
      <p>The link stops working at once.</p>
    </ConfirmDialog>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Navigate, useParams } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { callDetails } from '../../data/calls.ts';
import { useMay } from '../../parts/session/session.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Page } from '../../parts/ui/page.tsx';

/** The page of a shared link, e.g. of a notification. A user who may not see runs gets the card of the call, in the inbox. */
export function CallPage(): ReactElement {
  const { id } = useParams({ from: '/calls/$id' });
  return useMay('read') ? <CallInRun id={id} /> : <Navigate to="/inbox" search={{ call: id }} replace />;
}

function CallInRun({ id }: { id: string }): ReactElement {
  const { data, error, refetch } = useQuery(callDetails(id));
  if (data !== undefined) return <Navigate to="/runs/$id" params={{ id: data.runId }} search={{ call: id }} replace />;
  return (
    <Page title="Call">
      {error !== null && <ErrorNote error={error} title="This call cannot be shown." retry={() => void refetch()} />}
    </Page>
  );
}

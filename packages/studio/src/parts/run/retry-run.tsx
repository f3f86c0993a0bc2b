import type { Run } from '@lastcall/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { deadEventsOf, redriveRun } from '../../data/runs.ts';
import { useMay } from '../session/session.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';

/** Retries what woke a failed run, for those who may. Nothing if the agent has tried it since, or will by itself. */
export function RetryRun({ run }: { run: Pick<Run, 'id' | 'agentId'> }): ReactElement | null {
  const mayTry = useMay('write');
  const { data: dead } = useQuery({ ...deadEventsOf(run), enabled: mayTry });
  const queries = useQueryClient();
  const { mutate, error, isPending, isSuccess } = useMutation({
    mutationFn: () => redriveRun(run.id),
    onSuccess: async () => await queries.invalidateQueries({ queryKey: ['runs', run.id, 'story'] }),
  });
  if (isSuccess) return <p role="status">It was asked to try again.</p>;
  if (!mayTry || dead === undefined || dead === 0) return null;
  return (
    <>
      {error !== null && <ErrorNote error={error} title="The retry was not started." />}
      <p>
        <Button disabled={isPending} onClick={() => mutate()}>
          {isPending ? 'Asking …' : 'Try again'}
        </Button>
      </p>
    </>
  );
}

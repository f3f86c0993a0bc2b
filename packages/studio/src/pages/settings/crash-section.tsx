import { useMutation, useQuery } from '@tanstack/react-query';
import { Zap } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { crashGateway } from '../../data/crash.ts';
import { gatewayStatus } from '../../data/status.ts';
import { useMay } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Section } from '../../ui/page.tsx';

/** Of the demo alone: shows what a crash costs. `gatewayId` is that of the process that runs now. */
export function CrashSection({ gatewayId }: { gatewayId: string }): ReactElement | null {
  const [killed, setKilled] = useState<string | undefined>();
  const { mutate, error, isPending } = useMutation({ mutationFn: crashGateway, onSuccess: () => setKilled(gatewayId) });
  // This page has no stream that would tell when it is back.
  useQuery({ ...gatewayStatus, refetchInterval: killed === gatewayId ? 500 : false });
  if (!useMay('admin')) return null;
  return (
    <Section title="Crash it">
      <p className="max-w-prose">
        Kills the process with SIGKILL, at once. It is started again, and another worker goes on where the dead one was.
        To see it, approve a payment in Accounts and crash the gateway within five seconds: the payment is made once,
        and its run tells of the hand-over.
      </p>
      <div className="flex flex-wrap items-center gap-3">
        <Button kind="danger" disabled={isPending || killed === gatewayId} onClick={() => mutate()}>
          <Zap size={16} aria-hidden /> Crash the gateway
        </Button>
        <span role="status" className="text-quiet">
          {killed !== undefined &&
            (killed === gatewayId ? 'It was killed, and is starting again.' : 'It is back, as another process.')}
        </span>
      </div>
      {error !== null && <ErrorNote error={error} title="It runs on." />}
    </Section>
  );
}

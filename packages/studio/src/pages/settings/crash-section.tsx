import { useMutation, useQuery } from '@tanstack/react-query';
import { Zap } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { crashGateway } from '../../data/crash.ts';
import { gatewayStatus } from '../../data/status.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Section } from '../../parts/ui/page.tsx';

/** Only in the demo: shows what a crash costs. `gatewayId` is that of the current process. */
export function CrashSection({ gatewayId }: { gatewayId: string }): ReactElement | null {
  const [killed, setKilled] = useState<string | undefined>();
  const { mutate, error, isPending } = useMutation({ mutationFn: crashGateway, onSuccess: () => setKilled(gatewayId) });
  // This page has no stream that would report when the gateway is back.
  useQuery({ ...gatewayStatus, refetchInterval: killed === gatewayId ? 500 : false });
  if (!useMay('admin')) return null;
  return (
    <Section title="Crash it">
      <p className="max-w-prose">
        Kills the process with SIGKILL. It is restarted, and another worker continues where the dead one stopped. To see
        it, approve a payment in Accounts and crash the gateway within five seconds: the payment is made once, and its
        run shows the takeover.
      </p>
      <div className="flex flex-wrap items-center gap-3">
        <Button kind="danger" disabled={isPending || killed === gatewayId} onClick={() => mutate()}>
          <Zap size={16} aria-hidden /> Crash the gateway
        </Button>
        <span role="status" className="text-quiet">
          {killed !== undefined &&
            (killed === gatewayId
              ? 'The gateway was killed and is restarting.'
              : 'The gateway is back, as a new process.')}
        </span>
      </div>
      {error !== null && <ErrorNote error={error} title="The gateway was not killed." />}
    </Section>
  );
}

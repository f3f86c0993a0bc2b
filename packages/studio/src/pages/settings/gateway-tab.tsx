import type { Status } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactElement } from 'react';
import { modelList } from '../../data/models.ts';
import { gatewayStatus } from '../../data/status.ts';
import { useMay } from '../../parts/session/session.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Fact, Facts } from '../../parts/ui/facts.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { CrashSection } from './crash-section.tsx';

/** What runs here, and what is misconfigured. */
export function GatewayTab(): ReactElement | null {
  const { data: status, error, refetch } = useQuery(gatewayStatus);
  const mayRead = useMay('read');
  if (status === undefined)
    return error === null ? null : (
      <ErrorNote error={error} title="The gateway’s status could not be loaded." retry={() => void refetch()} />
    );
  return (
    <>
      <Problems status={status} />
      <Section title="Gateway">
        <Facts>
          <Fact name="Version">{status.version}</Fact>
          <Fact name="Model">
            {withVisibleControls(status.model.name)}
            <span className="text-quiet">: {withVisibleControls(status.model.why)}</span>
            {status.model.howToSet !== undefined && (
              <span className="block">{withVisibleControls(status.model.howToSet)}</span>
            )}
          </Fact>
          {status.store !== undefined && <Fact name="Store">{withVisibleControls(status.store)}</Fact>}
          <Counts status={status} />
          {status.gatewayId !== undefined && (
            <Fact name="Id">
              <code className="font-mono text-xs">{status.gatewayId}</code>
            </Fact>
          )}
        </Facts>
      </Section>
      {status.canCrash === true && status.gatewayId !== undefined && <CrashSection gatewayId={status.gatewayId} />}
      {mayRead && <Models />}
    </>
  );
}

function Problems({ status: { problems } }: { status: Status }): ReactElement | null {
  if (problems === undefined) return null;
  if (problems.length === 0)
    return (
      <p className="flex items-center gap-2 text-ok">
        <CircleCheck size={16} aria-hidden /> Nothing is set up wrong.
      </p>
    );
  return (
    <section aria-label="Set up wrong" className="flex flex-col gap-2 rounded-card border border-line bg-wait-soft p-4">
      <h2 className="text-xl font-semibold">To fix</h2>
      <ul className="flex flex-col gap-2">
        {problems.map((problem) => (
          <li key={problem} className="flex gap-2">
            <TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-wait" />
            {withVisibleControls(problem)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Counts({ status: { counts } }: { status: Status }): ReactElement | null {
  if (counts === undefined) return null;
  const link = 'link';
  return (
    <Fact name="Now">
      <span className="flex flex-wrap gap-x-4">
        <Link to="/agents" className={link}>
          agents {counts.agents.toLocaleString()}
        </Link>
        <Link to="/inbox" className={link}>
          calls that wait {counts.waitingCalls.toLocaleString()}
        </Link>
        {/* Their runs have failed, also those of conversations and forks, which are in no agent's inbox. */}
        <Link to="/runs" search={{ status: 'failed' }} className={counts.deadEvents > 0 ? 'text-bad underline' : link}>
          dead events {counts.deadEvents.toLocaleString()}
        </Link>
      </span>
    </Fact>
  );
}

function Models(): ReactElement | null {
  const { data: models = [] } = useQuery(modelList);
  if (models.length === 0) return null;
  return (
    <Section title="Models">
      <ul className="flex flex-col">
        {models.map(({ name, usable, why }) => (
          <li key={name} className="flex flex-wrap gap-x-4 border-b border-line py-2 last:border-b-0">
            <span className="w-60 font-mono text-xs leading-5">{withVisibleControls(name)}</span>
            <span className={`min-w-0 flex-1 basis-60 text-sm ${usable ? 'text-ok' : 'text-quiet'}`}>
              {usable ? 'can be used' : withVisibleControls(why ?? 'cannot be used')}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

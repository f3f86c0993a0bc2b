import type { Agent, AgentConfig, Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useState } from 'react';
import { useIsMachine } from '../../data/definitions.ts';
import { attemptsOf } from '../../data/runs.ts';
import { gatewayStatus } from '../../data/status.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button, buttonClass } from '../../parts/ui/button.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { duration, useNow } from '../../parts/ui/time.tsx';
import { costInWords, workerName } from './call-words.ts';
import { ComparePicker } from './compare-picker.tsx';
import { contextOf } from './context-of.ts';
import { ExactTime } from './exact-time.tsx';
import { ForkLines } from './fork-lines.tsx';
import { StatusMark } from '../../parts/run/status-mark.tsx';
import { defaultOf, statusInWords } from '../../parts/run/stop-sentence.ts';
import { triggerInWords } from '../../parts/run/trigger-words.ts';
import { tokensInWords, usageTitle } from '../../parts/run/usage-words.ts';

interface RunHeaderProps {
  readonly run: Run;
  readonly agent: Agent | undefined;
  readonly config: AgentConfig | undefined;
  readonly steps: number;
  readonly cancel: () => Promise<void>;
  readonly children?: ReactNode;
}

/** The agent of the run, its state and the reason, what woke it, when, how long, and what it cost. */
export function RunHeader({ run, agent, config, steps, cancel, children }: RunHeaderProps): ReactElement {
  return (
    <header className="flex flex-col gap-1 border-b border-line bg-surface px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="text-xl font-semibold">
          Run {run.number} <span className="sr-only">of</span>
        </h1>
        <Link to="/agents/$id" params={{ id: run.agentId }} search={{}} className="text-lg text-accent hover:underline">
          <bdi>{agent?.name ?? 'a deleted agent'}</bdi>
        </Link>
        <span className="ml-auto flex flex-wrap gap-2">
          {children}
          {run.retryOf !== undefined && (
            <Link to="/runs/$id/compare/$other" params={{ id: run.retryOf, other: run.id }} className={buttonClass()}>
              Compare with attempt {run.attempt - 1}
            </Link>
          )}
          <ComparePicker run={run} />
          <CancelRun run={run} cancel={cancel} />
        </span>
      </div>
      <Status run={run} agent={agent} config={config} steps={steps} />
      <Trigger run={run} />
      <ForkLines run={run} />
      <Figures run={run} agent={agent} />
    </header>
  );
}

function Status({ run, agent, config, steps }: Omit<RunHeaderProps, 'cancel'>): ReactElement {
  const { text, setting, value } = statusInWords(run, { config, steps });
  const { data: status } = useQuery({ ...gatewayStatus, enabled: setting !== undefined && value === undefined });
  const standard = defaultOf(setting, status);
  return (
    <p className="flex flex-wrap items-center gap-x-2">
      <StatusMark run={run} />
      <span dir="auto">{withVisibleControls(text)}</span>
      {setting !== undefined && (
        <span className="text-quiet">
          {value === undefined
            ? `The gateway’s default${standard === undefined ? '' : ` of ${standard.toLocaleString()}`} counts; set `
            : `It is set to ${value.toLocaleString()} as `}
          <Link
            to="/agents/$id"
            params={{ id: run.agentId }}
            search={{ tab: 'config' }}
            className="font-mono text-xs text-accent underline"
          >
            {setting}
          </Link>{' '}
          {value === undefined ? 'of ' : 'in the configuration of '}
          <bdi>{agent?.name ?? 'the agent'}</bdi>.
        </span>
      )}
    </p>
  );
}

function Trigger({ run: { trigger } }: { run: Run }): ReactElement {
  const spaceId = trigger.find((one) => one.spaceId !== undefined)?.spaceId;
  const callId = trigger.find((one) => one.callId !== undefined)?.callId;
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-2">
      <span dir="auto" className="min-w-0 truncate">
        {withVisibleControls(triggerInWords(trigger))}
      </span>
      {spaceId !== undefined && (
        <Link to="/spaces/$id" params={{ id: spaceId }} search={{}} className="text-sm text-accent hover:underline">
          open the space
        </Link>
      )}
      {callId !== undefined && (
        <Link to="/calls/$id" params={{ id: callId }} className="text-sm text-accent hover:underline">
          open the call
        </Link>
      )}
    </p>
  );
}

function Figures({ run, agent }: { run: Run; agent: Agent | undefined }): ReactElement {
  const { createdAt, usage, cost, model, mode, configVersion } = run;
  return (
    <ul className="flex flex-wrap gap-x-3 text-sm text-quiet tabular-nums">
      <li>
        <ExactTime at={createdAt} />
      </li>
      <li>
        <Lasted run={run} />
      </li>
      {usage !== undefined && <li title={usageTitle(usage)}>{tokensInWords(usage)} tokens</li>}
      {cost !== undefined && <li>cost {costInWords(cost)}</li>}
      {model !== undefined && (
        <li>
          <bdi>{model}</bdi>
        </li>
      )}
      {mode !== undefined && (
        <li>
          mode <bdi>{withVisibleControls(mode)}</bdi>
        </li>
      )}
      <MachineLink run={run} agent={agent} />
      <li>
        <Link to="/agents/$id" params={{ id: run.agentId }} search={{ tab: 'config' }} className="hover:underline">
          configuration v{configVersion}
          {agent !== undefined && agent.configVersion !== configVersion && ` (now v${agent.configVersion})`}
        </Link>
      </li>
      {run.worker !== undefined && (
        <li title={run.worker}>
          worker <bdi>{workerName(run.worker)}</bdi>
        </li>
      )}
      <Attempts run={run} />
    </ul>
  );
}

/** Leads to the machine of the run's conversation, or of the agent itself. */
function MachineLink({ run, agent }: { run: Run; agent: Agent | undefined }): ReactElement | null {
  const context = contextOf(run);
  if (!useIsMachine(agent)) return null;
  return (
    <li>
      <Link
        to="/agents/$id"
        params={{ id: run.agentId }}
        search={context === undefined ? { tab: 'machine' } : { tab: 'machine', context }}
        className="hover:underline"
      >
        machine
      </Link>
    </li>
  );
}

function Lasted({ run: { createdAt, endedAt } }: { run: Run }): ReactElement {
  return endedAt === undefined ? <Lasting since={createdAt} /> : <span>{duration(endedAt - createdAt)}</span>;
}

function Lasting({ since }: { since: number }): ReactElement {
  return <>{duration(Math.max(0, useNow() - since))} so far</>;
}

/** All attempts for the event that woke it. */
function Attempts({ run }: { run: Run }): ReactElement | null {
  const isAlone = run.attempt <= 1 && run.status !== 'failed';
  const { data: runs = [] } = useQuery({ ...attemptsOf(run), enabled: !isAlone });
  if (runs.length < 2) return null;
  return (
    <li className="flex gap-2">
      <span>attempt</span>
      {runs.map(({ id, attempt }) =>
        id === run.id ? (
          <span key={id} aria-current="true" className="font-medium text-text">
            {attempt}
          </span>
        ) : (
          <Link key={id} to="/runs/$id" params={{ id }} search={{}} className="text-accent underline">
            <span className="sr-only">Attempt </span>
            {attempt}
          </Link>
        ),
      )}
    </li>
  );
}

function CancelRun({ run, cancel }: { run: Run; cancel: () => Promise<void> }): ReactElement | null {
  const mayWrite = useMay('write');
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  if (!mayWrite || (run.status !== 'running' && run.status !== 'queued')) return null;
  const isAccepted = run.cancelRequestedAt !== undefined;
  const send = (): void => {
    cancel().then(() => setAsking(false), setError);
  };
  return (
    <>
      <Button kind="danger" disabled={isAccepted} onClick={() => setAsking(true)}>
        {isAccepted ? 'Cancelling' : 'Cancel run'}
      </Button>
      {isAsking && (
        <Dialog title="Cancel this run?" onClose={() => setAsking(false)}>
          <div className="flex flex-col gap-3">
            <p>
              Its request to the model and its running tools are aborted. Calls that have not started never start.
              Committed changes stay.
            </p>
            {error !== undefined && <ErrorNote error={error} title="It was not cancelled." />}
            <p className="flex justify-end gap-2">
              <Button onClick={() => setAsking(false)}>Let it run</Button>
              <Button kind="danger" onClick={send}>
                Cancel it
              </Button>
            </p>
          </div>
        </Dialog>
      )}
    </>
  );
}

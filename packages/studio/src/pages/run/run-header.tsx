import type { Agent, AgentConfig, Run, Story, Usage } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useState } from 'react';
import { useIsMachine } from '../../data/definitions.ts';
import { attemptsOf } from '../../data/runs.ts';
import { gatewayStatus } from '../../data/status.ts';
import { workerName } from '../../parts/run/call-words.ts';
import { StatusMark } from '../../parts/run/status-mark.tsx';
import { defaultOf, statusInWords } from '../../parts/run/stop-sentence.ts';
import { ExactTime } from '../../parts/run/timeline/exact-time.tsx';
import { addUsage, tokensInWords, usageTitle } from '../../parts/run/usage-words.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button, buttonClass } from '../../parts/ui/button.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { headingClass, wholeHeaderClass } from '../../parts/ui/page.tsx';
import { duration, useNow } from '../../parts/ui/time.tsx';
import { Cost } from '../../parts/usage/cost.tsx';
import { CaseButton } from './case-dialog.tsx';
import { ComparePicker } from './compare-picker.tsx';
import { contextOf } from './context-of.ts';
import { ForkLines } from './fork-lines.tsx';
import { askedInWords, taskInWords } from './task-words.ts';

interface RunHeaderProps {
  readonly run: Run;
  readonly story: Story;
  /** Undefined until it is known, and null if it was deleted. */
  readonly agent: Agent | null | undefined;
  readonly config: AgentConfig | undefined;
  readonly steps: number;
  readonly cancel: () => Promise<void>;
  readonly children?: ReactNode;
}

/** The words of the task, its state and the reason, who asked, when, how long, and what it cost. */
export function RunHeader({ run, story, agent, config, steps, cancel, children }: RunHeaderProps): ReactElement {
  return (
    <header className={`flex flex-col gap-1 ${wholeHeaderClass}`}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 dir="auto" className={`line-clamp-3 min-w-0 flex-1 basis-64 break-words ${headingClass}`}>
          {withVisibleControls(taskInWords(story))}
        </h1>
        <span className="flex flex-wrap gap-2">
          {children}
          {run.retryOf !== undefined && (
            <Link to="/runs/$id/compare/$other" params={{ id: run.retryOf, other: run.id }} className={buttonClass()}>
              Compare with {run.attempt > 1 ? `attempt ${run.attempt - 1}` : 'the attempt before'}
            </Link>
          )}
          <ComparePicker run={run} />
          <CaseButton run={run} agentName={agent?.name} />
          <CancelRun run={run} cancel={cancel} />
        </span>
      </div>
      <Status run={decisiveRun(story) ?? run} agent={agent} config={config} steps={steps} />
      <Trigger run={run} story={story} agent={agent} />
      <ForkLines run={run} />
      <Figures run={run} story={story} agent={agent} />
    </header>
  );
}

/** The run that decides how the task stands. */
function decisiveRun({ runs, status }: Story): Run | undefined {
  return runs.findLast((run) => run.status === status);
}

function Status({ run, agent, config, steps }: Omit<RunHeaderProps, 'cancel' | 'story'>): ReactElement {
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
            className="font-mono text-xs link"
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

/** Who asked which agent, and which run of the task this is. */
function Trigger({ run, story, agent }: Pick<RunHeaderProps, 'run' | 'story' | 'agent'>): ReactElement {
  const { runs } = story;
  const trigger = runs[0]?.trigger ?? run.trigger;
  const spaceId = trigger.find((one) => one.spaceId !== undefined)?.spaceId;
  const callId = run.trigger.find((one) => one.callId !== undefined)?.callId;
  const place = runs.findIndex(({ id }) => id === run.id) + 1;
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-2">
      <span>
        <bdi>{withVisibleControls(askedInWords(story))}</bdi> asked{' '}
        <Link to="/agents/$id" params={{ id: run.agentId }} search={{}} className="link">
          <bdi>{agent === null ? 'a deleted agent' : withVisibleControls(agent?.name ?? 'an agent')}</bdi>
        </Link>
      </span>
      <span className="text-sm text-quiet">
        run {run.number}
        {story.truncated === true && `, of a task of more than ${runs.length} runs`}
        {story.truncated !== true && runs.length > 1 && `, ${place} of ${runs.length} of this task`}
      </span>
      {spaceId !== undefined && (
        <Link to="/spaces/$id" params={{ id: spaceId }} search={{}} className="text-sm link">
          open the space
        </Link>
      )}
      {callId !== undefined && (
        <Link to="/calls/$id" params={{ id: callId }} className="text-sm link">
          open the call
        </Link>
      )}
    </p>
  );
}

/** What all runs of the task used and cost together. Not known of a task that has more runs than its story. */
function totalsOf({ runs, truncated }: Story): {
  readonly usage: Usage | undefined;
  readonly cost: number | undefined;
} {
  if (truncated === true) return { usage: undefined, cost: undefined };
  const used = runs.flatMap(({ usage }) => usage ?? []);
  const costs = runs.flatMap(({ cost }) => cost ?? []);
  return {
    usage: used.length === 0 ? undefined : used.reduce(addUsage),
    cost:
      costs.length < used.length
        ? undefined
        : costs.reduce<number | undefined>((sum = 0, cost) => sum + cost, undefined),
  };
}

function Figures({ run, story, agent }: Pick<RunHeaderProps, 'run' | 'story' | 'agent'>): ReactElement {
  const { model, mode, configVersion } = run;
  const { usage, cost } = totalsOf(story);
  return (
    <ul className="flex flex-wrap gap-x-3 text-sm text-quiet tabular-nums">
      <li>
        <ExactTime at={story.startedAt} />
      </li>
      <li>
        <Lasted story={story} />
      </li>
      {usage !== undefined && <li title={usageTitle(usage)}>{tokensInWords(usage)} tokens</li>}
      {cost !== undefined && (
        <li>
          cost <Cost of={cost} />
        </li>
      )}
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
      <MachineLink run={run} agent={agent ?? undefined} />
      <li>
        <Link to="/agents/$id" params={{ id: run.agentId }} search={{ tab: 'config' }} className="hover:underline">
          configuration v{configVersion}
          {agent != null && agent.configVersion !== configVersion && ` (now v${agent.configVersion})`}
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

function Lasted({ story: { startedAt, endedAt } }: { story: Story }): ReactElement {
  return endedAt === undefined ? <Lasting since={startedAt} /> : <span>{duration(endedAt - startedAt)}</span>;
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
          <Link key={id} to="/runs/$id" params={{ id }} search={{}} className="link">
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

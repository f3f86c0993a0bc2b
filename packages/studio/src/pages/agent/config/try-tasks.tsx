import type { AgentConfig, ForkChanges, Task } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { draftOf, lastTasks, TRIED_TASKS, type TriedTask, triedTask } from '../../../data/try-draft.ts';
import { Button } from '../../../parts/ui/button.tsx';
import { Dialog } from '../../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../../parts/ui/error-note.tsx';
import { LineDiff } from '../../../parts/ui/line-diff.tsx';

interface TryTasksProps {
  readonly agentId: string;
  /** The configuration that is not saved yet. */
  readonly draft: Partial<AgentConfig>;
}

/** Tries a configuration on the last tasks of the agent before it is saved, and shows what differs. */
export function TryTasks({ agentId, draft }: TryTasksProps): ReactElement {
  // What is tried stays as it was when the button was pressed.
  const [tried, setTried] = useState<ForkChanges>();
  return (
    <>
      <Button onClick={() => setTried(draftOf(draft))}>
        <FlaskConical size={16} aria-hidden /> Try on the last tasks
      </Button>
      {tried !== undefined && (
        <Dialog title={`The last ${TRIED_TASKS} tasks with this draft`} onClose={() => setTried(undefined)}>
          <Tasks agentId={agentId} draft={tried} />
        </Dialog>
      )}
    </>
  );
}

function Tasks({ agentId, draft }: { agentId: string; draft: ForkChanges }): ReactElement | null {
  const { data: tasks, error, refetch } = useQuery(lastTasks(agentId));
  if (tasks === undefined)
    return error === null ? null : (
      <ErrorNote error={error} title="The tasks could not be read." retry={() => void refetch()} />
    );
  if (tasks.length === 0) return <p className="text-quiet">The agent has not completed a task yet.</p>;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-quiet">
        Each task is done again from its first step. Calls that it made get the recorded outcomes, and nothing acts
        outside.
      </p>
      <ul aria-label="Tasks" className="flex max-h-[60vh] flex-col overflow-y-auto">
        {tasks.map((task) => (
          <TaskRow key={task.runId} task={task} draft={draft} />
        ))}
      </ul>
    </div>
  );
}

function TaskRow({ task, draft }: { task: Task; draft: ForkChanges }): ReactElement {
  const { data: now, error } = useQuery(triedTask(task, draft));
  return (
    <li className="flex flex-col gap-1 border-t border-line py-2 first:border-t-0">
      <p dir="auto" className="line-clamp-2 font-medium">
        {withVisibleControls(task.input)}
      </p>
      {error !== null && <ErrorNote error={error} title="It was not tried." />}
      {now === undefined && error === null && (
        <p role="status" className="text-sm text-quiet">
          Running …
        </p>
      )}
      {now !== undefined && <Difference task={task} now={now} />}
    </li>
  );
}

function Difference({ task, now }: { task: Task; now: TriedTask }): ReactElement {
  const isSame = task.response === now.response;
  const [before, after] = [namesOf(task.calls), namesOf(now.calls)];
  return (
    <>
      {now.problem !== undefined && <p className="text-sm text-bad">{withVisibleControls(now.problem)}</p>}
      {now.problem === undefined && isSame && <p className="text-sm text-quiet">The answer is the same.</p>}
      {now.problem === undefined && !isSame && (
        <LineDiff label="Answer before and now" before={task.response ?? ''} after={now.response ?? ''} />
      )}
      <p className="flex flex-wrap gap-x-3 text-xs text-quiet tabular-nums">
        {before !== after && <span className="text-wait">{`calls: ${before} → ${after}`}</span>}
        {task.tokens !== undefined && now.tokens !== undefined && (
          <span>{`tokens: ${task.tokens.toLocaleString()} → ${now.tokens.toLocaleString()}`}</span>
        )}
        <Link
          to="/runs/$id/compare/$other"
          params={{ id: task.runId, other: now.runId }}
          target="_blank"
          className="link"
        >
          compare the runs
        </Link>
      </p>
    </>
  );
}

function namesOf(calls: Task['calls']): string {
  return calls.map(({ toolName }) => toolName).join(', ') || 'none';
}

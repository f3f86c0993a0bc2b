import type { Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { StatusMark } from './status-mark.tsx';
import { statusInWords } from './stop-sentence.ts';
import { triggerInWords } from './trigger-words.ts';
import { useAgentName } from './use-agent-name.ts';

/** What woke a run, in a line of a list. */
export function RunTrigger({ run }: { run: Run }): ReactElement {
  return (
    <span dir="auto" className="truncate font-medium">
      {withVisibleControls(triggerInWords(run))}
    </span>
  );
}

/** The agent and the number of the run: "Clerk, run 3, attempt 2". */
export function RunName({ run }: { run: Run }): ReactElement {
  const name = useAgentName(run);
  return (
    <>
      <bdi>{withVisibleControls(name)}</bdi>, run {run.number}
      {run.attempt > 1 && `, attempt ${run.attempt}`}
    </>
  );
}

/** The state of a run, with its icon. It says why the run ended only if the run did not simply complete: most runs do. */
export function RunStatus({ run }: { run: Run }): ReactElement {
  const { text } = statusInWords(run);
  return (
    <>
      <StatusMark run={run} />
      <span dir="auto" className="truncate" title={text}>
        {withVisibleControls(text.startsWith('completed') ? 'completed' : text)}
      </span>
    </>
  );
}

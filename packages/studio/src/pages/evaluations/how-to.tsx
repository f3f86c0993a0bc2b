import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { agentList } from '../../data/agents.ts';
import { CopyText } from '../../parts/ui/copy-text.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';

/** Says how results come here. `name` is that of the evaluation: at first, that of the agent. */
export function HowTo({ title, name }: { title: string; name?: string }): ReactElement {
  const { data: agents = [] } = useQuery(agentList);
  const agent = (agents.find((one) => one.name === name) ?? agents[0])?.name ?? 'Desk';
  return (
    <EmptyState title={title}>
      <p>
        An evaluation gives tasks to an agent and scores what it does, so that a changed prompt shows what it breaks.
      </p>
      <ol className="flex list-decimal flex-col gap-2 pl-5">
        <li>Open a run, and store it with “Make a case …”: what was asked, and the answer that you expect.</li>
        <li>
          Write a file <code>desk.eval.js</code> beside your configuration:
          <pre className="mt-1 overflow-x-auto rounded bg-raised p-2 font-mono text-xs text-text">{`import { contains, evaluate } from '@lastcall/core/eval';

await evaluate({
  agent: ${JSON.stringify(agent)},
  cases: ${JSON.stringify(name ?? agent)},
  scores: { answer: contains() },
});`}</pre>
        </li>
        <li className="flex flex-col gap-1">
          Run it, and send the results here:
          <CopyText label="Command" text="lastcall eval desk.eval.js --send" />
        </li>
      </ol>
      <p>Cases of recorded runs get the recorded outcomes: nothing acts outside.</p>
    </EmptyState>
  );
}

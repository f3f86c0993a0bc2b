import type { RunEntry } from '@lastcall/client';
import type { ReactElement } from 'react';
import { tokensInWords } from '../../parts/run/usage-words.ts';
import { SafeText } from '../../parts/text/safe-text.tsx';
import { Cost } from '../../parts/usage/cost.tsx';

type SubAgentTurn = NonNullable<RunEntry['subAgents']>[number];

/** What a sub-agent did during the call: its steps, their calls, and what they cost. */
export function SubAgentNote({ turn }: { turn: SubAgentTurn }): ReactElement {
  const { usage, cost, steps } = turn;
  return (
    <section aria-label="Sub-agent" className="flex flex-col gap-1 border-l border-line pl-3">
      <p className="text-quiet">
        Sub-agent: {steps.length} {steps.length === 1 ? 'step' : 'steps'}, {tokensInWords(usage)} tokens
        {cost !== undefined && (
          <>
            , cost <Cost of={cost} />
          </>
        )}
      </p>
      <ol className="flex flex-col gap-1">
        {steps.map(({ step, text, model, calls }) => (
          <li key={step}>
            <p className="text-xs text-quiet">
              step {step}
              {model !== undefined && `, ${model}`}
            </p>
            {text !== '' && <SafeText text={text} />}
            {calls.map((call) => (
              <p key={call.callId}>
                <span className="font-medium">{call.toolName}</span>{' '}
                <span className="text-quiet">{call.status ?? 'did not end'}</span>{' '}
                <SafeText text={call.output ?? call.input} />
              </p>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

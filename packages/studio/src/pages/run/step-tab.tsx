import type { StepRow } from '@lastcall/client/timeline';
import type { ReactElement } from 'react';
import { usageTitle } from '../../parts/run/usage-words.ts';
import { Markdown } from '../../parts/text/markdown.tsx';
import { Fact, Facts } from '../../parts/ui/facts.tsx';
import { Cost } from '../../parts/usage/cost.tsx';

/** The text of the model's reply in a step, and its cost. */
export function StepTab({ row }: { row: StepRow }): ReactElement {
  const { text, usage, cost, model, attempts, finishReason, calls } = row;
  return (
    <div className="flex flex-col gap-3">
      {text === '' ? <p className="text-quiet">It wrote no text, only calls.</p> : <Markdown text={text} />}
      <Facts>
        {model !== undefined && (
          <Fact name="Model">
            <bdi>{model}</bdi>
          </Fact>
        )}
        <Fact name="Tokens">{usageTitle(usage)}</Fact>
        {cost !== undefined && (
          <Fact name="Cost">
            <Cost of={cost} />
          </Fact>
        )}
        <Fact name="Asked for">
          {calls} {calls === 1 ? 'call' : 'calls'}
        </Fact>
        {attempts > 1 && <Fact name="Asked">{attempts} times</Fact>}
        <Fact name="Finished">{FINISHED[finishReason]}</Fact>
      </Facts>
    </div>
  );
}

const FINISHED: Readonly<Record<StepRow['finishReason'], string>> = {
  stop: 'the model was done',
  'tool-calls': 'with calls',
  length: 'cut off: it was too long',
  'content-filter': 'filtered by the provider',
  error: 'with an error of the provider',
  other: 'for a reason of the provider',
};

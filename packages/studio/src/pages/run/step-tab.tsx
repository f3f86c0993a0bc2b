import type { StepRow } from '@lastcall/client/timeline';
import type { ReactElement } from 'react';
import { Markdown } from '../../text/markdown.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { costInWords } from './call-words.ts';

/** What the model said in a step, and what that took. */
export function StepTab({ row }: { row: StepRow }): ReactElement {
  const { text, usage, cost, model, attempts, finishReason, calls } = row;
  return (
    <div className="flex flex-col gap-3">
      {text === '' ? <p className="text-quiet">It said nothing beside its calls.</p> : <Markdown text={text} />}
      <Facts>
        {model !== undefined && (
          <Fact name="Model">
            <bdi>{model}</bdi>
          </Fact>
        )}
        <Fact name="Tokens">
          {usage.inputTokens.toLocaleString()} in, {usage.outputTokens.toLocaleString()} out
        </Fact>
        {cost !== undefined && <Fact name="Cost">{costInWords(cost)}</Fact>}
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
  stop: 'it had said all',
  'tool-calls': 'with calls',
  length: 'cut off: it was too long',
  'content-filter': 'filtered by the provider',
  error: 'with an error of the provider',
  other: 'for a reason of the provider',
};
